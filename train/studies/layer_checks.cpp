#include <algorithm>
#include <bochner/train/run/instruments/kernel_sample.hpp>
#include <bochner/train/studies/layer_checks.hpp>
#include <cmath>

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

/// Returns the smallest number relative to the largest magnitude, 0 if none is below 0.
double depth_below_zero(const Tensor& x) {
  double lowest = 0, largest = 0;
  for (const real number : x) {
    lowest = std::min(lowest, double(number));
    largest = std::max(largest, std::fabs(double(number)));
  }
  return largest > 0 ? -lowest / largest : 0;
}

/// Returns a spec with different heads and coordinates and independent draws.
DensitySpec sampled(const std::string& kind) {
  DensitySpec spec;
  spec.kind = kind;
  spec.draws = "iid";
  spec.heads = 2, spec.m = 1 << 14, spec.dim = 2;
  spec.temperature = 0;  // of a mixture: closed forms are those of the hard choice
  return spec;
}

void move_parameters(Module& module) {
  for (const NamedParameter& named : parameters_of(module)) {
    const RandomFunction random{1, Purpose::test, stream_of(named.name.c_str())};
    Tensor& value = named.parameter->value();
    for (std::size_t i = 0; i < value.size(); ++i) value.data()[i] += real(0.3 * random.normal(i));
  }
}

/// Returns the kernel's deviation in standard errors of the mean over frequencies. w (m, d)
double kernel_deviation(const Tensor& w, const PointFunction& kernel,
                        const std::vector<double>& lag) {
  const std::size_t m = w.shape()[0], d = w.shape()[1];
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < m; ++i) {
    double phase = 0;
    for (std::size_t j = 0; j < d; ++j) phase += double(w.data()[i * d + j]) * lag[j];
    sum += std::cos(phase), squares += std::cos(phase) * std::cos(phase);
  }
  const double mean = sum / double(m);
  constexpr double rounding = 1e-4;
  const double error = std::sqrt(std::max(0.0, squares / double(m) - mean * mean) / double(m));
  return std::fabs(mean - kernel(lag.data())) / (error + rounding);
}

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

std::optional<double> closed_form_error(const std::string& kind) {
  const DensitySpec spec = sampled(kind);
  const auto density = make_density(spec);
  initialize(*density, 1);
  move_parameters(*density);
  const Tensor frequencies = evaluated([&](Tape& tape) { return density->draws(tape); });
  const RandomFunction random{1, Purpose::test, stream_of("lags")};
  std::optional<double> largest;
  for (std::size_t h = 0; h < spec.heads; ++h) {
    const PointFunction kernel = density->kernel(h);
    if (!kernel) continue;
    Tensor of_head = uninitialized({spec.m, spec.dim});
    std::copy_n(frequencies.data() + h * of_head.size(), of_head.size(), of_head.data());
    for (std::uint64_t i = 0; i < 8; ++i) {
      const double unit = std::exp(-spec.log_scale);
      const std::vector<double> lag{unit * random.normal(2 * i), unit * random.normal(2 * i + 1)};
      const double deviation = kernel_deviation(of_head, kernel, lag);
      largest = std::isnan(deviation) ? deviation : std::max(deviation, largest.value_or(0));
    }
  }
  return largest;
}

}  // namespace bochner
