/// Specs that describe themselves, as rows of the table and as readers of a config.

#include <bochner/data/events/event_files.hpp>
#include <bochner/data/events/event_sequences.hpp>
#include <bochner/data/fields/fields.hpp>
#include <bochner/data/fields/sensor_windows.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/data/labelled/pixels.hpp>
#include <bochner/data/series/series_windows.hpp>
#include <bochner/data/text/token_tasks.hpp>
#include <bochner/layers/gaussian_processes/gaussian_process.hpp>
#include <bochner/layers/models/event_model.hpp>
#include <bochner/layers/models/field_model.hpp>
#include <bochner/layers/models/forecaster.hpp>
#include <bochner/layers/models/sensor_model.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <bochner/optim/optimizer.hpp>
#include <bochner/train/config/conditions.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/train_spec.hpp>
#include <train/config_text.hpp>

namespace keys_test {

using namespace bochner;

struct Inner {
  std::vector<double> points = {1, 2};
  Period every = {5, Period::Unit::epochs};
};
void describe(Keys& keys, Inner& spec) {
  keys("points", spec.points, at_least(0), "some points");
  keys("every", spec.every, above(0).in(PeriodUnits::countable), "how often", resumable);
}
struct Outer {
  std::size_t count = 3;
  std::int64_t offset = -1;
  double size = 0.5;
  bool on = true;
  std::string kind = "a";
  std::vector<std::string> files = {"x"};
  std::vector<ParameterGroup> groups = {};
  Inner inner;
};
void describe(Keys& keys, Outer& spec) {
  keys("kind", spec.kind, one_of({"a", "b"}), "which");
  keys("count", spec.count, "how many");
  keys.section("inner", spec.inner);
  keys("offset", spec.offset, "from where");
  keys("size", spec.size, below(0, 1), "how large");
  keys("on", spec.on, "whether");
  keys("files", spec.files, "from what", resumable_path);
  keys("groups", spec.groups, "for whom");
}

ParameterTable table_of_outer() {
  RowCollector table;
  table.add<Outer>("top.outer");
  return ParameterTable(table.rows);
}

TEST(Keys, BecomeRowsWithTheDefaultsOfTheSpec) {
  const ParameterTable table = table_of_outer();
  std::string printed;
  for (const ParameterRow& row : table.rows())
    printed += row.name + " = " + format_value(row.initial) + (row.traits.resume ? " r" : "") +
               (row.traits.path ? " path" : "") + "\n";
  EXPECT_EQ(printed,
            "top.outer.kind = \"a\"\n"
            "top.outer.count = 3\n"
            "top.outer.inner.points = [1.0, 2.0]\n"
            "top.outer.inner.every = \"5e\" r\n"
            "top.outer.offset = -1\n"
            "top.outer.size = 0.5\n"
            "top.outer.on = true\n"
            "top.outer.files = [\"x\"] r path\n"
            "top.outer.groups = []\n");
  EXPECT_EQ(text_of(table.find("top.outer.count")->bounds.range), "at least 0");
  EXPECT_EQ(text_of(table.find("top.outer.offset")->bounds.range), "");
  EXPECT_EQ(table.find("top.outer.inner.every")->bounds.units, PeriodUnits::countable);
}

TEST(Keys, GiveTheirValuesToTheSpec) {
  const Config config = parse(
      "[top.outer]\nkind = \"b\"\ncount = 7\noffset = -9\nsize = 0.25\non = false\n"
      "files = [\"/y\", \"/z\"]\ngroups = [{ match = \"*\", weight_decay = 0 }]\n"
      "inner = { points = [], every = 20 }\n",
      table_of_outer());
  const auto spec = read_spec<Outer>(config, "top.outer");
  EXPECT_EQ(spec.kind, "b");
  EXPECT_EQ(spec.count, 7u);
  EXPECT_EQ(spec.offset, -9);
  EXPECT_EQ(spec.size, 0.25);
  EXPECT_FALSE(spec.on);
  EXPECT_EQ(spec.files, (std::vector<std::string>{"/y", "/z"}));
  EXPECT_EQ(spec.groups, (std::vector<ParameterGroup>{{"*", {}, 0}}));
  EXPECT_TRUE(spec.inner.points.empty());
  EXPECT_EQ(spec.inner.every, (Period{20}));
  EXPECT_EQ(read_spec<Inner>(config, "top.outer.inner").every, (Period{20}));
  EXPECT_THROW(read_spec<Outer>(config, "top"), std::logic_error);
}

struct Clashing {
  std::size_t count = 4;
};
void describe(Keys& keys, Clashing& spec) { keys("count", spec.count, "how many"); }

TEST(Keys, AreSharedBySpecsThatSayTheSame) {
  RowCollector table;
  table.add<Outer>("top");
  const std::size_t rows = table.rows.size();
  table.add<Outer>("top");
  EXPECT_EQ(table.rows.size(), rows);
  table.add<Clashing>("top");  // another default
  EXPECT_THROW(ParameterTable(table.rows), std::invalid_argument);
}

struct Warm {
  double start = 1;
};
void describe(Keys& keys, Warm& own) { keys("start", own.start, "where"); }
struct Chosen {
  std::string kind = "plain";
  Warm warm;
};
void describe(Keys& keys, Chosen& spec) {
  keys("kind", spec.kind, "which");
  keys.of_kind("warm", [&] { describe(keys, spec.warm); });
  keys.of_kind("hot", [&] { describe(keys, spec.warm); });
  keys.of_kind("hot", [&] { describe(keys, spec.warm); });  // as a hybrid's parts describe it again
}
struct Cold {
  double start = -1;
};
void describe(Keys& keys, Cold& own) { keys("start", own.start, "where"); }
struct Disputed {
  Chosen chosen;
  Cold cold;
};
void describe(Keys& keys, Disputed& spec) {
  describe(keys, spec.chosen);
  keys.of_kind("cold", [&] { describe(keys, spec.cold); });
}

TEST(Keys, OfTwoAddedKindsAreNotConfused) {
  RowCollector table;
  try {
    table.add<Disputed>("map");
    ADD_FAILURE() << "two keys have one name";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "[keys] map.start of \"cold\" is a key of \"warm\" already, with another default "
                 "or other words; rename it, or let both kinds have one Spec");
  }
}

template <int which>
struct Named {
  double number = -1;
};
template <int which>
void describe(Keys& keys, Named<which>& own) {
  constexpr const char* names[] = {"tau",    "init.scale-2", "",    "init scale",
                                   "\u03c4", "a\"b",         "a..b"};
  keys(names[which], own.number, between(-2, 0), "how much");
}

template <int which>
std::string error_of_name() try {
  RowCollector().add<Named<which>>("map");
  return "";
} catch (const std::invalid_argument& error) {
  return error.what();
}

/// Configs of runs are written with names as they are.
TEST(Keys, HaveNamesThatTomlReads) {
  EXPECT_EQ(error_of_name<0>(), "");
  EXPECT_EQ(error_of_name<1>(), "");
  EXPECT_EQ(error_of_name<2>(), "[keys] no name for a key: \"map.\"; use letters, digits, _ and -");
  EXPECT_NE(error_of_name<3>(), "");
  EXPECT_NE(error_of_name<4>(), "");
  EXPECT_EQ(error_of_name<5>(),
            "[keys] no name for a key: \"map.a\\\"b\"; use letters, digits, _ and -");
  EXPECT_NE(error_of_name<6>(), "");
}

struct Outside {
  double start = -1;
};
void describe(Keys& keys, Outside& own) {
  keys.of_kind("cold", [&] { keys("start", own.start, above(0), "where"); });
}

/// The kind is to throw_diverged, and no file that does not have the key.
TEST(Keys, OfAddedKindsStartWithinTheirBounds) {
  try {
    RowCollector().add<Outside>("map");
    ADD_FAILURE() << "the default is outside";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "[default of \"cold\"] map.start = -1: must be greater than 0");
  }
}

/// A config of another program, where kinds are that this one does not have.
TEST(Keys, OfAKindThatIsNotThereSayWhichItIs) {
  const auto error_in_text = [](const std::string& text) -> std::string {
    try {
      parse_config(text, "a.toml", registered_parameters());
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  const std::string advice =
      ", which is not in this program: one of your own is known to the program that registers it";
  EXPECT_EQ(error_in_text("[model.mixer.features]\njitter = 1.0\nkind = \"phase\"\n"),
            "a.toml:2:1: model.mixer.features.jitter: no such key, and model.mixer.features.kind "
            "names \"phase\"" +
                advice);
  EXPECT_EQ(error_in_text("[model]\npattern = [\"softmax\", \"mine\"]\nmixer.taps = 3\n"),
            "a.toml:3:7: model.mixer.taps: no such key, and model.pattern names \"mine\"" + advice);
  EXPECT_EQ(error_in_text("[model.mixer.density]\nkind = \"heavy\"\n[model.mixer]\nheats = 3\n"),
            "a.toml:4:1: model.mixer.heats: no such key. Did you mean model.mixer.heads?");
}

/// Programs without a kind read the configs that do not name it.
TEST(Keys, OfAddedKindsAreWrittenWhereTheirKindIs) {
  RowCollector table;
  table.add<Chosen>("map");
  const ParameterTable rows(table.rows);
  EXPECT_EQ(condition_text(rows, *rows.find("map.start")), "map.kind = \"warm\" or \"hot\"");
  const auto printed = [&](const char* text) { return print_config(parse(text, rows)); };
  EXPECT_EQ(printed(""), "[map]\nkind = \"plain\"\n");
  for (const char* kind : {"warm", "hot"})
    EXPECT_EQ(printed((std::string("map.kind = \"") + kind + "\"").c_str()),
              std::string("[map]\nkind = \"") + kind + "\"\nstart = 1.0\n");
  const Config set = parse("map.start = 2", rows);
  EXPECT_EQ(print_config(set), "[map]\nkind = \"plain\"\nstart = 2.0\n");
  EXPECT_FALSE(applies(set, "map.start"));
}

TEST(Keys, EveryDefaultReadsBack) {
  const ParameterTable table = registered_parameters();
  for (const ParameterRow& row : table.rows()) {
    const Config config = parse(row.name + " = " + format_value(row.initial));
    EXPECT_EQ(config.value(row.name), row.initial) << row.name;
    EXPECT_FALSE(config.location(row.name).empty()) << row.name;
  }
}

/// Another value that the row allows.
ConfigValue other_value(const ParameterRow& row) {
  const Range& range = row.bounds.range;
  ConfigValue value = row.initial;
  if (auto* count = std::get_if<std::int64_t>(&value))
    *count += contains(range, double(*count + 1)) ? 1 : -1;
  if (auto* number = std::get_if<double>(&value))
    *number += contains(range, *number + 0.0625) ? 0.0625 : -0.0625;
  if (auto* flag = std::get_if<bool>(&value)) *flag = !*flag;
  if (auto* text = std::get_if<std::string>(&value)) {
    const std::vector<std::string> names =
        row.bounds.choices ? row.bounds.choices() : std::vector<std::string>{"another"};
    *text = names.front() == *text ? names.back() : names.front();
  }
  if (auto* texts = std::get_if<std::vector<std::string>>(&value)) texts->push_back("/another");
  if (auto* numbers = std::get_if<std::vector<double>>(&value)) numbers->front() *= 0.5;
  if (auto* period = std::get_if<Period>(&value)) period->count += 1;
  if (auto* groups = std::get_if<std::vector<ParameterGroup>>(&value))
    groups->push_back({"*", 2, {}});
  return value;
}

/// The rows as a Spec with these values describes them.
template <class Spec>
std::vector<ParameterRow> rows_of(Spec spec, const std::string& section) {
  RowCollector rows;
  rows.section(section, spec);
  return rows.rows;
}

/// The defaults of the Spec are those of the table, and every key reaches a member of its own.
template <class Spec>
void expect_described(const std::string& section) {
  const ParameterTable table = registered_parameters();
  Config others(table);
  const std::vector<ParameterRow> rows = rows_of(Spec(), section);
  ASSERT_FALSE(rows.empty());
  for (const ParameterRow& row : rows) {
    ASSERT_NE(table.find(row.name), nullptr) << row.name;
    EXPECT_EQ(table.find(row.name)->initial, row.initial) << row.name;
    others.set(row.name, other_value(row), "test");
  }
  for (const Config& config : {Config(table), others}) {
    for (const ParameterRow& row : rows_of(read_spec<Spec>(config, section), section)) {
      if (row.name == "data.planes" || row.name == "data.height" || row.name == "data.width")
        continue;  // 0: what it was
      EXPECT_EQ(row.initial, config.value(row.name)) << row.name;
    }
  }
}

TEST(Keys, DefaultsOfTheLibraryAreThoseOfTheCommand) {
  expect_described<ModelChoice>("model");
  expect_described<BlockSpec>("model");
  expect_described<TrunkSpec>("model");
  expect_described<SequenceClassifierSpec>("model");
  expect_described<ForecasterSpec>("model");
  expect_described<EventModelSpec>("model");
  expect_described<FieldModelSpec>("model");
  expect_described<SensorModelSpec>("model");
  expect_described<ProcessModelSpec>("model");
  expect_described<MixerSpec>("model.mixer");
  expect_described<FeatureSpec>("model.mixer.features");
  expect_described<DensitySpec>("model.mixer.density");
  expect_described<TimeKernelSpec>("model.mixer.time_kernel");
  expect_described<DenominatorSpec>("model.mixer.denominator");
  expect_described<TimeEncodingSpec>("model.time");
  expect_described<SpaceTimeSpec>("model.encoding");
  expect_described<IntensitySpec>("model.intensity");
  expect_described<InstanceNormSpec>("model.instance_norm");
  expect_described<DataSpec>("data");
  expect_described<ExampleSet>("data");
  expect_described<TokenTaskSpec>("data");
  expect_described<ListOpsSpec>("data");
  expect_described<ImagesSpec>("data");
  expect_described<ShapesSpec>("data");
  expect_described<CsvOptions>("data");
  expect_described<SeriesSpec>("data");
  expect_described<SeriesColumns>("data");
  expect_described<HawkesSpec>("data");
  expect_described<EventColumns>("data");
  expect_described<FieldSpec>("data");
  expect_described<SensorColumns>("data");
  expect_described<SensorSpec>("data");
  expect_described<TableSpec>("data");
  expect_described<OptimizerSpec>("optim");
  expect_described<Schedule>("optim.schedule");
  expect_described<TrainSpec>("train");
}

}  // namespace keys_test
