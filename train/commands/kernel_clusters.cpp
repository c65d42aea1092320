#include <fmt/format.h>

#include <bochner/train/commands/commands.hpp>
#include <bochner/train/commands/exit_codes.hpp>
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

}  // namespace bochner::inline BOCHNER_PRECISION
