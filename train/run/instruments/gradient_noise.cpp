#include <algorithm>
#include <bochner/optim/optimizer.hpp>
#include <bochner/train/run/instruments/attention.hpp>
#include <bochner/train/run/instruments/gradient_noise.hpp>
#include <cmath>
#include <limits>

namespace bochner {
namespace {

/// Spectral parameters of a layer, or all of the model without a layer, and the sums of their
/// gradients and of the squares.
struct GradientGroup {
  std::string layer;
  std::vector<Parameter*> parameters = {};
  std::vector<double> sum = {};
  double squares = 0;
};

std::vector<GradientGroup> gradient_groups(Module& model) {
  std::vector<GradientGroup> groups;
  for (const AttentionLayer& layer : attention_layers(model)) groups.push_back({layer.name});
  for (const NamedParameter& named : parameters_of(model)) {
    if (!is_density(named.name)) continue;
    for (GradientGroup& group : groups)
      if (named.name.starts_with(group.layer + ".")) group.parameters.push_back(named.parameter);
  }
  std::erase_if(groups, [](const GradientGroup& group) { return group.parameters.empty(); });
  GradientGroup& all = groups.emplace_back();
  for (const NamedParameter& named : parameters_of(model))
    all.parameters.push_back(named.parameter);
  return groups;
}

void add_gradients(GradientGroup& group) {
  std::size_t at = 0;
  for (const Parameter* parameter : group.parameters) {
    const std::size_t n = parameter->value().size();
    group.sum.resize(std::max(group.sum.size(), at + n));
    for (std::size_t i = 0; parameter->has_gradient() && i < n; ++i) {
      const double g = double(parameter->gradient().data()[i]);
      group.sum[at + i] += g, group.squares += g * g;
    }
    at += n;
  }
}

}  // namespace

double signal_to_noise(const std::vector<double>& sums, double squares, double n) {
  // Smaller relative squares are roundings of equal gradients.
  constexpr double rounding = std::numeric_limits<double>::epsilon(),
                   real_rounding = double(std::numeric_limits<real>::epsilon());
  constexpr double least = 100 * std::max(rounding, real_rounding * real_rounding);
  double square = 0;  // of the mean
  for (const double sum : sums) square += sum / n * (sum / n);
  const double noise = (squares - n * square) / (n - 1);
  if (!std::isfinite(noise)) return std::numeric_limits<double>::quiet_NaN();
  if (noise > least * square) return std::sqrt(std::max(0.0, square - noise / n) / noise);
  return square > 0 ? std::numeric_limits<double>::infinity() : 0;
}

std::optional<std::map<std::string, double>> gradient_to_noise(
    Task& task, std::uint64_t first, std::uint64_t examples, std::size_t count,
    const std::function<bool()>& should_stop) {
  require(count >= 2, "gradient_to_noise",
          "noise is the difference between batches: needs at least 2 batches");
  std::vector<GradientGroup> groups = gradient_groups(task.model());
  std::map<std::string, double> ratios;
  const std::vector<NamedParameter> all = parameters_of(task.model());
  bool stopped = false;
  for (std::size_t i = 0; i < count && !stopped; ++i) {
    for (const NamedParameter& named : all) named.parameter->zero_gradient();
    Tape tape;
    const Var loss = task.loss(tape, task.data().training(first + i * examples, examples));
    tape.backward(loss);
    for (GradientGroup& group : groups) add_gradients(group);
    stopped = should_stop && should_stop();
  }
  for (const NamedParameter& named : all) named.parameter->zero_gradient();
  if (stopped) return {};
  for (const GradientGroup& group : groups)
    ratios[group.layer] = signal_to_noise(group.sum, group.squares, double(count));
  return ratios;
}

}  // namespace bochner
