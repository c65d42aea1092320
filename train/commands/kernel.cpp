#include <fmt/format.h>

#include <bochner/data/files/text.hpp>
#include <bochner/train/commands/kernel_options.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/laboratory/attention.hpp>
#include <bochner/train/laboratory/kernel_study.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/tasks/language_task.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t sample_rows = 1000;

/// Queries and keys of each layer of a run, for the first validation examples.
std::vector<KernelSample> samples_of_run(const KernelOptions& options) {
  const std::string& reference = options.data;
  std::vector<std::string> sets;  // what concerns the model is for the study, not for the run
  for (const std::string& set : options.sets)
    if (set.starts_with("data.")) sets.push_back(set);
  const auto [checkpoint, config, task] = load_task({reference, sets});
  const auto layers = attention_layers(task->model());
  std::vector<KernelSample> samples;
  const auto seen = attention_samples(*task, layers);
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

/// Bias, variance and error of a feature map, its spectrum and kernel.
void kernel_command(const KernelOptions& options) {
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
  write_page(options.report, page);
  if (!options.report.empty() && !options.json) fmt::print("report   {}\n", options.report);
}

}  // namespace

// Each stands in a file of its own name.
void add_kernel_fit(const Command& kernel);
void add_kernel_compare(const Command& kernel);
void add_kernel_clusters(const Command& kernel, KernelOptions& study);

void add_kernel(const Command& program) {
  const auto [command, options] =
      program.command("kernel", "study a kernel without training a model", kernel_command);
  add_kernel_options(command, options);
  command.option("--features", &options.features, "feature map, instead of the config's");
  command.number("--error", &options.error, "the relative error that is wanted");
  add_samples(command, options);
  command.option("--data", &options.data, "queries and keys of each layer of this run", "RUN");
  add_kernel_fit(command);
  add_kernel_compare(command);
  add_kernel_clusters(command, options);
}

}  // namespace bochner::inline BOCHNER_PRECISION
