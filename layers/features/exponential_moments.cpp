#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/layers/features/exponential_moments.hpp>
#include <cmath>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

double largest_exponential_share(const DensitySpec& wanted) {
  DensitySpec spec = wanted;
  spec.heads = spec.dim = 1, spec.m = 1 << 14;
  spec.draws = "iid", spec.spread = 0, spec.start = "none", spec.redraw = 0;
  const auto density = make_density(spec);
  initialize(*density, 1);
  Tape tape({.recording = false});
  const Var draws = density->draws(tape);
  std::vector<double> sizes;
  for (const real draw : draws.value()) sizes.push_back(std::fabs(double(draw)));
  const auto middle = sizes.begin() + std::ptrdiff_t(sizes.size() / 2);
  std::ranges::nth_element(sizes, middle);
  const double x = 0.5 / *middle, largest = x * *std::ranges::max_element(sizes);
  double sum = 0;
  for (const double size : sizes) sum += std::exp(x * size - largest);
  return 1 / sum;
}

std::vector<std::string> exponential_maps(const FeatureSpec& spec) {
  std::vector<std::string> names = spec.kind == "hybrid" ? spec.estimators : std::vector{spec.kind};
  std::erase_if(
      names, [](const std::string& name) { return !feature_maps().traits(name, {}).exponential; });
  return names;
}

std::string infinite_kernel(const FeatureSpec& spec) try {
  constexpr double most = 0.2;
  const std::vector<std::string> maps = exponential_maps(spec);
  if (maps.empty() || spec.projection != "density") return "";
  const double share = largest_exponential_share(spec.density);
  if (!(share >= most)) return "";  // also of draws that are not numbers
  return in_words("the kernel of ", joined(maps, " and "),
                  " features is infinite with density = \"", spec.density.kind,
                  "\", which has no exponential moments (one of 16384 draws has ",
                  std::lround(100 * share),
                  " % of the sum): use features = \"fourier\", or a density with lighter tails");
} catch (const std::exception&) {
  return "";  // a density that cannot be made or drawn from has errors of its own
}

}  // namespace bochner::inline BOCHNER_PRECISION
