#include <bochner/layers/registry.hpp>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct Sum {
  double value;
};
struct Spec {
  double base = 1;
  Options own = {};
};

Registry<Sum, Spec> sums() {
  Registry<Sum, Spec> registry(
      "sum", {{"plain", [](const Spec& spec) { return std::make_unique<Sum>(Sum{spec.base}); }}});
  registry.add(
      "shifted",
      [](const Spec& spec) {
        return std::make_unique<Sum>(Sum{spec.base + spec.own.at("by") * spec.own.at("times")});
      },
      {{"by", 2, "what is added"}, {"times", 3, "how often"}});
  return registry;
}

TEST(Registry, MakesWhatIsNamed) {
  auto registry = sums();
  EXPECT_EQ(registry.make("plain", {5})->value, 5);
  EXPECT_EQ(registry.names(), (std::vector<std::string>{"plain", "shifted"}));
  EXPECT_EQ(op_check::error_of([&] { registry.make("sifted", {}); }),
            "[sum] no sum is called \"sifted\"; there are: plain, shifted");
}

TEST(Registry, GivesOptionsTheirInitialValues) {
  auto registry = sums();
  EXPECT_EQ(registry.make("shifted", {1})->value, 7);
  EXPECT_EQ(registry.make("shifted", {1, {{"by", 10}}})->value, 31);
  ASSERT_EQ(registry.options().size(), 2u);
  EXPECT_EQ(registry.options()[1].name, "times");
  EXPECT_EQ(registry.options()[1].doc, "how often");
}

TEST(Registry, ReplacesANameThatExists) {
  auto registry = sums();
  registry.add("shifted", [](const Spec&) { return std::make_unique<Sum>(Sum{9}); });
  EXPECT_EQ(registry.make("shifted", {})->value, 9);
  EXPECT_TRUE(registry.options().empty());
  EXPECT_EQ(registry.names().size(), 2u);
}

struct Bare {};

TEST(Registry, RefusesOptionsWithoutAPlaceForThem) {
  Registry<Sum, Bare> registry("sum", {});
  const auto factory = [](const Bare&) { return std::make_unique<Sum>(); };
  EXPECT_EQ(op_check::error_of([&] {
              registry.add("own", factory, {{"by", 2, ""}});
            }),
            "[sum] \"own\" cannot have options");
}

}  // namespace
}  // namespace bochner::inline BOCHNER_PRECISION
