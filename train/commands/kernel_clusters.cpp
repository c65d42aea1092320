#include <fmt/format.h>

#include <bochner/train/commands/kernel_options.hpp>
#include <bochner/train/laboratory/cluster_experiment.hpp>
#include <bochner/train/storage/json.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

Json json_of(const ErrorRange& range) {
  return Json::array({Json::rounded(range.low), Json::rounded(range.high)});
}

Json json_of(const ClusterResult& result) {
  return {{"variance", result.setting.variance},    {"mixed", result.setting.mixed},
          {"estimator", result.estimator},          {"m", result.m},
          {"ours", json_of(result.ours)},           {"repeated", json_of(result.repeated)},
          {"published", json_of(result.published)}, {"holds", result.holds()}};
}

}  // namespace

namespace {

/// The cluster experiment of hybrid random features beside its published figures.
int kernel_clusters_command(const KernelOptions& options) {
  ClusterOptions experiment;
  if (!options.draws.empty()) experiment.draws = options.draws;
  const std::vector<ClusterResult> results = cluster_experiment(experiment);
  std::size_t holding = 0;
  if (!options.json)
    fmt::print(
        "mean squared error of exp(q.k), smallest to largest of {} seeds\n"
        "ours: {} draws turned to the centres, exponentials in pairs; repeated: iid, as published\n"
        "{:>8} {:>6}  {:<14} {:>4}  {:<16}  {:<16}  {:<16}\n",
        experiment.seeds, experiment.draws, "variance", "mixed", "estimator", "m", "published",
        "ours", "repeated");
  for (const ClusterResult& result : results) {
    holding += result.holds();
    if (options.json) {
      fmt::print("{}\n", json_of(result).line());
    } else {
      fmt::print(
          "{:>8} {:>6}  {:<14} {:>4}  {:.4f} .. {:.4f}  {:.4f} .. {:.4f}  {:.4f} .. {:.4f}{}\n",
          result.setting.variance, result.setting.mixed, result.estimator, result.m,
          result.published.low, result.published.high, result.ours.low, result.ours.high,
          result.repeated.low, result.repeated.high, result.holds() ? "" : "   worse");
    }
  }
  if (!options.json)
    fmt::print("{} of {} ranges inside the published one or below it\n", holding, results.size());
  return holding == results.size() ? exit_done : exit_failed;
}

}  // namespace

/// What is said to `kernel` holds here too.
void add_kernel_clusters(const Command& kernel, KernelOptions& study) {
  const Command command = kernel.command("clusters", "hybrid features on clusters, as published",
                                         [&study] { return kernel_clusters_command(study); });
  command.option("--draws", &study.draws, "base draws (default: sobol_owen)");
  command.flag("--json", &study.json, "print JSON lines");
}

}  // namespace bochner::inline BOCHNER_PRECISION
