#include <gtest/gtest.h>

#include <bochner/base/numeric/parallel.hpp>
#include <bochner/optim/clip.hpp>
#include <limits>

#include "optim/parameters.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace clip_test {

/// Gradients (3, 0), (4) and none.
class Clip : public testing::Test {
 protected:
  Clip() {
    add_gradient(parameters_[0], Tensor{real(3), real(0)});
    add_gradient(parameters_[1], Tensor{real(-4)});
  }
  void poison(double value) { parameters_[1].gradient().data()[0] = real(value); }

  TestParameters parameters_{{{"a", {2}}, {"b", {1}}, {"without", {3}}}};
};

TEST_F(Clip, MeasuresAllGradientsTogether) {
  EXPECT_EQ(gradient_norm(parameters_.named()), 5);
  EXPECT_EQ(gradient_norm({}), 0);
}

TEST_F(Clip, ScalesToTheLimit) {
  EXPECT_EQ(clip_by_norm(parameters_.named(), 2.5), 5);
  EXPECT_EQ(parameters_[0].gradient(), (Tensor{real(1.5), real(0)}));
  EXPECT_EQ(parameters_[1].gradient(), (Tensor{real(-2)}));
  EXPECT_FALSE(parameters_[2].has_gradient());
}

TEST_F(Clip, KeepsGradientsWithinTheLimit) {
  EXPECT_EQ(clip_by_norm(parameters_.named(), 5), 5);
  EXPECT_EQ(parameters_[0].gradient(), (Tensor{real(3), real(0)}));
}

TEST_F(Clip, DoesNotTouchGradientsThatAreNotFinite) {
  for (double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    poison(value);
    const double norm = clip_by_norm(parameters_.named(), 1);
    EXPECT_EQ(std::isnan(norm), std::isnan(value));
    EXPECT_FALSE(std::isfinite(norm));
    EXPECT_EQ(parameters_[0].gradient(), (Tensor{real(3), real(0)}));
  }
}

TEST_F(Clip, DoesNotOverflowInFloat) {
  add_gradient(parameters_[2], filled({3}, real(1e30)));
  EXPECT_NEAR(gradient_norm(parameters_.named()) / (std::sqrt(3.0) * 1e30), 1, 1e-6);
}

TEST_F(Clip, ByValueMovesElementsToTheLimit) {
  clip_by_value(parameters_.named(), 3.5);
  EXPECT_EQ(parameters_[0].gradient(), (Tensor{real(3), real(0)}));
  EXPECT_EQ(parameters_[1].gradient(), (Tensor{real(-3.5)}));
  clip_by_value(parameters_.named(), 2);
  EXPECT_EQ(parameters_[0].gradient(), (Tensor{real(2), real(0)}));
}

TEST_F(Clip, ByValueKeepsNaN) {
  poison(std::numeric_limits<double>::quiet_NaN());
  clip_by_value(parameters_.named(), 1);
  EXPECT_TRUE(std::isnan(parameters_[1].gradient().data()[0]));
}

TEST_F(Clip, NeedsAPositiveLimit) {
  for (double limit : {0.0, -1.0, std::nan("")}) {
    EXPECT_THROW(norm_limit(5, limit), std::invalid_argument);
    EXPECT_THROW(clip_by_norm(parameters_.named(), limit), std::invalid_argument);
    EXPECT_THROW(clip_by_value(parameters_.named(), limit), std::invalid_argument);
  }
}

TEST(ClipThreads, GiveTheSameBits) {
  TestParameters parameters({{"a", {300, 400}}, {"b", {7}}, {"c", {100001}}});
  set_normal_gradients(parameters, 0);
  set_thread_count(1);
  const double expected = gradient_norm(parameters.named());
  EXPECT_NEAR(expected, std::sqrt(220008.0), 5);
  for (std::size_t threads : {2, 3, 4}) {
    set_thread_count(threads);
    EXPECT_EQ(gradient_norm(parameters.named()), expected);
  }
  clip_by_norm(parameters.named(), 1);
  EXPECT_NEAR(gradient_norm(parameters.named()), 1, 1e-6);
  set_thread_count(0);
}

TEST_F(Clip, RefusesAParameterListedTwice) {
  std::vector<NamedParameter> named = parameters_.named();
  named.push_back({"tied", named[0].parameter});
  EXPECT_THROW(clip_by_norm(named, 100), std::invalid_argument);
  EXPECT_THROW(clip_by_value(named, 100), std::invalid_argument);
  EXPECT_EQ(parameters_[0].gradient(), (Tensor{real(3), real(0)}));
}

}  // namespace clip_test
}  // namespace bochner::inline BOCHNER_PRECISION
