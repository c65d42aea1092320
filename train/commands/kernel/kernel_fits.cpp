#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/format.hpp>
#include <bochner/layers/features/weights.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/layers/spectral/monte_carlo.hpp>
#include <bochner/train/commands/kernel/kernel.hpp>
#include <bochner/train/config/parameters.hpp>
#include <bochner/train/run/instruments/statistics.hpp>
#include <bochner/train/studies/fits.hpp>
#include <bochner/train/studies/kernel_study.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>

namespace bochner {
namespace {

struct ProposalFit {
  std::string sample;
  std::size_t head = 0;
  double scale = 0;            ///< of q relative to p, geometric mean over coordinates
  double effective_draws = 0;  ///< at most m
  std::optional<double> error_of_p = {}, error_of_q = {};
};

ProposalFit fit_proposal(FeatureSpec spec, const KernelSample& sample, std::size_t head,
                         std::size_t m) {
  const KernelSample part = first_rows(sample, 128);
  const SampleBlock& block = part.blocks[head];
  const auto plain = calibrated_map(spec, block, m, 1);
  spec.weights = "importance";
  const auto map = calibrated_map(spec, block, m, 1);
  auto& weights = dynamic_cast<ImportanceWeights&>(*map);
  const auto axes = map->frequencies()->proposal()->density().gaussian(0);
  demand(axes.has_value(), "--proposal: only a gaussian proposal can be fitted, not \"{}\"",
         spec.density.proposal);
  return {sample.name,
          head,
          std::exp(mean_of(axes->log_scale)),
          weights.effective_size(0),
          expected_kernel_error(*plain, block),
          expected_kernel_error(*map, block)};
}

/// Returns each method's median relative error of positive features over pairs of the sample.
std::vector<std::pair<std::string, double>> methods_of(const KernelSample& sample, double scale,
                                                       std::size_t m) {
  std::map<std::string, std::vector<double>> errors;
  std::vector<std::string> order;
  for (const SamplePair& one : choose_pairs(sample, 24)) {
    const ScaledPair pair(one.q, one.k);
    MonteCarlo plain{.dim = pair.x.size(), .points = m + m % 2, .sets = 64, .scale = scale};
    const auto phase = [&](std::span<const double> w) {
      double sum = 0;
      for (std::size_t i = 0; i < w.size(); ++i) sum += w[i] * (pair.x[i] + pair.y[i]);
      return sum;
    };
    plain.control = phase;
    const auto term = [&](std::span<const double> w) {
      return std::exp(phase(w) - pair.sum() / 2);  // over the kernel
    };
    for (const auto& [name, report] : compare_methods(plain, term)) {
      if (!errors.contains(name)) order.push_back(name);
      // Error around the true kernel: a skewed estimate may be off by the same amount in all sets.
      const double off = report.mean - 1;
      errors[name].push_back(std::sqrt(report.variance / double(plain.points) + off * off));
    }
  }
  std::vector<std::pair<std::string, double>> medians;
  for (const std::string& name : order) medians.emplace_back(name, median(errors[name]));
  return medians;
}

Json json_of(const ProposalFit& fit) {
  Json json = {{"sample", fit.sample},
               {"head", fit.head},
               {"proposal_scale", fit.scale},
               {"effective_draws", fit.effective_draws}};
  if (fit.error_of_p) json.set("error_of_p", *fit.error_of_p);
  if (fit.error_of_q) json.set("error_of_q", *fit.error_of_q);
  return json;
}

/// Fits and prints a proposal of importance sampling for each head of the samples.
void fit_proposals(const KernelOptions& options) {
  const KernelSetting setting = kernel_setting(options);
  const auto& [spec, d, counts] = setting;
  require_no_size(options);
  const std::size_t m = only_m(setting);
  const FeatureSpec standard = with_standard_frequencies(spec);
  if (!options.json)
    fmt::print(
        "gaussian proposal for {}, minimizing the error of attention weights on the sample; m {}\n"
        "{:>6} {:>8} {:>16} {:>12} {:>12}   {}\n",
        spec.kind, m, "head", "scale", "effective draws", "error of p", "error of q", "sample");
  Table table{{"sample", "head", "scale", "effective draws", "error of p", "error of q"}, {}};
  for (const KernelSample& sample : samples_of(options, d)) {
    for (std::size_t head = 0; head < sample.blocks.size(); ++head) {
      const ProposalFit fit = fit_proposal(standard, sample, head, m);
      table.rows.push_back({sample.name, std::to_string(head), fmt::format("{:.3f}", fit.scale),
                            fmt::format("{:.1f}", fit.effective_draws),
                            number_or_dash(fit.error_of_p), number_or_dash(fit.error_of_q)});
      if (options.json) {
        print_line(json_of(fit));
        continue;
      }
      fmt::print("{:>6} {:>8.3f} {:>16} {:>12} {:>12}   {}\n", head, fit.scale,
                 fmt::format("{:.1f} of {}", fit.effective_draws, m),
                 number_or_dash(fit.error_of_p), number_or_dash(fit.error_of_q), sample.name);
      if (head > 0) continue;
      for (const auto& [name, error] : methods_of(sample, fit.scale, m))
        fmt::print("       {:<12} median relative error of positive features {:.3g}\n", name,
                   error);
    }
  }
  Page page("Proposals of importance sampling", fmt::format("{}, m {}", spec.kind, m));
  page.table(table);
  write_page(options.report, page);
}

constexpr std::size_t points = 512, many_draws = 1 << 14;

struct KernelFitOptions : FittingOptions {
  KernelFitOptions() { m = "512", seeds = 3, steps = 1500, learning_rate = 0.03; }
  std::string target = "matern52";
  double reach = 4;
  bool proposal = false;
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

SplitPoints points_of(const KernelFitOptions& options, const KernelPoints& of_file, std::size_t d) {
  if (is_file(options.target)) return split(of_file);
  return {sample_kernel(options.target, points, d, options.reach, 1),
          sample_kernel(options.target, points, d, options.reach, 2)};
}

Json parameters_json(SpectralDensity& density) {
  Json json;
  for (const NamedParameter& named : parameters_of(density)) {
    const Tensor& value = named.parameter->value();
    json.set(named.name, {{"shape", Json::array(value.shape())},
                          {"values", std::vector<double>(value.begin(), value.end())}});
  }
  return json;
}

void print_fit(const KernelFitOptions& options, const DensitySpec& spec, std::uint64_t seed,
               const DensityFit& fit, SpectralDensity& density) {
  if (options.json) {
    Json json = {
        {"target", options.target}, {"density", spec.kind},  {"seed", seed},
        {"before", fit.before},     {"draws", fit.of_draws}, {"fresh_draws", fit.of_density}};
    if (fit.closed_form) json.set("closed_form", *fit.closed_form);
    return print_line(json.set("parameters", parameters_json(density)));
  }
  fmt::print("{:>6} {:>10.2e} {:>10.2e} {:>12.2e} {:>12}\n", seed, fit.before, fit.of_draws,
             fit.of_density, fit.closed_form ? fmt::format("{:.2e}", *fit.closed_form) : "-");
}

/// Returns k(delta) against |delta|, sorted.
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

/// Throws std::invalid_argument for options that do not apply to what is fitted.
void check_options(const KernelFitOptions& options) {
  const KernelFitOptions usual;
  using Given = std::pair<const char*, bool>;
  const Given of_proposal[] = {{"--data", !options.data.empty()},
                               {"--queries", !options.queries.empty()},
                               {"--keys", !options.keys.empty()},
                               {"--features", !options.features.empty()},
                               {"--scale", options.scale != usual.scale}};
  const Given of_kernel[] = {{"--target", options.target != usual.target},
                             {"--reach", options.reach != usual.reach},
                             {"--seeds", options.seeds != usual.seeds},
                             {"--steps", options.steps != usual.steps},
                             {"--lr", options.learning_rate != usual.learning_rate}};
  for (const auto& [option, given] : of_proposal)
    demand(!given || options.proposal, "{} requires --proposal", option);
  for (const auto& [option, given] : of_kernel)
    demand(!given || !options.proposal, "{} has no effect with --proposal; remove it", option);
}

void kernel_fit_command(const KernelFitOptions& options) {
  check_options(options);
  if (options.proposal) return fit_proposals(options);
  KernelOptions setting = options;
  const KernelPoints of_file =
      is_file(options.target) ? read_kernel(options.target) : KernelPoints{};
  if (setting.d == 0) setting.d = is_file(options.target) ? of_file.delta.shape()[1] : 1;
  const KernelSetting chosen = kernel_setting(setting, 1);
  const auto& [spec, d, counts] = chosen;
  const std::size_t m = only_m(chosen);
  demand(options.reach > 0 && options.reach <= 1e6,
         "--reach {}: must be greater than 0 and at most 1e6", options.reach);
  const std::size_t columns = is_file(options.target) ? of_file.delta.shape()[1] : d;
  demand(d == columns, "--d {}: {} has {} of delta", d, options.target,
         format_number_of(columns, "column"));
  const SplitPoints parts = points_of(options, of_file, d);
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
    print_fit(options, spec.density, seed, fit, *density);
    page.section(fmt::format("Seed {}: relative error {}", seed, short_number(fit.of_density)));
    page.charts(fit_charts(*many, parts.held_out, fit, options.target));
  }
  write_page(setting.report, page);
}

}  // namespace

void add_kernel_fit(const Command& kernel) {
  const auto [command, options] =
      kernel.command("fit", "fit a density to a kernel by gradient descent", kernel_fit_command);
  add_kernel_options(command, options);
  command
      .option("--target", &options.target,
              "gaussian, laplace, cauchy, matern32, matern52, periodic_mixture, or a .csv or "
              ".npy file of rows delta_1, .., delta_d, k")
      .shows_default();
  command.number("--reach", &options.reach, "largest |delta|");
  command.flag("--proposal", &options.proposal,
               "fit the proposal of importance sampling to queries and keys instead");
  command.option("--features", &options.features, "feature map for --proposal");
  command.option("--data", &options.data, "queries and keys of each layer of this run", "RUN");
  add_samples(command, options);
  add_fitting(command, options);
}

}  // namespace bochner
