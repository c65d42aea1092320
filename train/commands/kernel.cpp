#include <fmt/format.h>

#include <bochner/data/files/text.hpp>
#include <bochner/train/commands/exit_codes.hpp>
#include <bochner/train/commands/kernel_options.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/laboratory/attention_layers.hpp>
#include <bochner/train/laboratory/kernel_study.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/tasks/language_task.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t sample_rows = 1000, largest_m = 1 << 16;

/// Queries and keys of each layer of a run, for the first validation examples.
std::vector<KernelSample> samples_of_run(const KernelOptions& options) {
  const std::string& reference = options.data;
  std::vector<std::string> sets;  // what concerns the model is for the study, not for the run
  for (const std::string& set : options.sets)
    if (set.starts_with("data.")) sets.push_back(set);
  PosixStorage storage;
  const auto [checkpoint, config] = load_run(storage, reference, sets);
  const auto task = make_task(config);
  load_model(checkpoint, task->model(), true);
  const auto layers = attention_layers(task->model());
  std::vector<KernelSample> samples;
  const auto seen = attention_samples(*task, layers, 0, 1);
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (seen[i].q.dimension() == 4)
      samples.push_back(sample_of_heads(fmt::format("{} of {}", layers[i].name, reference),
                                        seen[i].q, seen[i].k, sample_rows));
  if (samples.empty())
    throw std::invalid_argument(reference +
                                ": has no attention layers to take queries and keys from");
  return samples;
}

std::vector<KernelSample> samples_of(const KernelOptions& options, std::size_t d) {
  if (!options.data.empty()) return samples_of_run(options);
  if (options.queries.empty() != options.keys.empty())
    throw std::invalid_argument("--queries and --keys: give both or none");
  if (!options.queries.empty()) return {sample_of_files(options.queries, options.keys)};
  return {normal_sample(sample_rows, d, 1, options.scale)};
}

}  // namespace

std::vector<std::size_t> parse_counts(const std::string& option, const std::string& text) {
  std::vector<std::size_t> counts;
  for (const std::string& part : split_list(text)) {
    counts.push_back(parse_count(part).value_or(0));
    if (counts.back() == 0 || counts.back() > largest_m) counts.clear();
    if (counts.empty()) break;
  }
  if (counts.empty())
    throw std::invalid_argument(fmt::format(
        "{} {}: must be numbers from 1 to {}, such as 16,64,256", option, text, largest_m));
  return counts;
}

Config kernel_config(const KernelOptions& options) {
  Config config(registered_parameters(), "the defaults");
  if (!options.config.empty()) {
    config = load_config(options.config, registered_parameters());
  } else if (!options.data.empty()) {
    PosixStorage storage;
    config = load_run(storage, options.data).config;
  }
  std::vector<std::string> sets = options.sets;
  if (!options.features.empty()) sets.push_back("model.mixer.features.kind=" + options.features);
  if (!options.density.empty()) sets.push_back("model.mixer.density.kind=" + options.density);
  if (!options.draws.empty()) sets.push_back("model.mixer.draws=" + options.draws);
  if (config.text_list("data.files").empty()) sets.push_back("data.files=[\"none\"]");
  for (const std::string& set : sets) apply_set(config, set);
  validate(config);
  return config;
}

KernelSetting kernel_setting(const KernelOptions& options, std::uint64_t least_seeds) {
  const Config config = kernel_config(options);
  const BlockSpec block = trunk_spec(config, config.count("data.length")).block;
  const std::size_t d = options.d > 0 ? options.d : block.width / block.mixer.heads;
  if (d > 4096) throw std::invalid_argument(fmt::format("--d {}: must be at most 4096", d));
  if (options.seeds < least_seeds || options.seeds > 10000)
    throw std::invalid_argument(
        fmt::format("--seeds {}: must be between {} and 10000", options.seeds, least_seeds));
  if (!(options.scale > 0 && options.scale < 100))
    throw std::invalid_argument(
        fmt::format("--scale {}: must be greater than 0 and less than 100", options.scale));
  return {block.mixer.features, d};
}

void write_page(const std::string& file, const Page& page) {
  write_output(file, [&](const Sink& sink) { sink(page.html()); });
}

int kernel_command(const KernelOptions& options) {
  const auto [spec, d] = kernel_setting(options);
  StudyOptions study_options;
  study_options.m = parse_counts("--m", options.m);
  study_options.seeds = options.seeds;
  if (!(options.error > 0))
    throw std::invalid_argument(fmt::format("--error {}: must be greater than 0", options.error));
  Page page("Kernel study", fmt::format("{}, density {}, draws {}", spec.kind, spec.density.kind,
                                        spec.density.draws));
  bool first = true;
  for (const KernelSample& sample : samples_of(options, d)) {
    const KernelStudy study = study_kernel(spec, sample, study_options);
    if (!first && !options.json) fmt::print("\n");
    first = false;
    fmt::print("{}{}",
               options.json ? study_json(study, options.error) : study_text(study, options.error),
               options.json ? "\n" : "");
    add_study(page, study, options.error);
  }
  if (options.report.empty()) return exit_done;
  write_page(options.report, page);
  if (!options.json) fmt::print("report   {}\n", options.report);
  return exit_done;
}

}  // namespace bochner::inline BOCHNER_PRECISION
