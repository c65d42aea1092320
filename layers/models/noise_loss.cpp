#include <algorithm>
#include <bochner/autodiff/compute/math.hpp>
#include <bochner/layers/models/noise_loss.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

NoiseLoss::NoiseLoss(const std::string& kind, const NoiseSpec& spec, std::size_t classes)
    : spec_(checked("noise_loss", spec)), weights_(filled({classes}, real(1))) {
  require(kind == "nce" || kind == "sampled_softmax", "noise_loss", "no kind \"", kind,
          "\"; choose cross_entropy, nce or sampled_softmax");
  if (kind == "nce")
    log_z_ = std::make_unique<Parameter>(filled({1}, real(std::log(double(classes)))));
}

void NoiseLoss::count(const std::vector<double>& occurrences) {
  require(occurrences.size() == weights_.size(), "noise_loss", "got ", occurrences.size(),
          " counts for ", weights_.size(), " classes");
  if (spec_.kind == "uniform") return;
  for (std::size_t j = 0; j < occurrences.size(); ++j)
    weights_.data()[j] = real(std::pow(1 + occurrences[j], spec_.power));
}

NoiseClasses NoiseLoss::draw(const RandomFunction& random) const {
  const std::size_t V = weights_.size();
  std::vector<double> cumulative(V);
  double total = 0;
  for (std::size_t j = 0; j < V; ++j) cumulative[j] = total += double(weights_.data()[j]);
  std::vector<std::size_t> counts(V);
  for (std::size_t i = 0; i < spec_.draws; ++i) {
    const auto found =
        std::upper_bound(cumulative.begin(), cumulative.end(), random.uniform(i) * total);
    ++counts[std::min<std::size_t>(V - 1, found - cumulative.begin())];
  }
  NoiseClasses noise;
  const double log_scale = std::log(double(spec_.draws) / total);
  noise.log_rates.resize(V);
  for (std::size_t j = 0; j < V; ++j) {
    noise.log_rates[j] = log_scale + double(math::log(weights_.data()[j]));
    if (counts[j] == 0) continue;
    noise.classes.push_back(std::int32_t(j));
    noise.counts.push_back(counts[j]);
  }
  return noise;
}

Var NoiseLoss::forward(Tape& tape, const Var& x, const Var& w, const Var& bias,
                       const Indices& labels) {
  const NoiseClasses noise = draw(tape.next_random(Purpose::sampling));
  if (!log_z_) return sampled_softmax(x, w, bias, labels, noise);
  return noise_contrastive(x, w, bias, tape(*log_z_), labels, noise);
}

}  // namespace bochner::inline BOCHNER_PRECISION
