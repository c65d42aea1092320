/// When keys have an effect, as conditions beside their descriptions say.

#include <gmock/gmock.h>

#include <bochner/base/registry.hpp>
#include <bochner/train/config/conditions.hpp>
#include <train/config_text.hpp>

namespace conditions_test {

using namespace bochner;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Map {
  virtual ~Map() = default;
};
struct MapSpec;
struct MapTraits {
  bool wide = false;
};
using Maps = Registry<Map, MapSpec, MapTraits>;
Maps& maps();

struct Ripples {
  std::string form = "round";
  double height = 1;
};
void describe(Keys& keys, Ripples& own) {
  keys("ripples", own.form, one_of({"round", "flat"}), "their form");
  keys.when("ripples", {"round"}, [&] { keys("height", own.height, above(0), "how high"); });
}
struct MapSpec {
  std::string kind = "plain";
  std::vector<std::string> parts = {"plain"};
  double width = 1, depth = 1, smallest = 1;
  std::uint64_t steps = 0;
  OwnSpecs own = {};
};
void describe(Keys& keys, MapSpec& spec) {
  keys("kind", spec.kind, one_of(maps), "which", {.replaced_by = "top.all", .joined_by = "parts"});
  keys.when("kind", {"mixed"}, [&] { keys("parts", spec.parts, one_of(maps), "of what"); });
  keys.when(has_kind(keys.name_of("kind"), maps, "width", &MapTraits::wide),
            [&] { keys("width", spec.width, "how wide"); });
  keys.when("kind", {"deep", "mixed"}, [&] {
    keys("depth", spec.depth, "how deep");
    keys.when(keys.is_not("depth", {"0.0"}) && when("top.on", {"true"}),
              [&] { keys("smallest", spec.smallest, "at least how deep"); });
  });
  keys("steps", spec.steps, "how often");
  maps().describe_own(keys, spec.own);
}
struct Mine : Map {
  Mine(const MapSpec&, const Ripples&) {}
};
struct Builtin : Map {
  explicit Builtin(const MapSpec&) {}
};

/// With a kind that a program has added.
Maps& maps() {
  static Maps registry = [] {
    Maps all("map", {});
    for (const char* name : {"plain", "deep", "mixed"}) all.add(name, make<Builtin>);
    all.add("wide", make<Builtin>, {.wide = true});
    all = std::move(all).built_in();
    all.add("mine", make<Mine, Ripples>);
    return all;
  }();
  return registry;
}

struct Top {
  bool on = true;
  std::vector<std::string> all = {};
};
void describe(Keys& keys, Top& spec) {
  keys("on", spec.on, "whether");
  keys("all", spec.all, one_of(maps), "in place of kind");
}

ParameterTable table_of_maps(const std::vector<ConfigCheck>& checks = {check_unused}) {
  RowCollector table;
  table.add<Top>("top");
  table.add<MapSpec>("top.map");
  return ParameterTable(table.rows, checks);
}

std::vector<std::string> applying(const std::string& text) {
  const Config config = parse(text, table_of_maps());
  std::vector<std::string> names;
  for (const ParameterRow& row : config.table().rows())
    if (row.name.starts_with("top.map.") && applies(config, row))
      names.push_back(row.name.substr(8));
  return names;
}

TEST(Conditions, AreByTheValuesOfOtherKeys) {
  EXPECT_THAT(applying(""), ElementsAre("kind", "steps"));
  EXPECT_THAT(applying("top.map = \"wide\""), ElementsAre("kind", "width", "steps"));
  EXPECT_THAT(applying("top.map = \"deep\""), ElementsAre("kind", "depth", "smallest", "steps"));
  EXPECT_THAT(applying("top = { map = \"deep\", on = false }"),
              ElementsAre("kind", "depth", "steps"));
  EXPECT_THAT(applying("top.map = { kind = \"deep\", depth = 0 }"),
              ElementsAre("kind", "depth", "steps"));
}

/// A list in place of a kind, and one that is chosen besides.
TEST(Conditions, SeeAllKindsThatAreChosen) {
  EXPECT_THAT(applying("top.all = [\"wide\", \"plain\"]"), ElementsAre("kind", "width", "steps"));
  EXPECT_THAT(applying("top.map = { kind = \"mixed\", parts = [\"wide\"] }"),
              ElementsAre("kind", "parts", "width", "depth", "smallest", "steps"));
  EXPECT_THAT(applying("top.map = { kind = \"plain\", parts = [\"wide\"] }"),
              ElementsAre("kind", "steps"));
}

/// It may use all keys of its section, save those whose kinds have a trait that it lacks.
TEST(Conditions, OfAKindThatAProgramAdds) {
  EXPECT_THAT(applying("top.map = \"mine\""),
              ElementsAre("kind", "parts", "depth", "smallest", "steps", "ripples", "height"));
  EXPECT_THAT(applying("top.map = { kind = \"mine\", ripples = \"flat\" }"),
              ElementsAre("kind", "parts", "depth", "smallest", "steps", "ripples"));
  EXPECT_EQ(error_in("top.map = { kind = \"deep\", ripples = \"flat\" }", {}, table_of_maps()),
            "bad.toml:1:38: top.map.ripples has no effect with top.map.kind = \"deep\"; remove it");
  EXPECT_EQ(error_in("top.map = { kind = \"mine\", ripples = \"flat\", height = 2 }", {},
                     table_of_maps()),
            "bad.toml:1:55: top.map.height has no effect with top.map.ripples = \"flat\"; remove "
            "it");
}

TEST(Conditions, ErrorsNameWhatIsInTheWay) {
  const auto error = [](const std::string& text, const std::vector<std::string>& sets = {}) {
    return error_in(text, sets, table_of_maps());
  };
  EXPECT_EQ(error("top.map.depth = 2"),
            "bad.toml:1:17: top.map.depth has no effect with top.map.kind = \"plain\"; remove it");
  EXPECT_EQ(error("top.map.smallest = 2"),
            "bad.toml:1:20: top.map.smallest has no effect with top.map.kind = \"plain\"; remove "
            "it");
  EXPECT_EQ(error("top = { on = false, map = { kind = \"deep\", smallest = 2 } }"),
            "bad.toml:1:55: top.map.smallest has no effect with top.on = false; remove it");
  EXPECT_EQ(error("top = { all = [\"wide\"], map.depth = 2 }"),
            "bad.toml:1:37: top.map.depth has no effect with top.all = [\"wide\"]; remove it");
  EXPECT_EQ(error("", {"top.map.depth=2"}),
            "--set: top.map.depth has no effect with top.map.kind = \"plain\"; remove it");
  EXPECT_EQ(error("top.map.depth = 1"), "");  // the default
}

/// A file holds the keys of several kinds; a flag is not one.
TEST(Conditions, FilesMayKeepKeysOfAKindThatSetReplaces) {
  const auto error = [](const std::string& text, const std::string& set) {
    return error_in(text, {set}, table_of_maps());
  };
  const std::string deep = "top.map = { kind = \"deep\", smallest = 2 }";
  EXPECT_EQ(error(deep, "top.map=wide"), "");
  EXPECT_EQ(error(deep, "top.on=false"),
            "--set: top.map.smallest has no effect with top.on = false; remove it");
  Config config = parse(deep, table_of_maps());
  apply_set(config, "top.map=wide");
  EXPECT_EQ(without_unused(config).number("top.map.smallest"), 1);
  EXPECT_EQ(without_unused(config).text("top.map.kind"), "wide");
}

TEST(Conditions, RunsMayKeepKeysWithoutEffect) {
  const ParameterTable table = table_of_maps({check_unused_sets});
  EXPECT_EQ(error_in("top.map.depth = 2", {}, table), "");
  EXPECT_EQ(error_in("top.map.depth = 2", {"top.on=false"}, table), "");
  EXPECT_NE(error_in("", {"top.map.depth=2"}, table), "");
}

TEST(Conditions, PrintedConfigsHaveTheKeysThatApply) {
  const Config config = parse("top.map = \"wide\"", table_of_maps());
  EXPECT_EQ(print_config(config),
            "[top]\non = true\nall = []\n\n[top.map]\nkind = \"wide\"\nwidth = 1.0\nsteps = 0\n");
  const std::string all = print_config(config, Printed::all);
  for (const ParameterRow& row : config.table().rows())
    EXPECT_THAT(all, HasSubstr("\n" + row.name.substr(row.name.rfind('.') + 1) + " = "));
  EXPECT_TRUE(parse(all, table_of_maps()) == config);
  const Config unused = parse("top.map.depth = 2", table_of_maps());
  EXPECT_TRUE(parse(print_config(unused), table_of_maps()) == unused);
}

TEST(Conditions, InWords) {
  const ParameterTable table = table_of_maps();
  const auto text = [&](const char* name) { return condition_text(table, *table.find(name)); };
  EXPECT_EQ(text("top.map.kind"), "");
  EXPECT_EQ(text("top.map.parts"), "top.map.kind = \"mixed\"");
  EXPECT_EQ(text("top.map.width"), "a top.map.kind with width");
  EXPECT_EQ(text("top.map.depth"), "top.map.kind = \"deep\" or \"mixed\"");
  EXPECT_EQ(text("top.map.smallest"), "top.map.depth other than 0.0 and top.on = true");
  EXPECT_EQ(text("top.map.height"), "top.map.ripples = \"round\"");
  const KeyCondition mixed =
      when("top.on", {"true"}) && (when("top.map.kind", {"deep"}) || unless("top.all", {}));
  EXPECT_EQ(condition_text(table, mixed),
            "top.on = true and (top.map.kind = \"deep\", or top.all set)");
}

/// Specs that share a key: it has an effect where one of them has.
TEST(Conditions, OfSharedKeysAreJoined) {
  const KeyCondition a = when("kind", {"a"}), b = when("kind", {"b"}), on = when("on", {"true"});
  EXPECT_EQ(either(a, b), when("kind", {"a", "b"}));
  EXPECT_EQ(either(a && on, b && on), when("kind", {"a", "b"}) && on);
  EXPECT_EQ(either(a, a && on), a);
  EXPECT_EQ(either(a && on, a), a);
  EXPECT_EQ(either(a && on, KeyCondition{}), KeyCondition{});
  EXPECT_EQ(either(a, on), a || on);
  EXPECT_EQ(either(a || on, b), either(on, when("kind", {"a", "b"})));
  EXPECT_EQ((a && on) && a, a && on);
}

/// The parts of a condition that name a key.
void add_leaves(const KeyCondition& condition, std::vector<KeyCondition>& leaves) {
  if (!condition.key.empty()) leaves.push_back(condition);
  for (const KeyCondition& part : condition.parts) add_leaves(part, leaves);
}

TEST(Conditions, OfTheLibraryNameKeysAndValuesThatExist) {
  const ParameterTable table = registered_parameters();
  for (const ParameterRow& row : table.rows()) {
    std::vector<KeyCondition> leaves;
    add_leaves(row.applies, leaves);
    for (const KeyCondition& leaf : leaves) {
      const ParameterRow* other = table.find(leaf.key);
      ASSERT_NE(other, nullptr) << row.name << " depends on " << leaf.key;
      const auto choices = other->bounds.choices ? other->bounds.choices() : leaf.values;
      for (const std::string& value : leaf.values)
        EXPECT_THAT(choices, testing::Contains(value)) << row.name << " depends on " << leaf.key;
    }
  }
}

/// What is left out of the config of a run has no effect in it, and its default in others.
TEST(Conditions, ConfigsOfRunsReadBackWithoutTheKeysOfOthers) {
  const std::string file = "data.files = \"a.txt\"\nmodel.mixer = { kind = \"linear\", m = 8 }\n";
  const Config run = read_config_text(file, "file", {"model.mixer.kind=softmax"});
  const std::string printed = print_config(run);
  EXPECT_THAT(printed, Not(HasSubstr("model.mixer.features")));
  const Config again = read_config_text(printed, "config.toml", {});
  EXPECT_TRUE(again == run);
  EXPECT_EQ(print_config(stored_config(printed, "config.toml")), printed);
  const Config forked = read_config_text(printed, "config.toml", {"model.mixer.kind=linear"});
  EXPECT_EQ(forked.integer("model.mixer.m"), 64);
  EXPECT_THAT(print_config(forked), HasSubstr("[model.mixer.features]\nkind = \"positive\"\n"));
}

}  // namespace conditions_test
