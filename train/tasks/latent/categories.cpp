#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/latent/categories.hpp>

namespace bochner {
namespace {

constexpr std::size_t pictured_categories = 64;
constexpr double used_share = 0.01;

}  // namespace

/// Returns the number of the most probable category of each variable, from 1 on, then their
/// probabilities. (B, N, K) -> (B, 2 N)
Tensor chosen_categories(const Tensor& logits) {
  const std::size_t B = logits.shape()[0], N = logits.shape()[1], K = logits.shape()[2];
  const Tensor p = softmax(Var(logits)).value();
  Tensor chosen = uninitialized({B, 2 * N});
  for (std::size_t i = 0; i < B * N; ++i) {
    const real *first = p.data() + i * K, *most = std::max_element(first, first + K);
    chosen(i / N, i % N) = real(most - first + 1);
    chosen(i / N, N + i % N) = *most;
  }
  return chosen;
}

std::vector<double> category_shares(const Tensor& z, const LatentSpec& spec) {
  const std::size_t w = z.shape()[1], B = z.shape()[0];
  std::vector<double> shares(spec.discrete.width());
  for (std::size_t i = 0; i < z.size(); ++i)
    if (i % w >= spec.size) shares[i % w - spec.size] += double(z.data()[i]) / double(B);
  return shares;
}

void draw_usage(Page& page, const std::vector<double>& shares, std::size_t examples,
                const DiscreteSpec& spec) {
  const std::size_t N = spec.variables, K = spec.categories;
  const auto used = std::ranges::count_if(shares, [](double share) { return share >= used_share; });
  page.paragraph(fmt::format(
      "{} of {} categories are the most probable one of at least 1 % of {} held-out examples.",
      used, N * K, examples));
  BarChart usage{.title = "how often each category is the most probable one", .label = "share"};
  for (std::size_t k = 0; k < std::min(K, pictured_categories); ++k)
    usage.groups.push_back(fmt::format("{}", k + 1));
  for (std::size_t v = 0; v < std::min(N, pictured_categories); ++v) {
    const auto first = shares.begin() + std::ptrdiff_t(v * K);
    usage.series.push_back({N > 1 ? fmt::format("variable {}", v + 1) : "share",
                            {first, first + std::ptrdiff_t(usage.groups.size())}});
  }
  page.charts({draw(usage)});
}

EachCategory each_category(const std::vector<double>& shares, const LatentSpec& spec) {
  const std::size_t N = spec.discrete.variables, K = spec.discrete.categories;
  EachCategory each{zeros({std::min(N * K, pictured_categories), spec.width()}), {}};
  for (std::size_t row = 0; row < each.z.shape()[0]; ++row) {
    each.names.push_back(fmt::format("{}", row % K + 1));
    if (N > 1) each.names.back() += fmt::format(" of variable {}", row / K + 1);
    for (std::size_t v = 0; v < N; ++v) {
      const auto first = shares.begin() + std::ptrdiff_t(v * K);
      const auto most = std::max_element(first, first + std::ptrdiff_t(K)) - first;
      each.z(row, spec.size + v * K + (v == row / K ? row % K : std::size_t(most))) = 1;
    }
  }
  return each;
}

}  // namespace bochner
