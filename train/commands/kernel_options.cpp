#include <fmt/format.h>

#include <algorithm>
#include <bochner/data/files/text.hpp>
#include <bochner/train/commands/kernel_options.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// "16,64,256"
std::vector<std::size_t> parse_counts(const std::string& text) {
  constexpr std::size_t largest_m = 1 << 16;
  std::vector<std::size_t> counts;
  for (const std::string& part : split_list(text)) counts.push_back(parse_count(part).value_or(0));
  const auto allowed = [](std::size_t m) { return m > 0 && m <= largest_m; };
  demand(!counts.empty() && std::ranges::all_of(counts, allowed),
         "--m {}: must be numbers from 1 to {}, such as 16,64,256", text, largest_m);
  return counts;
}

/// The config file, that of the run, or the defaults, with the changes of the options; checked.
Config kernel_config(const KernelOptions& options) {
  Config config(registered_parameters(), "the defaults");
  if (!options.config.empty()) {
    config = load_config(options.config, registered_parameters());
  } else if (!options.data.empty()) {
    config = load_run(options.data).config;
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

}  // namespace

void add_kernel_options(const Command& command, KernelOptions& options) {
  command.option("config", &options.config,
                 "config file (TOML); without one, that of the run or the defaults", "FILE");
  add_sets(command, options.sets);
  command.option("--density", &options.density, "spectral density, instead of the config's");
  command.option("--draws", &options.draws, "base draws, instead of the config's");
  command.number("--d", &options.d, "size of a head, 0 for the default");
  command.option("--m", &options.m, "numbers of frequencies", "LIST").shows_default();
  command.number("--seeds", &options.seeds, "independent sets of draws");
  command.option("--report", &options.report, "also write a page with pictures", "FILE");
  command.flag("--json", &options.json, "print JSON lines");
}

void add_samples(const Command& command, KernelOptions& options) {
  command.option("--queries", &options.queries, ".npy matrix, one query in a row", "FILE");
  command.option("--keys", &options.keys, ".npy matrix, one key in a row", "FILE");
  command.number("--scale", &options.scale, "else they are drawn with this standard deviation");
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
  return {block.mixer.features, d, parse_counts(options.m)};
}

void write_page(const std::string& file, const Page& page) {
  if (!file.empty()) write_output(file, [&](const Sink& sink) { sink(page.html()); });
}

}  // namespace bochner::inline BOCHNER_PRECISION
