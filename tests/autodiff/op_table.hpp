#pragma once
/// The op test table, one row per op; op_table_test.cpp holds the checks.

#include <gtest/gtest.h>

#include <bochner/autodiff/tape.hpp>
#include <ostream>

namespace bochner::inline BOCHNER_PRECISION {

/// Range of the inputs of a row.
struct Domain {
  double low = -2, high = 2;
  std::vector<double> kinks = {};  ///< no element is within 0.05 of these
  bool distinct = false;           ///< elements of all inputs are on a lattice, each once
};

using Shapes = std::vector<Shape>;

struct OpRow {
  std::string op;       ///< as declared
  std::string variant;  ///< empty, or the variant of the call
  std::function<Var(Tape&, const std::vector<Var>&)> f;
  std::vector<Shapes> shapes;  ///< of the inputs, per case
  Domain domain = {};
};

/// Formats a name as "broadcast_to" or "sum__LastAxis".
std::string test_name(const ::testing::TestParamInfo<OpRow>& info);
void PrintTo(const OpRow& row, std::ostream* out);

/// Returns small, scalar, empty and size-1 shapes, and one longer than a parallel chunk.
std::vector<Shapes> unary_shapes();
/// Returns unary_shapes() for two inputs, with every kind of broadcasting.
std::vector<Shapes> binary_shapes();
/// Returns deterministic values of a domain for input `input`.
Tensor values_in(const Domain& domain, const Shape& shape, std::size_t input);

class OpTest : public ::testing::TestWithParam<OpRow> {};

}  // namespace bochner::inline BOCHNER_PRECISION
