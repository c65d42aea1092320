#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/models/label_loss.hpp>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {

std::vector<double> balanced_weights(const std::vector<double>& counts) {
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  std::vector<double> weights;
  for (const double count : counts)
    weights.push_back(count > 0 ? all / (double(counts.size()) * count) : 1);
  return weights;
}

Var label_loss(const Var& logits, const Indices& labels, double smoothing,
               const std::vector<double>& weights) {
  if (weights.empty()) return cross_entropy(logits, labels, real(smoothing));
  const std::size_t n = logits.dim(0), K = logits.dim(1);
  require(weights.size() == K, "label_loss", "got ", weights.size(), " weights for ", K,
          " classes");
  Tensor targets = uninitialized({n, K});
  for (std::size_t i = 0; i < n; ++i) {
    const auto label = std::size_t(labels.values[i]);
    const double each = weights[label] / double(n);
    for (std::size_t k = 0; k < K; ++k)
      targets(i, k) = real(each * (smoothing / double(K) + (k == label ? 1 - smoothing : 0)));
  }
  return -sum(log_softmax(logits) * Var(std::move(targets)));
}

ClassLoss::ClassLoss(const LabelLossSpec& spec, std::vector<double> weights)
    : smoothing_(spec.label_smoothing),
      weights_(std::move(weights)),
      loss_(is_cross_entropy(spec.loss) ? nullptr : make_label_loss(spec.loss)) {}

Var ClassLoss::operator()(const Var& logits, const Indices& labels) const {
  return loss_ ? mean_loss(*loss_, logits, labels, weights_)
               : label_loss(logits, labels, smoothing_, weights_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
