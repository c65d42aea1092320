#pragma once
/// The op test table: an op is a row, and op_table_test.cpp says what every row must pass.

#include <gtest/gtest.h>

#include <bochner/autodiff/tape.hpp>
#include <ostream>

namespace bochner::inline BOCHNER_PRECISION {

/// Where the inputs of a row lie.
struct Domain {
  double low = -2, high = 2;
  std::vector<double> kinks = {};  ///< no element comes nearer than 0.05
  bool distinct = false;  ///< elements of all inputs lie on a lattice and none is there twice
};

using Shapes = std::vector<Shape>;

struct OpRow {
  std::string op;       ///< as declared
  std::string variant;  ///< empty, or which way of calling it
  std::function<Var(Tape&, const std::vector<Var>&)> f;
  std::vector<Shapes> shapes;  ///< of the inputs, for each case
  Domain domain = {};
};

/// "broadcast_to" or "sum__LastAxis".
std::string test_name(const ::testing::TestParamInfo<OpRow>& info);
void PrintTo(const OpRow& row, std::ostream* out);

/// Small, scalar, empty, of size 1 and longer than a parallel chunk.
std::vector<Shapes> unary_shapes();
/// The same for two inputs, with every kind of broadcasting.
std::vector<Shapes> binary_shapes();
/// Deterministic values of a domain for input number `input`.
Tensor values_in(const Domain& domain, const Shape& shape, std::size_t input);

class OpTest : public ::testing::TestWithParam<OpRow> {};

}  // namespace bochner::inline BOCHNER_PRECISION
