#include <bochner/base/ceil_div.hpp>
#include <bochner/base/numeric/quantile.hpp>
#include <bochner/layers/gaussian_processes/process_start.hpp>
#include <bochner/layers/probability/dirichlet_process.hpp>
#include <bochner/layers/probability/gaussian_mixture.hpp>
#include <bochner/layers/spectral/initial.hpp>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t max_rows = 4096, max_frequencies = 8192;

/// Residual of the targets along one input, and the frequency grid step, 2 step, ..
struct Residual {
  std::vector<double> x, y;
  double span = 0, step = 0;
  std::size_t bins = 0;
};

double median_spacing(std::vector<double> x) {
  std::ranges::sort(x);
  std::vector<double> steps;
  for (std::size_t i = 1; i < x.size(); ++i)
    if (x[i] > x[i - 1]) steps.push_back(x[i] - x[i - 1]);
  return median(std::move(steps));
}

double square_sum(const std::vector<double>& y) {
  return std::inner_product(y.begin(), y.end(), y.begin(), 0.0);
}

/// Subtracts the least-squares fit of two functions; the ridge covers constant zeros.
template <class First, class Second>
void subtract_fit(Residual& rest, const First& first, const Second& second) {
  double aa = 1e-12, ab = 0, bb = 1e-12, ay = 0, by = 0;
  for (std::size_t i = 0; i < rest.x.size(); ++i) {
    const double a = first(rest.x[i]), b = second(rest.x[i]);
    aa += a * a, ab += a * b, bb += b * b, ay += a * rest.y[i], by += b * rest.y[i];
  }
  const double determinant = aa * bb - ab * ab;
  if (!(determinant > 0)) return;
  const double p = (bb * ay - ab * by) / determinant, q = (aa * by - ab * ay) / determinant;
  for (std::size_t i = 0; i < rest.x.size(); ++i)
    rest.y[i] -= p * first(rest.x[i]) + q * second(rest.x[i]);
}

/// Returns the targets less a line. Large tables are thinned to a random row of each group of
/// neighbours: regular thinning would alias fast waves.
Residual residual_of(const ProcessRows& rows, std::size_t input, std::uint64_t seed) {
  const RandomFunction random{seed, Purpose::spectral, stream_of("thinned rows")};
  const std::vector<double>& x = rows.inputs[input];
  const auto [least, most] = std::ranges::minmax(x);
  Residual rest{{}, {}, most - least};
  if (!(rest.span > 0)) return rest;
  const std::size_t n = rows.size(), group = ceil_div(n, max_rows);
  for (std::size_t first = 0; first < n; first += group) {
    const std::size_t i = first + random.integer(first, std::min(group, n - first));
    rest.x.push_back(x[i]);
    rest.y.push_back(rows.targets[i]);
  }
  rest.step = std::numbers::pi / rest.span;  // half the resolution of the rows
  rest.bins = std::size_t(std::min(rest.span / median_spacing(x), double(max_frequencies)));
  subtract_fit(
      rest, [](double) { return 1.0; }, [](double along) { return along; });
  return rest;
}

/// Parameters of a mixture component; power is relative.
struct Wave {
  double mean, log_scale, power;
};

/// Returns the strongest waves, after a slow one.
std::vector<Wave> strongest_waves(Residual rest, std::size_t count) {
  if (!(rest.span > 0)) return std::vector<Wave>(count, {0, 0, 1});
  const double all = square_sum(rest.y) + 1e-12;
  std::vector<Wave> waves{{0, -std::log(rest.span), 0.5}};
  while (waves.size() < count) {
    const std::vector<double> powers = wave_powers(rest.x, rest.y, rest.step, rest.bins + 1);
    const auto best = std::ranges::max_element(powers.begin() + 1, powers.end());
    const double frequency = double(best - powers.begin() + 1) * rest.step;
    subtract_fit(
        rest, [&](double x) { return std::cos(frequency * x); },
        [&](double x) { return std::sin(frequency * x); });
    waves.push_back({frequency, std::log(rest.step / 4), *best / all + 1e-4});
  }
  return waves;
}

/// Returns frequencies of both signs, weighted by their power.
WeightedRows spectrum_of(const Residual& rest) {
  const std::vector<double> powers = wave_powers(rest.x, rest.y, rest.step, rest.bins + 1);
  WeightedRows rows;
  for (std::size_t k = 0; k < powers.size(); ++k)
    for (const double sign : {-1.0, 1.0}) {
      rows.values.push_back(sign * double(k + 1) * rest.step);
      rows.weights.push_back(std::max(powers[k], 0.0));
    }
  return rows;
}

/// Returns a mixture with each wave at both signs and the slow one between: EM keeps the symmetry.
GaussianMixture mixture_of(const std::vector<Wave>& waves, double variance, double background) {
  double power = 0;
  for (const Wave& wave : waves) power += wave.power;
  GaussianMixture mixture{{}, background};
  for (const Wave& wave : waves) {
    const double share = (1 - background) * wave.power / power;
    if (wave.mean == 0) mixture.components.push_back({share, {0}, {variance}});
    if (wave.mean == 0) continue;
    for (const double sign : {-1.0, 1.0})
      mixture.components.push_back({share / 2, {sign * wave.mean}, {variance}});
  }
  return mixture;
}

struct SpectrumStart {
  std::vector<Wave> waves;
  ProcessVariances variances;
};

/// Removes the rows' window from a component's variance: in a periodogram a line is sinc^2(span w /
/// 2), about a Gaussian of variance 6 / pi^2 steps^2. At least the resolution.
double unwindowed(double variance, double step) {
  constexpr double window = 6 / (std::numbers::pi * std::numbers::pi);
  return std::max(variance - window * step * step, step * step / 16);
}

/// Fits a mixture by EM to rows with a span.
SpectrumStart em_start(const Residual& rest, std::size_t count) {
  const std::vector<Wave> strongest = strongest_waves(rest, count);
  const double variance = square_sum(rest.y) / double(rest.y.size());
  const WeightedRows spectrum = spectrum_of(rest);
  if (!(square_sum(spectrum.weights) > 0)) return {strongest, {variance / 2, variance / 2}};
  const double step = rest.step;
  const GaussianMixture learned =
      fit_mixture(spectrum, mixture_of(strongest, step * step, 0.1),
                  {.least_variance = step * step / 16,
                   .uniform_density = 1 / (2 * double(rest.bins + 1) * step),
                   .rounds = 200,
                   .tolerance = 1e-7})
          .mixture;
  SpectrumStart start{{}, {(1 - learned.background) * variance, learned.background * variance}};
  for (std::size_t c = 0; c < learned.components.size(); ++c) {
    const GaussianComponent& one = learned.components[c];
    const bool slow = start.waves.empty();
    c += slow ? 0 : 1;  // skips the mirror image
    start.waves.push_back({std::abs(one.mean[0]), std::log(unwindowed(one.covariance[0], step)) / 2,
                           (slow ? 1 : 2) * one.share + 1e-4});
  }
  return start;
}

Parameter& parameter_named(SpectralDensity& density, const char* name) {
  for (const NamedParameter& named : parameters_of(density))
    if (named.name == name) return *named.parameter;
  require(false, "density.start", "\"periodogram\" and \"em\" are for density.kind = \"mixture\"");
  std::abort();
}

/// Returns quantiles of the power above four times the floor of white noise, the median over ln 2.
/// A Hann taper prevents side lobes of strong lines from counting as lines.
std::vector<double> drawn_frequencies(Residual rest, std::size_t count) {
  const double first = std::ranges::min(rest.x);
  for (std::size_t i = 0; i < rest.x.size(); ++i)
    rest.y[i] *= std::pow(std::sin(std::numbers::pi * (rest.x[i] - first) / rest.span), 2);
  std::vector<double> powers = wave_powers(rest.x, rest.y, rest.step, rest.bins + 1);
  const double floor = 4 * median(powers) / std::numbers::ln2;
  double all = 0;
  for (std::size_t k = 0; k < powers.size(); ++k)
    all += powers[k] = k == 0 ? 0 : std::max(powers[k] - floor, 0.0);  // skips the slow component
  std::vector<double> frequencies;
  double passed = 0;
  for (std::size_t k = 0; k < powers.size(); ++k)
    for (passed += powers[k]; frequencies.size() < count && all > 0 &&
                              passed * double(count) >= all * (double(frequencies.size()) + 0.5);)
      frequencies.push_back(double(k + 1) * rest.step);
  return frequencies;
}

/// Counts the components of a Dirichlet process whose base expects lines some steps wide anywhere.
std::size_t count_lines(const std::vector<double>& frequencies, double step, std::uint64_t seed) {
  if (frequencies.empty()) return 0;
  const double n = double(frequencies.size());
  const double mean = std::accumulate(frequencies.begin(), frequencies.end(), 0.0) / n;
  double variance = step * step;
  for (const double w : frequencies) variance += (w - mean) * (w - mean) / n;
  const double width = 4 * step * step;
  const DirichletProcess process{0.1, {{mean}, width / variance, 3, {width}}};
  const auto urn = collapsed_gibbs_sampler(process, frequencies,
                                           {seed, Purpose::spectral, stream_of("components")});
  return count_components(*urn, 100, 0.05);
}

/// Sets the heads of each input to the waves that `find` returns for its residual.
template <class Find>
void set_heads(SpectralDensity& density, const std::vector<std::size_t>& heads,
               const ProcessRows& rows, std::uint64_t seed, const Find& find) {
  const std::array<Parameter*, 3> parameters{&parameter_named(density, "mean"),
                                             &parameter_named(density, "log_scale"),
                                             &parameter_named(density, "logits")};
  const std::size_t K = parameters[2]->value().size() / heads.size();
  std::map<std::size_t, std::vector<Wave>> waves_of_input;
  for (const std::size_t input : heads)
    if (!waves_of_input.contains(input))
      waves_of_input[input] = find(residual_of(rows, input, seed), K);
  for (std::size_t i = 0; i < heads.size() * K; ++i) {
    const Wave& wave = waves_of_input[heads[i / K]][i % K];
    parameters[0]->value().data()[i] = real(wave.mean);
    parameters[1]->value().data()[i] = real(wave.log_scale);
    parameters[2]->value().data()[i] = real(std::log(wave.power));
  }
}

}  // namespace

std::vector<double> distance_log_scales(const std::vector<std::vector<double>>& inputs,
                                        const std::vector<std::size_t>& heads, std::uint64_t seed) {
  std::vector<double> scales;
  for (const std::size_t input : heads) {
    Tensor column = uninitialized({inputs[input].size(), 1});
    std::ranges::transform(inputs[input], column.data(), [](double x) { return real(x); });
    scales.push_back(median_log_scale(column, {seed, Purpose::spectral, stream_of("process")})[0]);
  }
  return scales;
}

void init_from_periodogram(SpectralDensity& density, const std::vector<std::size_t>& heads,
                           const ProcessRows& rows, std::uint64_t seed) {
  set_heads(density, heads, rows, seed, strongest_waves);
}

ProcessVariances init_by_em(SpectralDensity& density, const std::vector<std::size_t>& heads,
                            const ProcessRows& rows, std::uint64_t seed) {
  std::optional<ProcessVariances> best;  // along the input with the least noise
  set_heads(density, heads, rows, seed, [&](const Residual& rest, std::size_t K) {
    if (!(rest.span > 0)) return strongest_waves(rest, K);
    const SpectrumStart start = em_start(rest, K);
    if (!best || start.variances.noise < best->noise) best = start.variances;
    return start.waves;
  });
  const double half = square_sum(rows.targets) / double(rows.size()) / 2;
  return best.value_or(ProcessVariances{half, half});
}

std::size_t count_waves(const ProcessRows& rows, std::size_t most, std::uint64_t seed) {
  constexpr std::size_t draws = 512;
  std::size_t waves = 1;
  for (std::size_t input = 0; input < rows.inputs.size(); ++input) {
    const Residual rest = residual_of(rows, input, seed);
    if (rest.span > 0)
      waves = std::max(waves, count_lines(drawn_frequencies(rest, draws), rest.step, seed));
  }
  return std::min(1 + waves, most);
}

}  // namespace bochner::inline BOCHNER_PRECISION
