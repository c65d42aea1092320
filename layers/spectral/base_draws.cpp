#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/numeric/low_discrepancy.hpp>
#include <bochner/base/numeric/special_functions.hpp>
#include <bochner/layers/spectral/base_draws.hpp>
#include <bochner/layers/spectral/closed_forms.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Sizes of a set of draws; each row has d coordinates and the auxiliary ones.
struct Sizes {
  std::size_t H, m, d, auxiliary;
  std::size_t row() const { return d + auxiliary; }
  Shape shape() const { return {H, m, row()}; }
};

/// Returns standard normal numbers first, first + 1, ... of the random function.
Tensor normal(const Shape& shape, const RandomFunction& random, std::uint64_t first) {
  Tensor x = uninitialized(shape);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = real(random.normal(first + i));
  return x;
}

/// Replaces `rows` <= d rows, `stride` apart, by orthogonal directions of the same lengths; the
/// directions come from an independent matrix.
void orthogonalize_block(real* draws, std::size_t rows, std::size_t stride,
                         const Tensor& gaussian) {
  const Tensor q = orthogonalize(gaussian);
  const std::size_t d = q.shape()[0];
  for (std::size_t i = 0; i < rows; ++i) {
    real* row = draws + i * stride;
    const double length = std::sqrt(squared_length(row, d));
    for (std::size_t j = 0; j < d; ++j) row[j] = real(length * double(q.data()[j * d + i]));
  }
}

Tensor iid(const Sizes& n, const RandomFunction& random) { return normal(n.shape(), random, 0); }

Tensor orthogonal(const Sizes& n, const RandomFunction& random) {
  Tensor draws = iid(n, random);
  const std::size_t d = n.d;
  std::uint64_t used = draws.size();
  for (std::size_t h = 0; h < n.H; ++h) {
    for (std::size_t first = 0; first < n.m; first += d, used += d * d) {
      orthogonalize_block(draws.data() + (h * n.m + first) * n.row(), std::min(d, n.m - first),
                          n.row(), normal({d, d}, random, used));
    }
  }
  return draws;
}

Tensor through_quantile(const Sizes& n, const std::vector<double>& uniform) {
  Tensor draws = uninitialized(n.shape());
  for (std::size_t i = 0; i < draws.size(); ++i)
    draws.data()[i] = real(quantile::normal(uniform[i]));
  return draws;
}

template <SobolRandomisation randomisation>
Tensor sobol(const Sizes& n, const RandomFunction& random) {
  return through_quantile(n, sobol_points(randomisation, n.H, n.m, n.row(), random));
}

Tensor halton(const Sizes& n, const RandomFunction& random) {
  return through_quantile(n, halton_points(n.H, n.m, n.row(), random));
}

using Draw = Tensor (*)(const Sizes&, const RandomFunction&);
constexpr std::pair<const char*, Draw> kinds[] = {{"iid", iid},
                                                  {"orthogonal", orthogonal},
                                                  {"sobol", sobol<SobolRandomisation::shift>},
                                                  {"sobol_owen", sobol<SobolRandomisation::owen>},
                                                  {"halton", halton}};

}  // namespace

std::vector<std::string> base_draw_names() {
  std::vector<std::string> names;
  for (const auto& [name, draw] : kinds) names.push_back(name);
  return names;
}

Tensor base_draws(const std::string& kind, std::size_t H, std::size_t m, std::size_t d,
                  std::size_t auxiliary, const RandomFunction& random) {
  require(d > 0, "draws", "d must be at least 1");
  for (const auto& [name, draw] : kinds)
    if (name == kind) return draw({H, m, d, auxiliary}, random);
  require(false, "draws", "no base draws are called \"", kind,
          "\"; there are: ", joined(base_draw_names()));
  return {};
}

}  // namespace bochner::inline BOCHNER_PRECISION
