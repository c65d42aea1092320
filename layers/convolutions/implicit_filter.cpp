#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/convolutions/filter.hpp>
#include <cmath>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr double small = 0.02;

/// Returns the lag in units of the length, on [0, 1]. The length is part of the model: another
/// length makes another filter of the same weights.
double filter_time(std::size_t lag, std::size_t length) {
  return length > 1 ? double(lag) / double(length - 1) : 0;
}

/// Returns [t, cos f_1 w, .., -sin f_1 w, ..] with w = 2 pi lag / length and frequencies evenly
/// spaced from 1e-4 to their number less one. -> (length, features)
Tensor filter_positions(std::size_t length, std::size_t features) {
  require(features % 2 == 1, "implicit_filter", "features = ", features,
          " must be odd: time, then cosines and sines in equal number");
  const std::size_t bands = (features - 1) / 2;
  Tensor z = zeros({length, features});
  for (std::size_t lag = 0; lag < length; ++lag) {
    real* row = z.data() + lag * features;
    row[0] = real(filter_time(lag, length));
    const double w = 2 * std::numbers::pi * double(lag) / double(length);
    for (std::size_t i = 0; i < bands; ++i) {
      const double part = bands > 1 ? double(i) / double(bands - 1) : 0;
      const double f = 1e-4 + part * (double(bands) - 1 - 1e-4);
      row[1 + i] = real(std::cos(f * w));
      row[1 + bands + i] = real(-std::sin(f * w));
    }
  }
  return z;
}

/// Returns ln 100 / (time in which the window falls to 1/100), evenly spaced from the slowest to
/// the fastest channel and equal for all copies. -> (1, channels)
Tensor window_rates(const FilterSpec& spec) {
  Tensor rates = zeros({1, spec.channels()});
  const double slow = std::log(100) / spec.slow, fast = std::log(100) / spec.fast;
  for (std::size_t c = 0; c < rates.size(); ++c) {
    const double part = spec.width > 1 ? double(c % spec.width) / double(spec.width - 1) : 0;
    rates.data()[c] = real(slow + part * (fast - slow));
  }
  return rates;
}

/// Computes h(lag) = MLP(features of lag) (exp(-rate t) + shift), with activations sin(w x), one
/// learned w per hidden channel, and initial weights of deviation 0.02 as in the published models.
/// Poli et al., "Hyena hierarchy", 2023.
class ImplicitFilter : public Filter {
 public:
  explicit ImplicitFilter(const FilterSpec& spec)
      : length_(spec.lags()),
        learned_(spec.learn_positions),
        shift_(spec.shift),
        fixed_positions_(filter_positions(length_, spec.features)),
        rates_(window_rates(spec)),
        frequency_(filled({spec.hidden}, real(spec.frequency))),
        output_({spec.hidden, spec.channels()}, Initial::normal(small)) {
    if (learned_) positions_.assign(fixed_positions_);
    // Under sin(w x) with w = 10, weights of the usual size would start the filter as noise.
    for (std::size_t i = 0; i < spec.layers + 1; ++i)
      layers_.push_back(std::make_unique<Linear>(i == 0 ? spec.features : spec.hidden, spec.hidden,
                                                 Initial::normal(small)));
  }

  Var at(Tape& tape, const Lags& lags) override {
    Var z = rows_of(learned_ ? tape(positions_) : tape.view(fixed_positions_), lags);
    for (auto& layer : layers_) z = sin(tape(frequency_) * layer->forward(tape, z));
    return matmul(z, tape(output_)) * (exp(window_exponents(tape, lags)) + shift_);
  }

  std::size_t limit() const override { return length_; }

  void visit(Visitor& visitor) override {
    if (learned_) visitor("positions", positions_);
    visitor("layers", layers_);
    visitor("frequency", frequency_);
    visitor("output", output_);
  }

 private:
  Var window_exponents(Tape& tape, const Lags& lags) const {
    Tensor exponents = uninitialized({lags.count, rates_.size()});
    for (std::size_t i = 0; i < lags.count; ++i) {
      const std::size_t lag = lags.descending ? lags.count - 1 - i : i;
      const real t = real(filter_time(lag, length_));
      for (std::size_t c = 0; c < rates_.size(); ++c)
        exponents.data()[i * rates_.size() + c] = -t * rates_.data()[c];
    }
    return tape.constant(std::move(exponents));
  }

  std::size_t length_;
  bool learned_;
  double shift_;
  Tensor fixed_positions_, rates_;  // (length, features), (1, channels)
  Parameter positions_;
  std::vector<std::unique_ptr<Linear>> layers_;
  Parameter frequency_, output_;  // (hidden), (hidden, channels)
};

}  // namespace

void add_implicit(Registry<Filter, FilterSpec>& all) { all.add("implicit", make<ImplicitFilter>); }

}  // namespace bochner::inline BOCHNER_PRECISION
