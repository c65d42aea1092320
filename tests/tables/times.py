"""Times of generated tables: steps, formats and the values that they mean."""

import datetime as dt

UTC = dt.timezone.utc


class Column:
    """Cells of a column as texts."""

    def __init__(self, name, cells):
        self.name, self.cells = name, cells


def seconds(time):
    return time.replace(tzinfo=UTC).timestamp()


def month_later(time, count):
    month = time.month - 1 + count
    return time.replace(year=time.year + month // 12, month=month % 12 + 1)


STEPS = {
    "minute": (lambda t, i: t + dt.timedelta(minutes=15 * i), "15 minutes"),
    "hour": (lambda t, i: t + dt.timedelta(hours=i), "1 hour"),
    "day": (lambda t, i: t + dt.timedelta(days=i), "1 day"),
    "week": (lambda t, i: t + dt.timedelta(days=7 * i), "7 days"),
    "month": (month_later, "1 month"),
    "quarter": (lambda t, i: month_later(t, 3 * i), "3 months"),
    "year": (lambda t, i: t.replace(year=t.year + i), "12 months"),
}
CLOCKS = ["%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p"]
DAYS = ["%Y-%m-%d", "%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d",
        "%Y.%m.%d", "%b %d, %Y", "%d %b %Y", "%d-%b-%y", "%d-%b-%Y", "%B %d, %Y", "%a, %d %b %Y", "%a %b %d %Y",
        "%-d/%-m/%Y", "%-m/%-d/%Y", "%-d.%-m.%Y", "%b %-d %Y", "%Y%m%d", "%m/%d/%y", "%Y-%b-%d"]
INSTANTS = ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M:%S+02:00", "%Y-%m-%d %H:%M:%S-0500",
            "%Y-%m-%d %H:%M:%S.000", "%Y%m%d%H%M", "%Y%m%dT%H%M%S", "%Y%m%d %H:%M", "%Y-%m-%d %H:%M UTC", "%s", "%Q"]
SPANS = {
    "month": ["%Y-%m", "%m/%Y", "%b %Y", "%b-%y", "%B %Y", "%YM%m", "%Y%m", "%m.%Y", "%Y-%m-%d", "%b-%Y", "decimal"],
    "quarter": ["%Y Q%q", "%YQ%q", "%Y-Q%q", "Q%q %Y", "Q%q-%Y", "%Yq%q", "%Y-%m-%d", "decimal"],
    "week": ["%G-W%V", "%GW%V", "%G-W%V-%u", "%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y"],
    "year": ["%Y", "%Y-%m-%d"],
}
NUMERIC = ["%Y%m%d", "%Y%m%d%H%M", "%Y%m", "%Y", "%s", "%Q", "decimal"]  # formats that look like numbers


def time_text(time, form):
    if form == "%s":
        return str(int(seconds(time)))
    if form == "%Q":
        return str(int(seconds(time) * 1000))
    if form == "decimal":
        return "%.4f" % (time.year + (time.month - 1) / 12)
    form = form.replace("%q", str((time.month + 2) // 3))
    return time.strftime(form)


def time_value(time, form):
    """The number that a table of this form means."""
    if form == "decimal":
        return float(time_text(time, form))
    offset = {"%Y-%m-%d %H:%M:%S+02:00": 7200, "%Y-%m-%d %H:%M:%S-0500": -18000}.get(form, 0)
    return seconds(time) - offset


def is_decided(times, form):
    """Whether a date is in one order of day and month only, or between points."""
    parts = form.replace("-", "").replace("%", "")[:2]
    if parts not in ("dm", "md") and not ("%y" in form and "%b" not in form):
        return True
    if "." in form[:4] and "%y" not in form:
        return True
    return any(t.day > 12 for t in times)


def clock_of(random, table, count, decimal):
    """Chooses times. Returns their columns and the values of each row."""
    if random.random() < 0.05:
        return numeric_times(random, table, count, decimal)
    step = random.choice(["minute", "hour", "hour", "day", "day", "day", "week", "month", "month", "quarter", "year"])
    later, table.step = STEPS[step]
    if step == "year":
        count = min(count, 110)
    start = dt.datetime(random.randrange(1995, 2022), random.randrange(1, 13), random.randrange(1, 29))
    if step in ("month", "quarter", "year"):
        start = dt.datetime(start.year if step != "year" else 1900 + random.randrange(15),
                            start.month if step == "month" else 1, 1)
    if step == "quarter":
        start = start.replace(month=random.choice([1, 4, 7, 10]))
    if step in ("month", "quarter"):
        start = start.replace(year=random.randrange(1960, 2005))
    if step == "week":
        start -= dt.timedelta(days=start.weekday())
    if step in ("minute", "hour"):
        start = start.replace(hour=random.randrange(24), minute=0 if step == "hour" else random.choice([0, 15, 30]))
    times = [later(start, i) for i in range(count)]
    table.next = seconds(later(start, count))
    if step == "day" and random.random() < 0.25:
        table.step, table.next = "1 business day", None
        times = [t for t in times if t.weekday() < 5]
    elif random.random() < 0.1 and step not in ("month", "quarter", "year"):
        table.traits.append("gap")
        at, table.next = len(times) // 2, None
        times = times[:at] + times[at + 5:]
    parts = parts_of_time(random, step, decimal)
    if parts:
        table.traits += ["time " + "+".join(name for name, _ in parts)]
        table.time = parts[0][0]
        return [Column(name, [time_text(t, form) for t in times]) for name, form in parts], times, [seconds(t) for t in times]
    form = form_of_time(random, step)
    if form in ("%s", "%Q", "decimal") or "+02" in form or "-05" in form:
        table.next = None
    if not is_decided(times, form):
        table.traits.append("undecided")
    names = ["date", "Date", "time", "timestamp", "datetime", "ds", "Time"]
    if form not in NUMERIC:
        names += ["when", "Datum", "x", step]
    if form == "%Y":
        names = ["year", "Year", "YEAR", "date"]
    if form == "decimal":
        names = ["year", "decimal_year", "time", "date"]
        table.step = None
    table.time = random.choice(names)
    table.traits.append("time " + form)
    return [Column(table.time, [time_text(t, form) for t in times])], times, [time_value(t, form) for t in times]


def numeric_times(random, table, count, decimal):
    """Times that are numbers but no dates: a counter, or uneven seconds of an experiment."""
    is_counter = random.random() < 0.5
    table.time, table.step = random.choice(["time", "Time"] if is_counter else ["time", "time (s)", "Time [s]"]), None
    table.traits.append("time counter" if is_counter else "time uneven")
    values = [float(i + 1) for i in range(count)]
    if not is_counter:
        values = [round(value + random.uniform(0, 0.9), 2) for value in values]
    cells = ["%d" % v if is_counter else ("%.2f" % v).replace(".", decimal) for v in values]
    return [Column(table.time, cells)], values, values


def parts_of_time(random, step, decimal):
    """Names and formats of several columns of a time, or none."""
    if random.random() > 0.15:
        return None
    month = ("month", random.choice(["%m", "%-m", "%b"]))
    year = (random.choice(["year", "Year", "YEAR"]), "%Y")
    day, hour = ("day", random.choice(["%d", "%-d"])), ("hour", random.choice(["%H", "%-H"]))
    date = ("date", random.choice(["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y"]))
    return {"month": [year, month], "quarter": [year, ("quarter", random.choice(["%q", "%q.0"] if decimal == "." else ["%q"]))],
            "day": [year, month, day], "week": [year, ("week", "%V")] and None,
            "hour": random.choice([[year, month, day, hour], [date, hour], [date, ("clock", random.choice(CLOCKS))]]),
            "minute": [date, ("time", random.choice(CLOCKS))]}.get(step)


def form_of_time(random, step):
    if step in SPANS:
        return random.choice(SPANS[step])
    if step == "day":
        return random.choice(DAYS + ["%s", "%Q"])
    if random.random() < 0.4:
        return random.choice(INSTANTS)
    return random.choice([d for d in DAYS if d != "%Y%m%d"]) + random.choice([" ", " ", ", "]) + random.choice(CLOCKS)
