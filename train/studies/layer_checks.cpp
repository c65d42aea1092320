#include <algorithm>
#include <bochner/base/ceil_div.hpp>
#include <bochner/train/run/instruments/kernel_sample.hpp>
#include <bochner/train/studies/layer_checks.hpp>
#include <cmath>
#include <limits>

namespace bochner {
namespace {

/// Largest |found - expected|, and largest |expected|.
struct Difference {
  double apart = 0, largest = 0;

  /// Adds the first n rows of the last axis.
  void add(const real* found, const real* expected, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      const double difference = std::fabs(double(found[i]) - double(expected[i]));
      apart = std::isnan(difference) ? difference : std::max(difference, apart);
      largest = std::max(largest, std::fabs(double(expected[i])));
    }
  }
  double relative() const { return largest > 0 ? apart / largest : apart; }
};

/// Returns the first tokens of one text. (B, T) -> (1, count)
Indices text_of(const Indices& tokens, std::size_t b, std::size_t count) {
  const auto first = tokens.values.begin() + std::ptrdiff_t(b * tokens.shape[1]);
  return {{1, count}, {first, first + std::ptrdiff_t(count)}};
}

Indices first_tokens(const Indices& tokens, std::size_t count) {
  Indices cut{{tokens.shape[0], count}, {}};
  for (std::size_t b = 0; b < tokens.shape[0]; ++b) {
    const Indices text = text_of(tokens, b, count);
    cut.values.insert(cut.values.end(), text.values.begin(), text.values.end());
  }
  return cut;
}

/// Returns where to cut T tokens: everywhere, or in long texts at the powers of two, at which
/// chunks end, in the middle and before the last.
std::vector<std::size_t> cuts_of(std::size_t T) {
  constexpr std::size_t many = 128;
  std::vector<std::size_t> cuts;
  for (std::size_t cut = 1; cut < T; T <= many ? ++cut : cut *= 2) cuts.push_back(cut);
  if (T > many) cuts.insert(cuts.end(), {ceil_div(T, 2), T - 1});
  return cuts;
}

/// Returns the smallest number relative to the largest magnitude, 0 if none is below 0.
double depth_below_zero(const Tensor& x) {
  double lowest = 0, largest = 0;
  for (const real number : x) {
    lowest = std::min(lowest, double(number));
    largest = std::max(largest, std::fabs(double(number)));
  }
  return largest > 0 ? -lowest / largest : 0;
}

/// Line through the values of parameters in a random direction.
class Line {
 public:
  explicit Line(const std::vector<NamedParameter>& parameters) : parameters_(parameters) {
    for (const NamedParameter& named : parameters) start_.push_back(named.parameter->value());
  }
  /// Returns the slope that the gradients give, and clears them.
  double slope() const {
    double sum = 0;
    for (const NamedParameter& named : parameters_) {
      if (!named.parameter->has_gradient()) continue;
      const RandomFunction direction = direction_of(named);
      const Tensor& gradient = named.parameter->gradient();
      for (std::size_t i = 0; i < gradient.size(); ++i)
        sum += double(gradient.data()[i]) * direction.normal(i);
      named.parameter->zero_gradient();
    }
    return sum;
  }
  void move_to(double distance) const {
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      const RandomFunction direction = direction_of(parameters_[p]);
      Tensor& value = parameters_[p].parameter->value();
      for (std::size_t i = 0; i < value.size(); ++i)
        value.data()[i] = start_[p].data()[i] + real(distance * direction.normal(i));
      parameters_[p].parameter->mark_changed();
    }
  }

 private:
  static RandomFunction direction_of(const NamedParameter& named) {
    return {1, Purpose::test, stream_of(named.name.c_str())};
  }
  const std::vector<NamedParameter>& parameters_;
  std::vector<Tensor> start_;
};

}  // namespace

double batch_error(LanguageModel& model, const Indices& tokens) {
  const std::size_t B = tokens.shape[0], T = tokens.shape[1];
  const Tensor together = evaluated([&](Tape& tape) { return model.logits(tape, tokens); });
  Difference difference;
  for (std::size_t b = 0; b < B; ++b) {
    const Indices text = text_of(tokens, b, T);
    const Tensor alone = evaluated([&](Tape& tape) { return model.logits(tape, text); });
    difference.add(together.data() + b * alone.size(), alone.data(), alone.size());
  }
  return difference.relative();
}

double future_error(LanguageModel& model, const Indices& tokens) {
  const std::size_t B = tokens.shape[0], T = tokens.shape[1];
  const Tensor all = evaluated([&](Tape& tape) { return model.logits(tape, tokens); });
  const std::size_t V = all.shape()[2];
  Difference difference;
  for (const std::size_t count : cuts_of(T)) {
    const Indices cut = first_tokens(tokens, count);
    const Tensor first = evaluated([&](Tape& tape) { return model.logits(tape, cut); });
    for (std::size_t b = 0; b < B; ++b)
      difference.add(all.data() + b * T * V, first.data() + b * count * V, count * V);
  }
  return difference.relative();
}

double interleaved_error(LanguageModel& model, const Indices& tokens) {
  const std::size_t B = tokens.shape[0], T = tokens.shape[1];
  std::vector<LanguageModel::State> together, alone;
  for (std::size_t b = 0; b < B; ++b) {
    together.push_back(model.start());
    alone.push_back(model.start());
  }
  std::vector<Tensor> expected;
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t t = 0; t < T; ++t)
      expected.push_back(model.step(tokens.values[b * T + t], alone[b]));
  Difference difference;
  for (std::size_t t = 0; t < T; ++t)
    for (std::size_t b = 0; b < B; ++b) {
      const Tensor found = model.step(tokens.values[b * T + t], together[b]);
      difference.add(found.data(), expected[b * T + t].data(), found.size());
    }
  return difference.relative();
}

std::vector<std::string> unused_parameters(const std::vector<NamedParameter>& parameters,
                                           const std::function<Var(Tape&)>& loss) {
  Tape tape;
  tape.backward(loss(tape));
  std::vector<std::string> unused;
  for (const NamedParameter& named : parameters) {
    if (!named.parameter->has_gradient()) unused.push_back(named.name);
    named.parameter->zero_gradient();
  }
  return unused;
}

double slope_error(const std::vector<NamedParameter>& parameters,
                   const std::function<Var(Tape&)>& loss) {
  if (sizeof(real) < sizeof(double)) return 0;
  constexpr double floor = 1e-3, enough = 1e-6;
  const Line line(parameters);
  Tape tape;
  tape.backward(loss(tape));
  const double slope = line.slope();
  const auto loss_at = [&](double distance) {
    line.move_to(distance);
    return double(evaluated(loss)());
  };
  double error = std::numeric_limits<double>::infinity();
  for (const double step : {1e-5, 1e-6, 1e-7}) {  // a larger one may cross a kink
    const double difference = (loss_at(step) - loss_at(-step)) / (2 * step);
    const double largest = std::max({std::fabs(slope), std::fabs(difference), floor});
    error = std::min(error, std::fabs(slope - difference) / largest);
    if (error < enough) break;
  }
  line.move_to(0);
  return error;
}

double padding_error(Trunk& trunk, const Indices& tokens, const std::vector<std::size_t>& lengths) {
  Difference difference;
  for (const std::size_t T : {tokens.shape[1], *std::ranges::max_element(lengths)}) {
    const Indices padded = first_tokens(tokens, T);
    const Tensor all = evaluated([&](Tape& tape) { return trunk.forward(tape, padded, lengths); });
    for (std::size_t b = 0; b < lengths.size(); ++b) {
      const Indices text = text_of(tokens, b, lengths[b]);
      const Tensor alone = evaluated([&](Tape& tape) { return trunk.forward(tape, text); });
      difference.add(all.data() + b * T * all.shape()[2], alone.data(), alone.size());
    }
  }
  return difference.relative();
}

double sign_error(FeatureMap& map, const Tensor& x) {
  double deepest = 0;
  if (!map.positive() && map.has_signed_features()) return 0;
  for (const HeadFeatures& head : head_features(map, x, x)) {
    if (!map.has_signed_features())
      deepest =
          std::max({deepest, depth_below_zero(head.q.values), depth_below_zero(head.k.values)});
    if (map.positive()) deepest = std::max(deepest, depth_below_zero(products(head.q, head.k)));
  }
  return deepest;
}

}  // namespace bochner
