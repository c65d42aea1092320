#pragma once
/// What the kernel commands share: their options, and what follows from them.

#include <bochner/layers/features/feature_map.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/run/instruments/kernel_sample.hpp>

namespace bochner {

/// Options of the commands that study kernels without training a model.
struct KernelOptions {
  std::string config, features, density, draws;  ///< "" for the defaults
  std::vector<std::string> sets;
  std::uint64_t d = 0, seeds = 16;
  std::string m = "16,64,256,1024";
  double error = 0.1, scale = 1;
  std::string queries, keys, data, report;
  bool json = false;
};
void add_kernel_options(
    const Command& command, KernelOptions& options,
    const std::string& without_config = "that of the run of --data, or the defaults");
/// Where queries and keys come from.
void add_samples(const Command& command, KernelOptions& options);

/// Of those that fit something by gradient descent.
struct FittingOptions : KernelOptions {
  std::uint64_t steps = 0;
  double learning_rate = 0;
};
void add_fitting(const Command& command, FittingOptions& options);

/// Queries and keys as the options say: of a run, of files, or drawn with d coordinates.
std::vector<KernelSample> samples_of(const KernelOptions& options, std::size_t d);

/// A proposal of importance sampling for each head of the samples, printed.
void fit_proposals(const KernelOptions& options);

struct KernelSetting {
  FeatureSpec spec;
  std::size_t d;
  std::vector<std::size_t> m;  ///< at least one
};
/// What the config file, that of the run, or the defaults say with the changes of the options;
/// checked. Intervals over seeds need two of them.
KernelSetting kernel_setting(const KernelOptions& options, std::uint64_t least_seeds = 2);
/// Refuses --d beside queries and keys of files or a run.
void require_no_size(const KernelOptions& options);
/// --m of a command that takes one.
std::size_t only_m(const KernelSetting& setting);
/// Nowhere where there is no file.
void write_page(const std::string& file, const Page& page);

}  // namespace bochner
