#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/commands/kernel/kernel.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/run/instruments/attention.hpp>
#include <bochner/train/run/instruments/trained_study.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/studies/cluster_experiment.hpp>
#include <bochner/train/studies/kernel_study.hpp>
#include <bochner/train/studies/learned_pages.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <bochner/train/tasks/specimens.hpp>
#include <bochner/train/tasks/task_kinds.hpp>

namespace bochner {
namespace {

/// Parses "16,64,256".
std::vector<std::size_t> parse_counts(const std::string& text) {
  constexpr std::size_t largest_m = 1 << 16;
  std::vector<std::size_t> counts;
  for (const std::string& part : split_list(text)) counts.push_back(parse_count(part).value_or(0));
  const auto allowed = [](std::size_t m) { return m > 0 && m <= largest_m; };
  demand(!counts.empty() && std::ranges::all_of(counts, allowed),
         "--m {}: must be numbers from 1 to {}, such as 16,64,256", text, largest_m);
  return counts;
}

/// Returns the config file, the run's config or the defaults, changed by the options; checked.
/// Replaces exact attention by linear, whose feature maps estimate the same kernel.
Config kernel_config(const KernelOptions& options) {
  Config config(registered_parameters(), "the defaults");
  if (!options.config.empty()) {
    config = load_config(options.config, registered_parameters());
  } else if (!options.data.empty()) {
    config = load_run(options.data).config;
  }
  std::vector<std::string> sets = options.sets;
  if (config.text("model.mixer.kind") == "softmax" && config.text_list("model.pattern").empty())
    sets.insert(sets.begin(), "model.mixer.kind=linear");
  if (config.text_list("data.files").empty() && !makes_tables(config))
    sets.push_back("data.files=[\"none\"]");
  for (const std::string& set : sets) apply_set(config, set);
  for (const auto& [option, key, value] :
       {std::tuple{"--features", "features.kind", options.features},
        {"--density", "density.kind", options.density},
        {"--draws", "draws", options.draws}})
    if (!value.empty()) apply_set(config, fmt::format("model.mixer.{}={}", key, value), option);
  validate(config);
  return config;
}

constexpr std::size_t sample_rows = 1000;

/// Returns queries and keys of each layer of a run, for the first validation examples.
std::vector<KernelSample> samples_of_run(const KernelOptions& options) {
  const std::string& reference = options.data;
  std::vector<std::string> sets;  // changes of the model apply to the study, not to the run
  for (const std::string& set : options.sets)
    if (set.starts_with("data.")) sets.push_back(set);
  const auto learner = load_learner(load_run(reference, sets), {.run = reference});
  const auto layers = attention_layers(learner->model());
  std::vector<KernelSample> samples;
  const auto seen = attention_samples(kept_specimens(*learner), layers);
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (seen[i].q.dimension() == 4)
      samples.push_back(sample_of_heads(fmt::format("{} of {}", layers[i].name, reference),
                                        seen[i].q, seen[i].k, sample_rows));
  demand(!samples.empty(), "{}: has no attention layers to take queries and keys from", reference);
  return samples;
}

/// Prints the trained layers, filters and state spaces of a run. Returns whether it has no
/// attention to study further.
bool print_trained(const KernelOptions& options, Page& page) {
  const LoadedRun run = load_run(options.data);
  const auto learner = load_learner(run, {.run = options.data});
  const auto layers = attention_layers(learner->model());
  const auto samples = attention_samples(kept_specimens(*learner), layers);
  TrainedOptions how{.draws = run.config.text("model.mixer.draws"), .wanted = options.error};
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (const auto study = study_trained(layers[i], samples[i], how))
      fmt::print("{}", options.json ? trained_json(*study, options.error) + "\n"
                                    : trained_text(*study, options.error) + "\n");
  const std::vector<LinearPart> parts = linear_parts(learner->model());
  for (const LinearPart& part : parts)
    fmt::print("{}", options.json ? linear_json(part) + "\n" : linear_text(part) + "\n");
  add_linear_parts(page, {}, parts);
  const auto attends = [](const auto& one) { return one.q.dimension() == 4; };
  return !parts.empty() && std::ranges::none_of(samples, attends);
}

void kernel_command(const KernelOptions& options) {
  const auto [spec, d, m] = kernel_setting(options);
  require_no_size(options);
  demand(options.error > 0 && std::isfinite(options.error),
         "--error {:g}: must be greater than 0{}", options.error,
         options.error > 0 ? ", and finite" : "");
  Page page("Kernel study", fmt::format("{}, density {}, draws {}", spec.kind, spec.density.kind,
                                        spec.density.draws));
  const bool as_trained = !options.data.empty() && options.config.empty() &&
                          options.features.empty() && options.density.empty();
  if (as_trained && print_trained(options, page)) return write_page(options.report, page);
  bool first = true;
  for (const KernelSample& sample : samples_of(options, d)) {
    const KernelStudy study = study_kernel(spec, sample, {.m = m, .seeds = options.seeds});
    if (!first && !options.json) fmt::print("\n");
    first = false;
    fmt::print("{}", options.json ? study_json(study, options.error) + "\n"
                                  : study_text(study, options.error));
    add_study(page, study, options.error);
  }
  write_page(options.report, page);
  if (!options.report.empty() && !options.json) fmt::print("report   {}\n", options.report);
}

Json json_of(const ErrorRange& range) {
  return Json::array({Json::rounded(range.low), Json::rounded(range.high)});
}

Json json_of(const ClusterResult& result) {
  return {{"variance", result.setting.variance},   {"mixed", result.setting.mixed},
          {"features", result.features},           {"m", result.m},
          {"turned", json_of(result.turned)},      {"repeated", json_of(result.repeated)},
          {"published", json_of(result.published)}};
}

void print_counts(const char* name, const ClusterCounts& counts, std::size_t all) {
  fmt::print(
      "{}: upper end at or below the published one in {} of {}, lower end in {}, both in {}\n",
      name, counts.upper, all, counts.lower, counts.both);
}

int kernel_clusters_command(const KernelOptions& options) {
  ClusterOptions experiment;
  if (!options.draws.empty()) experiment.draws = options.draws;
  const std::vector<ClusterResult> results = cluster_experiment(experiment);
  const ClusterCounts repeated = count_holding(results, &ClusterResult::repeated),
                      turned = count_holding(results, &ClusterResult::turned);
  if (!options.json)
    fmt::print(
        "mean squared error of exp(q.k), smallest to largest of {} seeds\n"
        "repeated: independent draws, as published; turned: {} draws along the centres, "
        "exponentials by w and -w\n"
        "{:>8} {:>6}  {:<14} {:>4}  {:<16}  {:<16}  {:<16}\n",
        experiment.seeds, experiment.draws, "variance", "mixed", "features", "m", "published",
        "repeated", "turned");
  for (const ClusterResult& result : results) {
    if (options.json) {
      print_line(json_of(result));
    } else {
      fmt::print(
          "{:>8} {:>6}  {:<14} {:>4}  {:.4f} .. {:.4f}  {:.4f} .. {:.4f}  {:.4f} .. {:.4f}\n",
          result.setting.variance, result.setting.mixed, result.features, result.m,
          result.published.low, result.published.high, result.repeated.low, result.repeated.high,
          result.turned.low, result.turned.high);
    }
  }
  if (!options.json) {
    print_counts("repeated", repeated, results.size());
    print_counts("turned", turned, results.size());
    fmt::print("by chance, one estimator against itself: {} of {}, {}, {}\n", results.size() / 2,
               results.size(), results.size() / 2, results.size() / 4);
  }
  return turned.upper == results.size() ? exit_done : exit_failed;
}

}  // namespace

void add_kernel_options(const Command& command, KernelOptions& options,
                        const std::string& without_config) {
  command.option("config", &options.config, "config file (TOML); without one, " + without_config,
                 "FILE");
  add_sets(command, options.sets);
  command.option("--density", &options.density, "spectral density, instead of the config's");
  command.option("--draws", &options.draws, "base draws, instead of the config's");
  command.number("--d", &options.d, "head dimension; 0 for the config's (fit: 1, or the file's)");
  command.option("--m", &options.m, "numbers of frequencies", "LIST").shows_default();
  command.number("--seeds", &options.seeds, "independent sets of draws");
  command.option("--report", &options.report, "also write a page with charts", "FILE");
  command.flag("--json", &options.json, "print JSON lines");
}

void add_samples(const Command& command, KernelOptions& options) {
  command.option("--queries", &options.queries, ".npy matrix, one query per row", "FILE");
  command.option("--keys", &options.keys, ".npy matrix, one key per row", "FILE");
  command.number("--scale", &options.scale,
                 "without files, standard deviation of drawn queries and keys");
}

void add_fitting(const Command& command, FittingOptions& options) {
  command.number("--steps", &options.steps, "steps of the optimizer");
  command.number("--lr", &options.learning_rate, "largest learning rate");
}

KernelSetting kernel_setting(const KernelOptions& options, std::uint64_t least_seeds) {
  const Config config = kernel_config(options);
  const BlockSpec block = trunk_spec(config, config.count("data.length")).block;
  const std::size_t d = options.d > 0 ? options.d : block.width / block.mixer.heads;
  demand(d <= 4096, "--d {}: must be at most 4096", d);
  demand(options.seeds >= least_seeds && options.seeds <= 10000,
         "--seeds {}: must be between {} and 10000", options.seeds, least_seeds);
  demand(options.scale > 0 && options.scale < 100,
         "--scale {}: must be greater than 0 and less than 100", options.scale);
  demand(
      (options.data.empty() && options.queries.empty()) || options.scale == KernelOptions().scale,
      "--scale {:g} applies to drawn queries and keys; remove {}", options.scale,
      options.data.empty() ? "--queries and --keys" : "--data");
  demand(options.report != "-", "--report -: standard output is used for text; name a file");
  return {block.mixer.features, d, parse_counts(options.m)};
}

std::vector<KernelSample> samples_of(const KernelOptions& options, std::size_t d) {
  if (!options.data.empty()) return samples_of_run(options);
  demand(options.queries.empty() == options.keys.empty(),
         "--queries and --keys: give both or neither");
  if (!options.queries.empty()) return {sample_of_files(options.queries, options.keys)};
  return {normal_sample(sample_rows, d, 1, options.scale)};
}

void require_no_size(const KernelOptions& options) {
  demand(options.d == 0 || (options.data.empty() && options.queries.empty()),
         "--d {} has no effect with {}, whose vectors have their own size; remove it", options.d,
         options.data.empty() ? "--queries and --keys" : "--data");
}

std::size_t only_m(const KernelSetting& setting) {
  demand(setting.m.size() == 1, "--m {}: must be one number; only bochner kernel takes several",
         joined(setting.m, ","));
  return setting.m.front();
}

void write_page(const std::string& file, const Page& page) {
  if (!file.empty()) write_output(file, [&](const Sink& sink) { sink(page.html()); });
}

// In kernel_fits.cpp and kernel_compare.cpp.
void add_kernel_fit(const Command& kernel);
void add_kernel_compare(const Command& kernel);

void add_kernel(const Command& program) {
  const auto [command, options] =
      program.command("kernel", "study a kernel without training a model", kernel_command);
  add_kernel_options(command, options);
  command.option("--features", &options.features, "feature map, instead of the config's");
  command.number("--error", &options.error, "wanted relative error");
  add_samples(command, options);
  command.option("--data", &options.data, "queries and keys of each layer of this run", "RUN");
  add_kernel_fit(command);
  add_kernel_compare(command);
  const Command clusters =
      command.command("clusters", "hybrid features on clusters, as published",
                      [&study = options] { return kernel_clusters_command(study); });
  clusters.option("--draws", &options.draws, "base draws (default: sobol_owen)");
  clusters.flag("--json", &options.json, "print JSON lines");
}

}  // namespace bochner
