#include <bochner/autodiff/ops/recurrence/recurrence.hpp>

#include "autodiff/op_table.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ops_recurrence_test {

using Inputs = std::vector<Var>;
using Scan = Var (*)(const Var&, const Var&, const Var&, const ScanOptions&);

const ScanOptions backwards{.reverse = true};
const ScanOptions padded{.lengths = {3, 0, 7}};
const ScanOptions backwards_padded{.reverse = true, .lengths = {3, 0, 7}};

/// Returns decays per channel (1 axis) or token (3 axes), x (B, T, n), the start (B, n) if wanted.
std::vector<Shapes> scan_shapes(const std::vector<Shape>& all, bool own, bool start) {
  std::vector<Shapes> shapes;
  for (const Shape& x : all) {
    shapes.push_back({own ? x : Shape{x[2]}, x});
    if (start) shapes.back().push_back({x[0], x[2]});
  }
  return shapes;
}

const std::vector<Shape> plain = {{2, 7, 6}, {1, 1, 2},  {0, 3, 4},   {2, 0, 2},
                                  {2, 3, 0}, {2, 5, 18}, {1, 300, 4}, {2, 5, 140}};
const std::vector<Shape> of_three = {{3, 7, 6}, {3, 9, 18}};

OpRow scan_row(const char* op, Scan scan, const char* variant, bool own, bool start,
               const ScanOptions& options = {}) {
  return {op,
          variant,
          [=](Tape&, const Inputs& x) { return scan(x[0], x[1], start ? x[2] : Var(), options); },
          scan_shapes(options.lengths.empty() ? plain : of_three, own, start),
          {-0.6, 0.6}};
}

OpRow space_row(const char* variant, std::size_t parts, const std::vector<Shape>& inputs,
                const ScanOptions& options = {}) {
  std::vector<Shapes> shapes;
  for (const Shape& u : inputs) {
    for (std::size_t N : {1, 3, 6}) {
      const Shape a = parts == 2 ? Shape{2, N, u[2]} : Shape{N, u[2]};
      shapes.push_back({u, a, a});
    }
  }
  return {"state_space",
          variant,
          [=](Tape&, const Inputs& x) { return state_space(x[0], x[1], x[2], options); },
          shapes,
          {-0.6, 0.6}};
}

OpRow selective_row(const char* variant, const ScanOptions& options) {
  return {
      "selective_scan",
      variant,
      [=](Tape&, const Inputs& x) { return selective_scan(x[0], x[1], x[2], x[3], x[4], options); },
      {{{2, 7, 3}, {2, 7, 3}, {4, 3}, {2, 7, 4}, {2, 7, 4}},
       {{1, 33, 66}, {1, 33, 66}, {2, 66}, {1, 33, 2}, {1, 33, 2}},
       {{2, 0, 2}, {2, 0, 2}, {1, 2}, {2, 0, 1}, {2, 0, 1}}},
      {0.1, 2}};
}

const std::vector<Shape> channels = {{2, 7, 3}, {1, 1, 1}, {0, 3, 2}, {2, 0, 2}, {1, 150, 18}};

OpRow hold_row(const char* variant, Shapes shapes, double low, double high) {
  OpRow row{"zero_order_hold",
            variant,
            [](Tape&, const Inputs& x) { return zero_order_hold(x[0]); },
            {},
            {low, high}};
  for (const Shape& shape : shapes) row.shapes.push_back({shape});
  return row;
}

std::vector<OpRow> rows() {
  std::vector<OpRow> all;
  all.push_back(hold_row("", {{2, 3, 6}, {4}, {0, 4}, {3, 0}}, -3, 1));
  all.push_back(hold_row("NearZero", {{3, 4}}, -0.006, 0.006));
  for (const auto& [op, scan] : {std::pair<const char*, Scan>{"diagonal_scan", diagonal_scan},
                                 {"complex_scan", complex_scan}}) {
    all.push_back(scan_row(op, scan, "", false, false));
    all.push_back(scan_row(op, scan, "Started", false, true));
    all.push_back(scan_row(op, scan, "OfTokens", true, true));
    all.push_back(scan_row(op, scan, "Reverse", true, true, backwards));
    all.push_back(scan_row(op, scan, "Padded", false, true, padded));
    all.push_back(scan_row(op, scan, "ReversePadded", false, true, backwards_padded));
    all.push_back(scan_row(op, scan, "ReversePaddedOfTokens", true, false, backwards_padded));
  }
  all.push_back(space_row("", 2, channels));
  all.push_back(space_row("Real", 1, channels));
  all.push_back(space_row("Reverse", 2, channels, backwards));
  all.push_back(space_row("ReversePadded", 2, {{3, 7, 5}}, backwards_padded));
  all.push_back(space_row("PaddedReal", 1, {{3, 7, 5}}, padded));
  all.push_back(selective_row("", {}));
  all.push_back(selective_row("Reverse", backwards));
  return all;
}

INSTANTIATE_TEST_SUITE_P(Recurrence, OpTest, ::testing::ValuesIn(rows()), test_name);

}  // namespace ops_recurrence_test
}  // namespace bochner::inline BOCHNER_PRECISION
