#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/train/commands/kernel/kernel.hpp>
#include <bochner/train/commands/shared_work.hpp>
#include <bochner/train/config/parameters.hpp>
#include <bochner/train/run/instruments/statistics.hpp>
#include <bochner/train/studies/fits.hpp>
#include <bochner/train/studies/kernel_study.hpp>
#include <tuple>

namespace bochner {
namespace {

constexpr std::size_t rows = 128;  // of queries and of keys, to fit on and to test on

struct KernelCompareOptions : FittingOptions {
  KernelCompareOptions() { m = "64", seeds = 20, steps = 600, learning_rate = 0.02; }
  std::string maps;
  bool with_density = false;
  CommandLine* line = nullptr;
};

/// Returns disjoint halves of a sample, to train and held out, different for every seed; (rows, d)
/// each.
std::pair<SampleBlock, SampleBlock> halves_of(const KernelOptions& options, std::size_t d,
                                              std::uint64_t seed) {
  const bool files = !options.queries.empty() || !options.keys.empty();
  const KernelSample sample = files ? sample_of_files(options.queries, options.keys)
                                    : normal_sample(2 * rows, d, seed, options.scale);
  const SampleBlock& block = sample.blocks.front();
  const std::size_t n = std::min(block.q.shape()[0], block.k.shape()[0]);
  demand(n >= 2 * rows && sample.dim() == d,
         "--queries and --keys: {} rows of {} numbers, but {} rows of {} are needed; see --d", n,
         sample.dim(), 2 * rows, d);
  const std::size_t first = (seed - 1) * 2 * rows % (n - 2 * rows + 1);
  const auto part = [&](std::size_t begin) -> SampleBlock {
    return {rows_from(block.q, begin, rows), rows_from(block.k, begin, rows)};
  };
  return {part(first), part(first + rows)};
}

struct Outcome {
  std::string features;
  std::size_t parameters = 0;
  Interval fixed = {}, learned = {};
  Resampled gain = {};
  std::optional<double> expected_fixed = {}, expected_learned = {};  ///< means over the seeds
};

/// Returns the kind and the weights of a feature map, written "positive+importance".
std::pair<std::string, std::string> map_and_weights(const std::string& name) {
  const std::size_t plus = name.find('+');
  if (plus == std::string::npos) return {name, "none"};
  return {name.substr(0, plus), name.substr(plus + 1)};
}

/// Returns the spec without weights that are computed from data.
FeatureSpec unfitted(FeatureSpec spec) {
  if (spec.weights != "learned") spec.weights = "none";
  return spec;
}

/// Sets averaged per error: errors are too skewed to use one set, and unfitted sets are cheap.
constexpr std::uint64_t sets_of_draws = 16;
double mean_error(const SampleBlock& held_out, std::uint64_t seed,
                  const std::function<std::unique_ptr<FeatureMap>(std::uint64_t seed)>& map) {
  double sum = 0;
  for (std::uint64_t set = 0; set < sets_of_draws; ++set)
    sum += kernel_error(*map((seed - 1) * sets_of_draws + set + 1), held_out);
  return sum / double(sets_of_draws);
}

/// Numbers per seed: parameters, 2 errors, and 2 expected errors, each after a flag 1 if known.
constexpr std::size_t numbers_of_seed = 7;

/// Returns the numbers of a seed: calibrates and fits on one half, measures on the other.
std::vector<double> errors_of(const KernelCompareOptions& options, const FeatureSpec& spec,
                              std::size_t d, std::size_t m, std::uint64_t seed) {
  const MapFitOptions how{.steps = options.steps,
                          .learning_rate = options.learning_rate,
                          .density = options.with_density};
  const auto [train, test] = halves_of(options, d, seed);
  const auto before = [&](std::uint64_t own) { return study_map(unfitted(spec), d, m, own); };
  const auto after = [&](std::uint64_t own) { return calibrated_map(spec, train, m, own); };
  const double fixed = mean_error(test, seed, before);
  const auto map = after((seed - 1) * sets_of_draws + 1);
  const std::size_t parameters = fit_map(*map, train, how);
  const double learned = parameters > 0 ? kernel_error(*map, test) : mean_error(test, seed, after);
  std::vector<double> numbers = {double(parameters), fixed, learned};
  for (const auto& expected :
       {expected_kernel_error(*before(1), test), expected_kernel_error(*map, test)})
    numbers.insert(numbers.end(), {double(expected.has_value()), expected.value_or(0)});
  return numbers;
}

/// Measures one map over all seeds, which the processes share.
Outcome outcome_of(const KernelCompareOptions& options, const FeatureSpec& standard, std::size_t d,
                   std::size_t m, const std::string& name, Processes& processes) {
  Outcome outcome{.features = name};
  FeatureSpec spec = standard;
  std::tie(spec.kind, spec.weights) = map_and_weights(name);
  const std::vector<double> all = processes.gather(
      options.seeds, [&](std::size_t index) { return errors_of(options, spec, d, m, index + 1); });
  std::vector<double> fixed, learned, expected_fixed, expected_learned;
  for (const double* seed = all.data(); seed < all.data() + all.size(); seed += numbers_of_seed) {
    outcome.parameters = std::size_t(seed[0]);
    fixed.push_back(seed[1]);
    learned.push_back(seed[2]);
    if (seed[3] != 0) expected_fixed.push_back(seed[4]);
    if (seed[5] != 0) expected_learned.push_back(seed[6]);
  }
  outcome.fixed = confidence_interval(fixed);
  outcome.learned = confidence_interval(learned);
  outcome.gain = reduction(fixed, learned);
  if (!expected_fixed.empty()) outcome.expected_fixed = mean_of(expected_fixed);
  if (!expected_learned.empty()) outcome.expected_learned = mean_of(expected_learned);
  return outcome;
}

Json json_of(const Outcome& outcome, std::size_t m) {
  Json line = {{"features", outcome.features}, {"m", m}, {"parameters", outcome.parameters}};
  const auto add = [&](const std::string& name, const Interval& interval) {
    line.set(name, Json::rounded(interval.mean));
    line.set(name + "_ci", Json::rounded(interval.half_width));
  };
  add("fixed", outcome.fixed);
  add("learned", outcome.learned);
  line.set("gain", Json::rounded(outcome.gain.value));
  line.set("gain_low", Json::rounded(outcome.gain.low));
  line.set("gain_high", Json::rounded(outcome.gain.high));
  if (outcome.expected_fixed) line.set("expected_fixed", Json::rounded(*outcome.expected_fixed));
  if (outcome.expected_learned)
    line.set("expected_learned", Json::rounded(*outcome.expected_learned));
  return line;
}

void print_outcome(const Outcome& outcome, std::size_t m, bool json) {
  if (json) return print_line(json_of(outcome, m));
  const auto& [features, parameters, fixed, learned, gain, expected_fixed, expected_learned] =
      outcome;
  fmt::print(
      "{:<22} {:>7}   {:>7.4f} ± {:<7.4f} {:>7.4f} ± {:<7.4f} {:>5.1f} % {:>5.1f} to {:<5.1f} "
      "{:>9} {:>9}\n",
      features, parameters, fixed.mean, fixed.half_width, learned.mean, learned.half_width,
      100 * gain.value, 100 * gain.low, 100 * gain.high, number_or_dash(expected_fixed),
      number_or_dash(expected_learned));
}

BarChart chart_of(const std::vector<Outcome>& outcomes) {
  BarChart chart{.title = "Held-out kernel error", .label = "relative error, 95 % intervals"};
  chart.series = {{"fixed", {}}, {"learned", {}}};
  for (const Outcome& outcome : outcomes) {
    chart.groups.push_back(outcome.features);
    for (std::size_t i : {0, 1}) {
      const Interval& interval = i == 0 ? outcome.fixed : outcome.learned;
      chart.series[i].values.push_back(interval.mean);
      chart.series[i].low.push_back(interval.mean - interval.half_width);
      chart.series[i].high.push_back(interval.mean + interval.half_width);
    }
  }
  return chart;
}

/// Returns the maps of --maps, or all that exist in d dimensions; checked.
std::vector<std::string> maps_of(const KernelCompareOptions& options, const FeatureSpec& spec,
                                 std::size_t d) {
  const std::vector<std::string> known = feature_maps().names();
  std::vector<std::string> names = options.maps.empty() ? known : split_list(options.maps);
  if (options.maps.empty()) {
    std::erase_if(names, [&](const std::string& name) {
      FeatureSpec named = spec;
      named.kind = name;
      return !small_map(named, d);
    });
    names.insert(names.end(), {"hybrid+learned", "positive+importance"});
  }
  for (const std::string& name : names) {
    const auto [kind, weights] = map_and_weights(name);
    demand(std::ranges::count(known, kind) > 0, "--maps {}: must be {}", name, alternatives(known));
    demand(std::ranges::count(feature_weights(), weights) > 0, "--maps {}: weights must be {}",
           name, alternatives(feature_weights()));
  }
  return names;
}

void print_head(const KernelCompareOptions& options, std::size_t d, std::size_t m) {
  fmt::print(
      "held-out kernel error, d {}, m {}, {} seeds, {} steps: mean and 95 % interval\n"
      "{:<22} {:>7}   {:^17} {:^17} {:^22} {:>19}\n",
      d, m, options.seeds, options.steps, "features", "numbers", "fixed", "learned", "gain",
      "expected, both");
}

void kernel_compare_command(const KernelCompareOptions& options) {
  SharedWork work(*options.line);
  const auto [setting, maps] = work.first_alone([&] {
    const KernelSetting checked = kernel_setting(options);
    only_m(checked);
    halves_of(options, checked.d, 1);
    return std::pair(checked, maps_of(options, checked.spec, checked.d));
  });
  const auto& [spec, d, counts] = setting;
  const FeatureSpec standard = with_standard_frequencies(spec);
  const std::size_t m = counts.front();
  if (!options.json && work.leads()) print_head(options, d, m);
  std::vector<Outcome> outcomes;
  for (const std::string& name : maps) {
    outcomes.push_back(outcome_of(options, standard, d, m, name, work.processes()));
    if (work.leads()) print_outcome(outcomes.back(), m, options.json);
  }
  work.end();
  if (!work.leads()) return;
  Page page("Learned against fixed feature maps", fmt::format("d {}, m {}", d, m));
  page.charts({draw(chart_of(outcomes))});
  write_page(options.report, page);
}

}  // namespace

void add_kernel_compare(const Command& kernel) {
  const auto [command, options] =
      kernel.command("compare", "compare learned and fixed feature maps", kernel_compare_command);
  options.line = command.shares_work();
  add_kernel_options(command, options, "the defaults");
  command.option("--maps", &options.maps,
                 "feature maps, with weights as in positive+importance (default: all)", "LIST");
  add_samples(command, options);
  add_fitting(command, options);
  command.flag("--with-density", &options.with_density, "fit the frequencies too");
}

}  // namespace bochner
