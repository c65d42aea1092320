#include <bochner/base/registry.hpp>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace registry_test {

struct Spec {
  double base = 1;
  OwnSpecs own = {};
};
struct Sum {
  double value;
  explicit Sum(const Spec& spec) : value(spec.base) {}
};

/// Spec of a custom kind, with keys of every type.
struct ShiftSpec {
  double by = 2;
  std::size_t times = 3;
  bool down = false;
  std::string unit = "one";
  std::vector<double> more = {};
};
void describe(Keys& keys, ShiftSpec& spec) {
  keys("by", spec.by, above(0), "what is added");
  keys("times", spec.times, "how often");
  keys("down", spec.down, "taken away");
  keys("unit", spec.unit, one_of({"one", "ten"}), "of what is added");
  keys("more", spec.more, "added once");
}
struct Shifted : Sum {
  Shifted(const Spec& spec, const ShiftSpec& own) : Sum(spec) {
    value += (own.down ? -1 : 1) * own.by * double(own.times) * (own.unit == "ten" ? 10 : 1);
    for (const double number : own.more) value += number;
  }
};

Registry<Sum, Spec> sums() {
  Registry<Sum, Spec> registry("sum", {{"plain", make<Sum>}});
  registry.add("shifted", make<Shifted, ShiftSpec>);
  return registry;
}

/// Lists the documentation of every key, and the values of doubles.
struct Listing : Keys {
  std::vector<Key> all;
  std::vector<double> numbers;
  void on_key(const Key& key) override {
    all.push_back(key);
    if (const auto* number = std::get_if<double*>(&key.member)) numbers.push_back(**number);
  }
};

/// Sets doubles and flags.
struct Setting : Keys {
  void on_key(const Key& key) override {
    if (const auto* number = std::get_if<double*>(&key.member)) **number = 10;
    if (const auto* flag = std::get_if<bool*>(&key.member)) **flag = true;
  }
};

TEST(Registry, MakesWhatIsNamed) {
  auto registry = sums();
  EXPECT_EQ(registry.make("plain", {5})->value, 5);
  EXPECT_EQ(registry.names(), (std::vector<std::string>{"plain", "shifted"}));
  EXPECT_EQ(op_check::error_of([&] { registry.make("sifted", {}); }),
            "[sum] no sum is called \"sifted\"; there are: plain, shifted");
}

TEST(Registry, GivesOwnSpecsTheirInitialValues) {
  auto registry = sums();
  EXPECT_EQ(registry.make("shifted", {1})->value, 7);
  Spec spec;
  spec.own.of<ShiftSpec>() = {.by = 10, .unit = "ten", .more = {0.5, 0.25}};
  EXPECT_EQ(registry.make("shifted", spec)->value, 301.75);
  const Spec copy = spec;
  spec.own.of<ShiftSpec>().times = 1;
  EXPECT_EQ(registry.make("shifted", copy)->value, 301.75);
}

TEST(Registry, DescribesOwnSpecsOfAllKinds) {
  auto registry = sums();
  Spec spec;
  Listing listing;
  registry.describe_own(listing, spec.own);
  ASSERT_EQ(listing.all.size(), 5u);
  EXPECT_EQ(listing.all[1].name, "times");
  EXPECT_EQ(listing.all[1].words, "how often");
  EXPECT_EQ(listing.all[1].bounds.range.lowest, 0) << "a count is not negative";
  EXPECT_EQ(listing.numbers, std::vector<double>{2});
  Setting setting;
  registry.describe_own(setting, spec.own);
  EXPECT_EQ(registry.make("shifted", spec)->value, 1 - 30);
}

TEST(Registry, ReplacesANameThatExists) {
  auto registry = sums();
  registry.add("shifted", [](const Spec&) { return std::make_unique<Sum>(Spec{9}); });
  EXPECT_EQ(registry.make("shifted", {})->value, 9);
  Listing listing;
  Spec spec;
  registry.describe_own(listing, spec.own);
  EXPECT_TRUE(listing.all.empty());
  EXPECT_EQ(registry.names().size(), 2u);
}

/// Else configs would mean something else, and keys of the built-in kind would be lost.
TEST(Registry, RefusesTheNameOfABuiltInKind) {
  auto registry = sums().built_in();
  EXPECT_EQ(op_check::error_of([&] { registry.add("plain", make<Sum>); }),
            "[sum] the sum \"plain\" is built in; choose another name");
  registry.add("mine", make<Sum>);
  EXPECT_NO_THROW(registry.add("mine", make<Sum>));
}

/// Else a run could not write or read its config.
TEST(Registry, RefusesNamesThatConfigsCannotHave) {
  auto registry = sums();
  for (const std::string name : {"", "init scale", "\u03c4", "a\"b", "a.b", "a\nb"})
    EXPECT_EQ(op_check::error_of([&] { registry.add(name, make<Sum>); }),
              "[sum] invalid name for a sum: \"" + name + "\"; use letters, digits, _ and -");
  registry.add("My_sum-2", make<Sum>);
  EXPECT_EQ(registry.names().size(), 3u);
}

/// Traits are given with the name, or as a function of the spec; the default is none.
TEST(Registry, KnowsTheTraitsOfAKind) {
  struct Traits {
    bool positive = false;
  };
  Registry<Sum, Spec, Traits> registry("sum", {{"plain", make<Sum>}});
  registry.add("ones", make<Sum>, {.positive = true});
  registry.add("shifted", make<Shifted, ShiftSpec>,
               [](const Spec& spec) { return Traits{spec.base > spec.own.of<ShiftSpec>().by}; });
  registry.add("more", make<Shifted, ShiftSpec>, {.positive = true});
  EXPECT_FALSE(registry.traits("plain", {}).positive);
  EXPECT_TRUE(registry.traits("ones", {}).positive);
  EXPECT_FALSE(registry.traits("shifted", {1}).positive);
  EXPECT_TRUE(registry.traits("shifted", {3}).positive);
  EXPECT_TRUE(registry.traits("more", {}).positive);
  EXPECT_EQ(op_check::error_of([&] { registry.traits("sifted", {}); }),
            "[sum] no sum is called \"sifted\"; there are: plain, ones, shifted, more");
}

}  // namespace registry_test
}  // namespace bochner::inline BOCHNER_PRECISION
