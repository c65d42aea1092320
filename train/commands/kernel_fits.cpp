#include <fmt/format.h>

#include <algorithm>
#include <bochner/layers/module.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/format.hpp>
#include <bochner/train/commands/kernel.hpp>
#include <bochner/train/laboratory/fits.hpp>
#include <bochner/train/laboratory/kernel_study.hpp>
#include <bochner/train/laboratory/statistics.hpp>
#include <bochner/train/storage/json.hpp>
#include <filesystem>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t points = 512, many_draws = 1 << 14;

struct FittingOptions : KernelOptions {
  std::uint64_t steps = 0;
  double learning_rate = 0;
};

void add_fitting(const Command& command, FittingOptions& options) {
  command.number("--steps", &options.steps, "steps of the optimizer");
  command.number("--lr", &options.learning_rate, "its largest learning rate");
}

struct KernelFitOptions : FittingOptions {
  KernelFitOptions() { m = "512", seeds = 3, steps = 1500, learning_rate = 0.03; }
  std::string target = "matern52";
  double reach = 4;
};

bool is_file(const std::string& target) {
  return target.ends_with(".csv") || target.ends_with(".npy") || std::filesystem::exists(target);
}

std::unique_ptr<SpectralDensity> density_of(DensitySpec spec, std::size_t d, std::size_t m,
                                            std::uint64_t seed, bool redraw) {
  spec.heads = 1;
  spec.dim = d;
  spec.m = m;
  spec.seed = seed;
  spec.redraw = redraw ? 1 : 0;
  auto density = make_density(spec);
  initialize(*density, seed);
  return density;
}

SplitPoints points_of(const KernelFitOptions& options, std::size_t d) {
  if (is_file(options.target)) return split(read_kernel(options.target));
  return {sample_kernel(options.target, points, d, options.reach, 1),
          sample_kernel(options.target, points, d, options.reach, 2)};
}

void print_fit(const KernelFitOptions& options, const DensitySpec& spec, std::uint64_t seed,
               const DensityFit& fit) {
  if (options.json) {
    Json json = {
        {"target", options.target}, {"density", spec.kind},  {"seed", seed},
        {"before", fit.before},     {"draws", fit.of_draws}, {"fresh_draws", fit.of_density}};
    if (fit.closed_form) json.set("closed_form", *fit.closed_form);
    fmt::print("{}\n", json.line());
    return;
  }
  fmt::print("{:>6} {:>10.2e} {:>10.2e} {:>12.2e} {:>12}\n", seed, fit.before, fit.of_draws,
             fit.of_density, fit.closed_form ? fmt::format("{:.2e}", *fit.closed_form) : "-");
}

/// k(delta) against |delta|, sorted.
Series series_of(const std::string& name, const Tensor& delta, const std::vector<double>& values) {
  std::vector<std::pair<double, double>> sorted;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::vector<double> x = row_of(delta, i);
    sorted.emplace_back(std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0)),
                        values[i]);
  }
  std::ranges::sort(sorted);
  Series series{.name = name};
  for (const auto& [x, y] : sorted) series.x.push_back(x), series.y.push_back(y);
  return series;
}

std::vector<std::string> fit_charts(SpectralDensity& density, const KernelPoints& held_out,
                                    const DensityFit& fit, const std::string& target) {
  const Tensor learned =
      evaluated([&](Tape& tape) { return kernel_of(tape, density, held_out.delta); });
  Chart kernel{.title = "Kernel", .x = {"|δ|"}, .y = {"k(δ)"}};
  kernel.series.push_back(series_of("learned", held_out.delta, {learned.begin(), learned.end()}));
  kernel.series.push_back(series_of(target, held_out.delta, held_out.values));
  kernel.series.back().mark = Mark::dashed;
  Chart losses{.title = "Fit", .x = {"step"}, .y = {"squared relative error", Scale::logarithmic}};
  Series& curve = losses.series.emplace_back(Series{.name = "", .y = fit.losses});
  for (std::size_t i = 0; i < fit.losses.size(); ++i) curve.x.push_back(double(i));
  return {draw(kernel), draw(losses)};
}

/// A density fitted to a kernel.
void kernel_fit_command(const KernelFitOptions& options) {
  KernelOptions setting = options;
  if (setting.d == 0) setting.d = 1;
  const auto [spec, d, counts] = kernel_setting(setting, 1);
  const std::size_t m = counts.back();
  demand(options.reach > 0, "--reach {}: must be greater than 0", options.reach);
  demand(!is_file(options.target) || d == 1, "--d {}: a file holds a kernel of one dimension", d);
  const SplitPoints parts = points_of(options, d);
  if (!setting.json)
    fmt::print("target   {}, d {}; density {}, draws {}, m {}\n{:>6} {:>10} {:>10} {:>12} {:>12}\n",
               options.target, d, spec.density.kind, spec.density.draws, m, "seed", "before",
               "draws", "fresh draws", "closed form");
  Page page("Fit of a spectral density",
            fmt::format("{} to {}", spec.density.kind, options.target));
  for (std::uint64_t seed = 1; seed <= setting.seeds; ++seed) {
    const auto density = density_of(spec.density, d, m, seed, true);
    const auto many = density_of(spec.density, d, many_draws, seed + 1000, false);
    const DensityFit fit =
        fit_density(*density, *many, parts.train, parts.held_out,
                    {.steps = options.steps, .learning_rate = options.learning_rate, .seed = seed});
    print_fit(options, spec.density, seed, fit);
    page.section(fmt::format("Seed {}: relative error {}", seed, short_number(fit.of_density)));
    page.charts(fit_charts(*many, parts.held_out, fit, options.target));
  }
  write_page(setting.report, page);
}

constexpr std::size_t rows = 128;  // of queries and of keys, to fit on and to test on

struct KernelCompareOptions : FittingOptions {
  KernelCompareOptions() { m = "64", seeds = 20, steps = 600, learning_rate = 0.02; }
  std::string maps;
  bool with_density = false;
};

/// Two halves of a sample that have no row in common; every seed has others.
struct Halves {
  SampleBlock train, held_out;
};
Halves halves_of(const KernelOptions& options, std::size_t d, std::uint64_t seed) {
  const bool files = !options.queries.empty() || !options.keys.empty();
  const KernelSample sample = files ? sample_of_files(options.queries, options.keys)
                                    : normal_sample(2 * rows, d, seed, options.scale);
  const SampleBlock& block = sample.blocks.front();
  const std::size_t n = std::min(block.q.shape()[0], block.k.shape()[0]);
  demand(n >= 2 * rows && sample.dim() == d,
         "--queries and --keys: {} rows of {} numbers; {} rows of {} are needed, see --d", n,
         sample.dim(), 2 * rows, d);
  const std::size_t first = (seed - 1) * 2 * rows % (n - 2 * rows + 1);
  const auto part = [&](std::size_t begin) -> SampleBlock {
    return {rows_from(block.q, begin, rows), rows_from(block.k, begin, rows)};
  };
  return {part(first), part(first + rows)};
}

struct Outcome {
  std::string features;
  std::size_t parameters;
  Interval before, after, gain;
};

/// "positive+importance": a map and its weights.
struct MapName {
  std::string kind, weights;
};
MapName map_and_weights(const std::string& name) {
  const std::size_t plus = name.find('+');
  if (plus == std::string::npos) return {name, "none"};
  return {name.substr(0, plus), name.substr(plus + 1)};
}

/// Weights that follow from the data are not fitted: the map without them against the map with
/// them.
MapFit fit_of(const KernelCompareOptions& options, FeatureSpec spec, const Halves& halves,
              std::size_t m, std::uint64_t seed) {
  MapFitOptions how{.steps = options.steps,
                    .learning_rate = options.learning_rate,
                    .density = options.with_density};
  const auto error_of = [&] {
    const auto map = calibrated_map(spec, halves.train, m, seed);
    return fit_map(*map, halves.train, halves.held_out, how);
  };
  if (spec.weights == "none" || spec.weights == "learned") return error_of();
  how.steps = 0;
  const double after = error_of().after;
  spec.weights = "none";
  return {error_of().before, after, 0};
}

Outcome outcome_of(const KernelCompareOptions& options, const FeatureSpec& standard, std::size_t d,
                   std::size_t m, const std::string& name) {
  std::size_t parameters = 0;
  std::vector<double> before, after, gain;
  FeatureSpec spec = standard;
  const MapName parts = map_and_weights(name);
  spec.kind = parts.kind, spec.weights = parts.weights;
  for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
    const MapFit fit = fit_of(options, spec, halves_of(options, d, seed), m, seed);
    parameters = fit.parameters;
    before.push_back(fit.before);
    after.push_back(fit.after);
    gain.push_back(1 - fit.after / fit.before);
  }
  return {name, parameters, confidence_interval(before), confidence_interval(after),
          confidence_interval(gain)};
}

void print_outcome(const Outcome& outcome, std::size_t m, bool json) {
  const auto& [features, parameters, before, after, gain] = outcome;
  if (json) {
    Json line = {{"features", features}, {"m", m}, {"parameters", parameters}};
    const auto add = [&](const std::string& name, const Interval& interval) {
      line.set(name, Json::rounded(interval.mean));
      line.set(name + "_ci", Json::rounded(interval.half_width));
    };
    add("fixed", before);
    add("learned", after);
    add("gain", gain);
    fmt::print("{}\n", line.line());
    return;
  }
  fmt::print("{:<22} {:>10}   {:>7.4f} ± {:<7.4f} {:>7.4f} ± {:<7.4f} {:>6.1f} % ± {:.1f}\n",
             features, parameters, before.mean, before.half_width, after.mean, after.half_width,
             100 * gain.mean, 100 * gain.half_width);
}

BarChart chart_of(const std::vector<Outcome>& outcomes) {
  BarChart chart{.title = "Held-out kernel error", .label = "relative error, 95 % intervals"};
  chart.series = {{"fixed", {}}, {"learned", {}}};
  for (const Outcome& outcome : outcomes) {
    chart.groups.push_back(outcome.features);
    for (std::size_t i : {0, 1}) {
      const Interval& interval = i == 0 ? outcome.before : outcome.after;
      chart.series[i].values.push_back(interval.mean);
      chart.series[i].low.push_back(interval.mean - interval.half_width);
      chart.series[i].high.push_back(interval.mean + interval.half_width);
    }
  }
  return chart;
}

/// Held-out kernel error of feature maps before and after they are fitted.
void kernel_compare_command(const KernelCompareOptions& options) {
  const auto [spec, d, counts] = kernel_setting(options);
  const FeatureSpec standard = with_standard_frequencies(spec);
  const std::size_t m = counts.back();
  const std::vector<std::string> known = feature_maps().names();
  std::vector<std::string> names = options.maps.empty() ? known : split_list(options.maps);
  if (options.maps.empty()) names.push_back("positive+importance");
  for (const std::string& name : names) {
    const auto [kind, weights] = map_and_weights(name);
    demand(std::ranges::count(known, kind) > 0, "--maps {}: must be {}", name, alternatives(known));
    demand(std::ranges::count(feature_weights(), weights) > 0, "--maps {}: weights must be {}",
           name, alternatives(feature_weights()));
  }
  if (!options.json)
    fmt::print(
        "held-out kernel error, d {}, m {}, {} seeds, {} steps: mean and 95 % interval\n"
        "{:<22} {:>10}   {:^17} {:^17} {:>8}\n",
        d, m, options.seeds, options.steps, "features", "parameters", "fixed", "learned", "gain");
  std::vector<Outcome> outcomes;
  for (const std::string& name : names) {
    outcomes.push_back(outcome_of(options, standard, d, m, name));
    print_outcome(outcomes.back(), m, options.json);
  }
  Page page("Learned against fixed feature maps", fmt::format("d {}, m {}", d, m));
  page.charts({draw(chart_of(outcomes))});
  write_page(options.report, page);
}

}  // namespace

void add_kernel_fit(const Command& kernel) {
  const auto [command, options] =
      kernel.command("fit", "fit a density to a kernel by gradient descent", kernel_fit_command);
  add_kernel_options(command, options);
  command
      .option("--target", &options.target,
              "gaussian, laplace, cauchy, matern32, matern52, periodic_mixture, or a .csv or "
              ".npy file of rows delta, k")
      .shows_default();
  command.number("--reach", &options.reach, "largest |delta|");
  add_fitting(command, options);
}

void add_kernel_compare(const Command& kernel) {
  const auto [command, options] =
      kernel.command("compare", "learned against fixed feature maps", kernel_compare_command);
  add_kernel_options(command, options);
  command.option("--maps", &options.maps,
                 "feature maps, with weights as in positive+importance (default: all)", "LIST");
  add_samples(command, options);
  add_fitting(command, options);
  command.flag("--with-density", &options.with_density, "fit the frequencies too");
}

}  // namespace bochner::inline BOCHNER_PRECISION
