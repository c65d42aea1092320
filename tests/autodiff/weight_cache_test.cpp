#include <gtest/gtest.h>

#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/weight_cache.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace weight_cache_test {

/// Cached by the first pass, on the tape of the current pass; never when gradients are recorded.
TEST(KeptValues, AreComputedByTheFirstPassWithoutGradients) {
  Parameter weight(Tensor{1, 2});
  WeightCache values;
  std::size_t computed = 0;
  const auto pass = [&](bool recording) {
    Tape tape;
    tape.recording = recording;
    tape.weight_cache = &values;
    const Var y = cached(tape, &weight, [&] {
      ++computed;
      return 2 * tape(weight);
    });
    EXPECT_EQ(y.tape(), &tape);
    EXPECT_EQ(y.needs_gradient(), recording);
    EXPECT_EQ(y.value(), (Tensor{2, 4}));
    return y.shared_value();
  };
  const auto first = pass(false);
  EXPECT_EQ(pass(false), first);
  EXPECT_EQ(computed, 1u);
  EXPECT_NE(pass(true), first);
  EXPECT_EQ(computed, 2u);
  EXPECT_TRUE(values.holds(*first));
  EXPECT_FALSE(values.holds(Tensor(*first)));
}

/// `detail` distinguishes the values of one owner.
TEST(KeptValues, AreToldApart) {
  WeightCache values;
  const auto value = [](real x) {
    return [x] { return std::make_shared<const Tensor>(Tensor{x}); };
  };
  const auto first = values.of<Tensor>(&values, 1, value(3));
  EXPECT_EQ(*values.of<Tensor>(&values, 2, value(4)), (Tensor{4}));
  EXPECT_EQ(values.of<Tensor>(&values, 1, value(5)), first);
  const auto number = values.of<int>(&values, 1, [] { return std::make_shared<const int>(7); });
  EXPECT_EQ(*number, 7);
}

TEST(KeptValues, HoldTheParametersThatAreAdded) {
  Parameter weight(Tensor{1, 2}), other(Tensor{1, 2});
  WeightCache values;
  values.add(std::vector<NamedParameter>{{"weight", &weight}});
  EXPECT_TRUE(values.holds(weight.value()));
  EXPECT_FALSE(values.holds(other.value()));
}

/// Concurrent callers receive the same value, whichever was computed.
TEST(KeptValues, AreTheSameForAllThreads) {
  WeightCache values;
  std::vector<std::shared_ptr<const Tensor>> found(64);
  parallel_tasks(found.size(), [&](std::size_t i) {
    found[i] = values.of<Tensor>(&values, double(i % 4), [i] {
      return std::make_shared<const Tensor>(Tensor{real(i % 4)});
    });
  });
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i], found[i % 4]);
    EXPECT_EQ(*found[i], (Tensor{real(i % 4)}));
  }
}

}  // namespace weight_cache_test
}  // namespace bochner::inline BOCHNER_PRECISION
