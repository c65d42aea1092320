#include <bochner/layers/basic/standardization.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace standardize_test {

TEST(Standardize, ShiftsAndScalesEachVariate) {
  Standardize standardize(2);
  Tensor x = {{{1, 3}, {10, 20}}, {{5, 7}, {30, 40}}};
  const Tensor before = x;
  standardize.apply(x);
  EXPECT_EQ(x, before);
  standardize.set({1, 10}, {2, 0});
  standardize.apply(x);
  EXPECT_EQ(x, (Tensor{{{0, 1}, {0, 10}}, {{2, 3}, {20, 30}}}));
  standardize.undo(x);
  EXPECT_EQ(x, before);
}

TEST(Standardize, GivesEachSeriesItsOwnUnit) {
  Standardize standardize(2, 3);
  standardize.set({0, 0, 1, 10, 5, 6}, {1, 1, 2, 5, 1, 1});
  Tensor x = {{{1, 3}, {10, 20}}, {{5, 7}, {30, 40}}};
  const Tensor before = x;
  standardize.apply(x, {1, 2});
  EXPECT_EQ(x, (Tensor{{{0, 1}, {0, 2}}, {{0, 2}, {24, 34}}}));
  standardize.undo(x, {1, 2});
  EXPECT_EQ(x, before);
  EXPECT_EQ(op_check::error_of([&] {
              standardize.apply(x, {1, 3});
            }),
            "[standardize] series 3 of 3 for a batch of 2");
}

TEST(Standardize, IsSavedButNotTrained) {
  Standardize standardize(2);
  EXPECT_TRUE(parameters_of(standardize).empty());
  ASSERT_EQ(buffers_of(standardize).size(), 2u);
  EXPECT_EQ(buffers_of(standardize)[1].name, "deviation");
}

TEST(Standardize, SaysWhatItWasSet) {
  Standardize standardize(1, 2);
  standardize.set({1, 2}, {4, 0});
  EXPECT_EQ(standardize.means(), (std::vector<double>{1, 2}));
  EXPECT_EQ(standardize.deviations(), (std::vector<double>{4, 1}));
}

TEST(Standardize, SaysWhatDoesNotFit) {
  Standardize standardize(2);
  Tensor x = zeros({4, 3, 5});
  EXPECT_EQ(op_check::error_of([&] { standardize.apply(x); }),
            "[standardize] x must be (B, 2, ..), not (4, 3, 5)");
  EXPECT_EQ(op_check::error_of([&] {
              standardize.set({1}, {1, 2});
            }),
            "[standardize] got 1 means and 2 deviations for 2 variates");
}

}  // namespace standardize_test
}  // namespace bochner::inline BOCHNER_PRECISION
