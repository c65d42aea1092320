#pragma once
/// Options of the kernel commands and the settings derived from them.

#include <bochner/layers/features/feature_map.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/run/instruments/kernel_sample.hpp>

namespace bochner {

/// Options of the commands that study kernels without training a model.
struct KernelOptions {
  std::string config, features, density, draws;  ///< "" for defaults
  std::vector<std::string> sets;
  std::uint64_t d = 0, seeds = 16;
  std::string m = "16,64,256,1024";
  double error = 0.1, scale = 1;
  std::string queries, keys, data, report;
  bool json = false;
};
void add_kernel_options(
    const Command& command, KernelOptions& options,
    const std::string& without_config = "the config of --data, or the defaults");
/// Adds the options for the source of queries and keys.
void add_samples(const Command& command, KernelOptions& options);

/// Options of commands that fit by gradient descent.
struct FittingOptions : KernelOptions {
  std::uint64_t steps = 0;
  double learning_rate = 0;
};
void add_fitting(const Command& command, FittingOptions& options);

/// Returns queries and keys of a run, of files, or drawn with d coordinates.
std::vector<KernelSample> samples_of(const KernelOptions& options, std::size_t d);

struct KernelSetting {
  FeatureSpec spec;
  std::size_t d;
  std::vector<std::size_t> m;  ///< at least one
};
/// Returns checked settings: the config file, the run's config or the defaults, changed by the
/// options. Intervals over seeds need at least two.
KernelSetting kernel_setting(const KernelOptions& options, std::uint64_t least_seeds = 2);
/// Throws std::invalid_argument if --d is given with queries and keys of files or a run.
void require_no_size(const KernelOptions& options);
/// Returns --m of a command that takes a single number.
std::size_t only_m(const KernelSetting& setting);
/// Writes a page; does nothing if `file` is "".
void write_page(const std::string& file, const Page& page);

}  // namespace bochner
