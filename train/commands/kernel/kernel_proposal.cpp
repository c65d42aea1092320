#include <fmt/format.h>

#include <bochner/layers/features/weights.hpp>
#include <bochner/layers/spectral/monte_carlo.hpp>
#include <bochner/train/commands/kernel/kernel.hpp>
#include <bochner/train/run/instruments/statistics.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/studies/fits.hpp>
#include <bochner/train/studies/kernel_study.hpp>
#include <cmath>
#include <map>

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

std::string cell(const std::optional<double>& number) {
  return number ? fmt::format("{:.3g}", *number) : "-";
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

}  // namespace

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
                            fmt::format("{:.1f}", fit.effective_draws), cell(fit.error_of_p),
                            cell(fit.error_of_q)});
      if (options.json) {
        fmt::print("{}\n", json_of(fit).line());
        continue;
      }
      fmt::print("{:>6} {:>8.3f} {:>16} {:>12} {:>12}   {}\n", head, fit.scale,
                 fmt::format("{:.1f} of {}", fit.effective_draws, m), cell(fit.error_of_p),
                 cell(fit.error_of_q), sample.name);
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

}  // namespace bochner
