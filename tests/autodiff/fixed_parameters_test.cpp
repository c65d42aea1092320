#include <gtest/gtest.h>

#include <bochner/autodiff/ops.hpp>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace fixed_parameters_test {

using namespace op_check;

TEST(Tape, RecordsNothingOfFixedParametersAlone) {
  Parameter fixed(vector_of({1, 2})), trained(vector_of({3, 4}));
  fixed.set_trained(false);
  Tape tape;
  const Var scale = exp(tape(fixed));
  const Var y = sum(checkpoint(
      tape, [&](Tape& inner, const Var& u) { return u * inner(fixed); }, scale));
  EXPECT_EQ(tape.size(), 0u);
  tape.backward(y + sum(tape(trained) * scale));
  EXPECT_EQ(trained.gradient(), scale.value());
  EXPECT_FALSE(fixed.has_gradient());
  const Var z = sum(tape(trained) * tape(fixed));
  fixed.mark_changed();
  EXPECT_THROW(tape.backward(z), std::invalid_argument);
  const Var w = checkpoint(
      tape, [&](Tape& inner, const Var& u) { return sum(u * inner(fixed)); }, tape(trained));
  fixed.mark_changed();
  EXPECT_THROW(tape.backward(w), std::invalid_argument);
}

TEST(Tape, CollectsTheMeansOfWhatIsReported) {
  Reports reports;
  Tape tape;
  report(tape, "nowhere", 1);
  tape.reports = &reports;
  report(tape, "gate.open", 1);
  report(tape, "gate.open", 2);
  EXPECT_EQ(reports.means.size(), 1u);
  EXPECT_EQ(reports.means["gate.open"].sum, 3);
  EXPECT_EQ(reports.means["gate.open"].count, 2);
  EXPECT_THROW(report(tape, "two words", 1), std::invalid_argument);
}

}  // namespace fixed_parameters_test
}  // namespace bochner::inline BOCHNER_PRECISION
