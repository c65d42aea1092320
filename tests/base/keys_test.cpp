/// Specs against what they say of themselves.

#include <bochner/base/keys.hpp>

#include "autodiff/op_check.hpp"

namespace bochner {
namespace keys_test {

struct Inner {
  std::vector<double> points = {0.5};
};
void describe(Keys& keys, Inner& spec) { keys("points", spec.points, below(0, 1), "some"); }

struct Outer {
  std::size_t count = 3;
  double size = 0.5, free = 0;
  bool on = true;
  std::string kind = "a", name = "anything";
  std::vector<std::string> kinds = {"b"};
  Inner inner;
};
void describe(Keys& keys, Outer& spec) {
  keys("count", spec.count, between(1, 1 << 24), "how many");
  keys("size", spec.size, above(0), "how large");
  keys("free", spec.free, "any number");
  keys("on", spec.on, "whether");
  keys("kind", spec.kind, one_of({"a", "b"}), "which");
  keys("name", spec.name, "any text");
  keys("kinds", spec.kinds, one_of({"a", "b"}), "which of all");
  keys.section("inner", spec.inner);
}

std::string error_with(const std::function<void(Outer&)>& change) {
  Outer spec;
  change(spec);
  return op_check::error_of([&] { checked("outer", spec); });
}

TEST(Keys, CheckedSpecsAreThoseGiven) {
  const Outer spec;
  EXPECT_EQ(&checked("outer", spec), &spec);
  EXPECT_EQ(error_with([](Outer& outer) { outer.count = 1 << 24, outer.free = -1e300; }),
            "no error");
}

TEST(Keys, SaysWhichValueIsOutside) {
  EXPECT_EQ(error_with([](Outer& outer) { outer.count = 0; }),
            "[outer] count = 0: must be between 1 and 16777216");
  EXPECT_EQ(error_with([](Outer& outer) { outer.size = 0; }),
            "[outer] size = 0: must be greater than 0");
  EXPECT_EQ(error_with([](Outer& outer) {
              outer.inner.points = {0.25, 1};
            }),
            "[outer] inner.points = 1: must be at least 0 and less than 1");
  EXPECT_EQ(error_with([](Outer& outer) { outer.inner.points = {1.0000001}; }),
            "[outer] inner.points = 1.0000001: must be at least 0 and less than 1");
  EXPECT_EQ(error_with([](Outer& outer) { outer.kind = "c"; }),
            "[outer] kind = \"c\"; there are: a, b");
  EXPECT_EQ(error_with([](Outer& outer) { outer.kinds.push_back("c"); }),
            "[outer] kinds = \"c\"; there are: a, b");
}

TEST(Keys, NumbersAreFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(error_with([&](Outer& outer) { outer.size = infinity; }),
            "[outer] size = inf: must be finite");
  EXPECT_EQ(error_with([&](Outer& outer) { outer.free = std::nan(""); }),
            "[outer] free = nan: must be finite");
}

}  // namespace keys_test
}  // namespace bochner
