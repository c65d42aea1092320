"""Tables of known meaning, crossed at random: dates, numbers, dialects and layouts.

make(seed) returns a Table. All is a function of the seed."""

import datetime as dt
import math
import random

from times import NUMERIC, Column, clock_of, seconds, time_text


class Table:
    """Text of a table and its meaning: kind, time, targets, inputs, series, rows, ending."""

    def __init__(self):
        self.kind, self.time, self.step = "forecaster", None, None
        self.times = []  # of each row: seconds since 1970 or numbers
        self.targets, self.inputs, self.types = {}, None, None  # names to values, None if missing
        self.series, self.covariates, self.to_forecast = 1, set(), 0
        self.traits, self.text, self.ending = [], b"", ".csv"
        self.next = None  # seconds of the time after the last, if the step says it


# Numbers -----------------------------------------------------------------------------------------

STYLES = ["plain", "plain", "plain", "plain", "whole", "whole", "scientific", "plus", "grouped", "currency before",
          "currency behind", "percent", "unit", "brackets", "minus behind", "minus sign", "blank groups", "apostrophes"]


class Style:
    """How the numbers of a column are written."""

    def __init__(self, random, decimal, delimiter):
        self.name = random.choice(STYLES)
        if decimal == "," and self.name == "scientific":
            self.name = "plain"
        if delimiter == " " and self.name in ("currency behind", "unit", "blank groups", "percent"):
            self.name = "plain"
        self.decimal, self.unit = decimal, random.choice(["kWh", "mm", "°C", "m3", "kg", "MW"])
        self.currency = random.choice(["$", "€", "£", "EUR", "USD"])
        if delimiter == " " and len(self.currency) > 1:
            self.currency = "$"
        self.space = random.choice(["", " "]) if delimiter != " " else ""

    def signed(self):
        return self.name in ("brackets", "minus behind", "minus sign", "plus", "plain", "scientific")

    def text(self, value):
        """The cell of a value and the value that it means."""
        if self.name == "whole":
            return str(round(value)), float(round(value))
        if self.name == "scientific":
            text = "%.4e" % value
            return text, float(text)
        value = round(value, 2)
        size = "%.2f" % abs(value)
        whole, tail = size.split(".")
        groups = {"grouped": "." if self.decimal == "," else ",", "blank groups": " ", "apostrophes": "'"}
        if self.name in groups:
            whole = format(int(whole), ",").replace(",", groups[self.name])
        size = whole + self.decimal + tail
        minus = "-" if value < 0 else ""
        dressed = {
            "brackets": "(%s)" % size if minus else size, "minus behind": size + minus,
            "minus sign": minus.replace("-", "\u2212") + size, "plus": (minus or "+") + size,
            "percent": minus + size + self.space + "%", "unit": minus + size + " " + self.unit,
            "currency before": minus + self.currency + ("" if len(self.currency) == 1 else " ") + size,
            "currency behind": minus + size + " " + self.currency,
        }.get(self.name, minus + size)
        return dressed, value


MARKS = ["", "", "", "NA", "NaN", "nan", "null", "-", "?", ".", "None", "N/A", "#N/A"]


def values_of(random, count, style, level=None):
    level = level or random.choice([50, 700, 9000] if style.name == "whole" else [5, 50, 700, 9000])
    low = -level / 3 if style.signed() and style.name not in ("plain",) else level / 5
    walk, values = 0.0, []
    for i in range(count):
        walk += random.gauss(0, 0.05)
        values.append(max(low, level * (1 + 0.3 * math.sin(i / 5) + 0.1 * walk + 0.1 * random.random()))
                      if low > 0 else level * (math.sin(i / 5) + 0.1 * walk + 0.2 * random.random()))
    return values


def numbers(random, name, values, style, mark, share, part=10**9):
    """A column of numbers, none missing at the ends of parts. Returns it and the values that it means."""
    cells, meant = [], []
    for i, value in enumerate(values):
        is_missing = value is None or (share > 0 and 2 < i % part < min(part, len(values)) - 2 and random.random() < share)
        text, number = (mark, None) if is_missing else style.text(value)
        cells.append(text)
        meant.append(number)
    return Column(name, cells), meant


# Files -----------------------------------------------------------------------------------------

def written(random, table, columns, delimiter, header):
    """The bytes of a table."""
    quote_all = random.random() < 0.1

    def field(text):
        needs = delimiter in text or '"' in text or (delimiter == " " and text == "")
        return '"' + text.replace('"', '""') + '"' if needs or (quote_all and text) else text

    lines = [delimiter.join(field(c.name) for c in columns)] if header else []
    lines += [delimiter.join(field(cell) for cell in row) for row in zip(*(c.cells for c in columns))]
    if random.random() < 0.05:
        table.traits.append("comment")
        lines.insert(0, random.choice(["# made by a logger", "# station 5, north", "#"]))
    if random.random() < 0.05 and len(columns) > 1:
        table.traits.append("empty row")
        lines.insert(random.randrange(3, len(lines)), "")
    odd = random.random()
    if odd < 0.02 and delimiter != " ":
        table.traits.append("delimiter at the end")
        lines = [line + delimiter if line and line[0] != "#" else line for line in lines]
    elif odd < 0.025:
        table.traits.append("footer")
        lines.append(delimiter.join(["Total"] + ["500"] * (len(columns) - 1)))
    elif odd < 0.03:
        table.traits.append("title")
        lines.insert(0, "Report of the station")
    elif odd < 0.035 and header:
        table.traits.append("units below the header")
        lines.insert(1 if lines[0][:1] != "#" else 2, delimiter.join(["-"] + ["kW"] * (len(columns) - 1)))
    end = random.choice(["\n", "\n", "\n", "\n", "\r\n", "\r\n", "\r"])
    text = end.join(lines) + (end if random.random() < 0.9 else "")
    bom = random.random() < 0.08
    table.traits += [t for t, is_so in [("quoted", quote_all), ("bom", bom), ("cr", end == "\r")] if is_so]
    return (b"\xef\xbb\xbf" if bom else b"") + text.encode()


def dialect_of(random):
    delimiter = random.choice([",", ",", ",", ";", ";", "\t", "|", " "])
    decimal = "," if delimiter in ";\t|" and random.random() < 0.5 else "."
    return delimiter, decimal


def value_names(random, count):
    names = ["load", "temp", "price", "wind", "sales", "y", "CO2", "Umsatz", "load (kW)", "Wind Speed [m/s]", "q_1",
             "a", "b", "pressure", "flow", "usage"]
    return random.sample(names, count)


def shuffled(random, order, columns):
    for column in columns:
        column.cells = [column.cells[i] for i in order]


def series_table(random, table):
    delimiter, decimal = dialect_of(random)
    time, stamps, values = clock_of(random, table, random.randrange(60, 240), decimal)
    if delimiter == " " and any(" " in cell for column in time for cell in column.cells):
        delimiter = ";"
    if decimal == "," and "time decimal" in table.traits:
        decimal = "."
    parts = random.choice([1, 1, 1, 1, 2, 3, 5])
    rows = len(stamps) * parts
    if parts == 1 and "time counter" in table.traits:
        table.time = None  # left out
    for column in time:
        column.cells = column.cells * parts
    table.times, columns, table.series = values * parts, list(time), parts
    if parts > 1:
        names = random.choice([["north", "south", "east", "west", "mid"], ["1", "2", "3", "4", "5"],
                               ["101", "205", "317", "412", "533"], ["AT", "NA", "DE", "CH", "LI"],
                               ["A-1", "A-2", "B-1", "B-2", "C-9"]])[:parts]
        id_name = random.choice(["store", "region", "id", "sku", "item no", "Series", "unique_id", "station"])
        columns.insert(random.choice([0, 1, len(columns)]),
                       Column(id_name, [n for n in names for _ in range(len(stamps))]))
        table.traits.append("long")
    share, mark = random.choice([(0, ""), (0, ""), (0, ""), (0.03, random.choice(MARKS))])
    if delimiter == " ":
        mark = mark or "NA"
    future = random.random() < 0.08 and "gap" not in table.traits
    flag = random.random() < 0.2 or future
    for name in value_names(random, random.choice([1, 1, 2, 3, 6])):
        style = Style(random, decimal, delimiter)
        own = [v for p in range(parts) for v in values_of(random, len(stamps), style, 40.0 * (p + 1) if parts > 1 else None)]
        if future:
            own = [None if i % len(stamps) >= len(stamps) - 6 else v for i, v in enumerate(own)]
        column, table.targets[name] = numbers(random, name, own, style, mark, share, len(stamps))
        columns.append(column)
        table.traits += ["numbers " + style.name] + (["missing " + repr(mark)] if share else [])
    if flag:
        table.covariates.add("promo")
        columns.append(Column("promo", [str(int(random.random() < 0.3)) for _ in range(rows)]))
        table.traits.append("flag")
    if future:
        table.to_forecast = 6 * parts
        table.traits.append("future rows")
    add_extras(random, table, columns, time, rows, delimiter)
    if parts > 1 and random.random() < 0.4:
        table.traits.append("by time")
        order = sorted(range(rows), key=lambda i: i % len(stamps))
        shuffled(random, order, {id(c): c for c in columns}.values())
        table.times = [table.times[i] for i in order]
    if len(table.targets) > 1 and random.random() < 0.01:
        table.traits.append("repeated name")
        columns[-1].name = columns[0].name
    header = parts > 1 or len(time) > 1 or "time " + "%Y" in table.traits or random.random() > 0.04
    if table.covariates or any(f in " ".join(table.traits) for f in [*NUMERIC, "uneven", "counter"]) or len(columns) != 1 + len(table.targets):
        header = True
    if not header:
        table.traits.append("no header")
        table.time = "1"
        table.targets = {str(2 + i): v for i, v in enumerate(table.targets.values())}
    table.traits.append("delimiter %r decimal %r" % (delimiter, decimal))
    table.text = written(random, table, columns, delimiter, header)


def add_extras(random, table, columns, time, rows, delimiter):
    """Columns that no model should forecast."""
    if random.random() < 0.1:
        table.traits.append("constant")
        columns.append(Column("sensor_version", ["3"] * rows))
    if random.random() < 0.1:
        table.traits.append("note")
        columns.append(Column("note", [random.choice(["ok", "checked", "late"]) for _ in range(rows)]))
    if random.random() < 0.1 and delimiter != " ":
        name = random.choice(["", "rownames", "No", "index"])
        table.traits.append("counter " + name)
        columns.insert(0, Column(name, [str(i + 1) for i in range(rows)]))


def regression_table(random, table):
    delimiter, decimal = dialect_of(random)
    rows, width = random.randrange(50, 200), random.randrange(2, 7)
    table.kind, table.inputs, columns = "table", {}, []
    names = random.sample(["weight", "length", "age", "width", "height", "dose", "rooms", "area"], width)
    share, mark = random.choice([(0, ""), (0, ""), (0.03, random.choice(MARKS))])
    for i, name in enumerate(names):
        style = Style(random, decimal, delimiter)
        values = [random.uniform(10, 90) for _ in range(rows)]
        column, meant = numbers(random, name, values, style, mark or ("NA" if delimiter == " " else ""), share)
        columns.append(column)
        (table.targets if i + 1 == width else table.inputs)[name] = meant
        table.traits.append("numbers " + style.name)
    if random.random() < 0.2:
        table.traits.append("class")
        name, classes = random.choice(["species", "class", "kind"]), ["setosa", "virginica", "other"]
        cells = [random.choice(classes) for _ in range(rows)]
        columns.append(Column(name, cells))
        table.inputs.update(table.targets)
        table.targets = {name: [list(dict.fromkeys(cells)).index(cell) for cell in cells]}
    if random.random() < 0.2 and delimiter != " ":
        table.traits.append("counter")
        columns.insert(0, Column(random.choice(["", "rownames"]), [str(i + 1) for i in range(rows)]))
    table.traits += ["regression", "delimiter %r decimal %r" % (delimiter, decimal)]
    table.text = written(random, table, columns, delimiter, True)


def event_table(random, table):
    delimiter, _ = dialect_of(random)
    rows = random.randrange(120, 300)
    time, table.times, cells = dt.datetime(2020, 3, 5, 8), [], []
    form = random.choice(["%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%s"])
    if delimiter == " ":
        form = "%s"
    for _ in range(rows):
        time += dt.timedelta(seconds=random.randrange(1, 90000))
        table.times.append(seconds(time))
        cells.append(time_text(time, form))
    table.kind, table.time, table.types = "events", random.choice(["time", "timestamp"]), random.choice(["event", "type", "activity"])
    columns = [Column(table.time, cells),
               Column(table.types, [random.choice(["buy", "view", "leave", "return"]) for _ in range(rows)])]
    if random.random() < 0.5:
        columns.insert(0, Column("user_id", [random.choice(["u1", "u2", "u3"]) for _ in range(rows)]))
    table.traits += ["events " + form, "delimiter %r" % delimiter]
    table.text = written(random, table, columns, delimiter, True)


def make(seed):
    """Returns the table of a seed."""
    rng = random.Random(seed)
    table = Table()
    rng.choices([series_table, regression_table, event_table], [80, 12, 8])[0](rng, table)
    return table
