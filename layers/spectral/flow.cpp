#include <bochner/autodiff/ops.hpp>
#include <bochner/base/join.hpp>
#include <bochner/layers/spectral/densities.hpp>
#include <bochner/layers/spectral/learned_spline.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Splines transform [-reach, reach]; 1 of 16,000 normal numbers is outside.
constexpr double reach = 4;

/// Computes y = x W + bias of one head, in double.
struct HeadAffine {
  std::vector<double> weight, bias;

  std::vector<double> operator()(const double* x) const {
    const std::size_t outputs = bias.size();
    std::vector<double> y = bias;
    for (std::size_t i = 0; i < weight.size() / outputs; ++i) {
      for (std::size_t j = 0; j < outputs; ++j) y[j] += x[i] * weight[i * outputs + j];
    }
    return y;
  }
};

/// Coupling layer (a, b) -> (a, b exp(tanh l(a)) + t(a)) per head, l and t from a hidden layer of
/// tanh; b is the second half of the coordinates, or the first if `swapped`. Makes them dependent
/// with a known density; initially the identity. Dinh, Sohl-Dickstein, Bengio, "Real NVP", 2017.
class Coupling : public Module {
 public:
  Coupling(std::size_t H, std::size_t d, std::size_t hidden, bool swapped)
      : middle_(swapped ? d / 2 : d - d / 2), swapped_(swapped) {
    require(d >= 2, "flow", "coupling layers require d >= 2, not ", d);
    const std::size_t fixed = swapped ? d - middle_ : middle_, transformed = d - fixed;
    in_ = Parameter({H, fixed, hidden}, Initial::normal(1 / std::sqrt(double(fixed))));
    in_bias_ = Parameter({H, 1, hidden});
    out_ = Parameter({H, hidden, 2 * transformed});
    out_bias_ = Parameter({H, 1, 2 * transformed});
  }

  /// Transforms points. (H, m, d) -> (H, m, d)
  Var forward(Tape& tape, const Var& x) {
    const auto [fixed, transformed] = halves(x);
    const auto [raw_stretch, shift] = change(tape, fixed, transformed.dim(-1));
    return joined(fixed, transformed * exp(tanh(raw_stretch)) + shift);
  }

  /// Inverts forward() and adds ln |det dy/dx| (H, m, 1) to `log_volume`. (H, m, d) -> (H, m, d)
  Var backward(Tape& tape, const Var& y, Var& log_volume) {
    const auto [fixed, transformed] = halves(y);
    const auto [raw_stretch, shift] = change(tape, fixed, transformed.dim(-1));
    const Var log_stretch = tanh(raw_stretch), volume = sum(log_stretch, -1, keep);
    log_volume = log_volume.exists() ? log_volume + volume : volume;
    return joined(fixed, (transformed - shift) * exp(-log_stretch));
  }

  void visit(Visitor& visitor) override {
    visitor("in", in_);
    visitor("in_bias", in_bias_);
    visitor("out", out_);
    visitor("out_bias", out_bias_);
  }

  /// Inverts forward() for one point y (d), in place, and returns ln |det dy/dx|.
  using Inverse = std::function<double(double* y)>;
  Inverse inverse(std::size_t head) const {
    return [in = HeadAffine{values_of(in_, head), values_of(in_bias_, head)},
            out = HeadAffine{values_of(out_, head), values_of(out_bias_, head)},
            fixed = swapped_ ? middle_ : 0, transformed = swapped_ ? 0 : middle_](double* y) {
      std::vector<double> hidden = in(y + fixed);
      for (double& unit : hidden) unit = std::tanh(unit);
      const std::vector<double> change = out(hidden.data());
      const std::size_t count = change.size() / 2;
      double log_volume = 0;
      for (std::size_t j = 0; j < count; ++j) {
        const double log_stretch = std::tanh(change[j]);
        y[transformed + j] = (y[transformed + j] - change[count + j]) * std::exp(-log_stretch);
        log_volume += log_stretch;
      }
      return log_volume;
    };
  }

 private:
  struct Halves {
    Var fixed, transformed;
  };
  Halves halves(const Var& x) const {
    const Var low = slice(x, -1, 0, middle_), high = slice(x, -1, middle_, x.dim(-1));
    return swapped_ ? Halves{high, low} : Halves{low, high};
  }
  Var joined(const Var& fixed, const Var& transformed) const {
    return concat(
        swapped_ ? std::vector<Var>{transformed, fixed} : std::vector<Var>{fixed, transformed}, -1);
  }
  struct Change {
    Var raw_stretch, shift;  // l, t
  };
  Change change(Tape& tape, const Var& fixed, std::size_t count) {
    const Var hidden = tanh(matmul(fixed, tape(in_)) + tape(in_bias_));
    const Var out = matmul(hidden, tape(out_)) + tape(out_bias_);
    return {slice(out, -1, 0, count), slice(out, -1, count, 2 * count)};
  }

  std::size_t middle_;
  bool swapped_;
  Parameter in_, in_bias_, out_, out_bias_;  // (H, a, hidden), (H, 1, hidden), (H, hidden, 2 b), ..
};

/// Inverse CDF by a flow: s_j = spline_j(z_j), a learned monotone function per coordinate, so that
/// spline_j(Phi^-1(u)) is its quantile function; then `layers` coupling layers. Initially Gaussian.
/// The kernel has a closed form only without coupling layers.
class FlowDensity : public LocationScaleDensity {
 public:
  explicit FlowDensity(const DensitySpec& spec)
      : LocationScaleDensity(spec),
        marginals_(spec.heads, spec.dim, -reach, reach,
                   std::vector<double>(spec.knots, 1 / double(spec.knots))) {
    for (std::size_t i = 0; i < spec.layers; ++i)
      couplings_.push_back(
          std::make_unique<Coupling>(spec.heads, spec.dim, spec.hidden, i % 2 == 1));
  }

  void visit(Visitor& visitor) override {
    visitor("marginals", marginals_);
    visitor("couplings", couplings_);
    LocationScaleDensity::visit(visitor);
  }

 protected:
  Var standardized(Tape& tape, const Var& noise) override {
    Var x = marginals_.forward(tape, noise);
    for (auto& coupling : couplings_) x = coupling->forward(tape, x);
    return x;
  }

  Characteristic standard_characteristic(std::size_t head) override {
    if (!couplings_.empty()) return {};
    std::vector<std::vector<WeightedPoint>> coordinates(dim(), normal_quadrature());
    for (std::size_t j = 0; j < dim(); ++j) {
      const LearnedSpline::Curve curve = marginals_.curve(head, j);
      for (WeightedPoint& point : coordinates[j]) point.value = curve.at(point.value).value;
    }
    return [coordinates = std::move(coordinates)](const double* t) {
      std::complex<double> product = 1;
      for (std::size_t j = 0; j < coordinates.size(); ++j) {
        std::complex<double> sum = 0;
        for (const WeightedPoint& s : coordinates[j]) sum += std::polar(s.weight, t[j] * s.value);
        product *= sum;
      }
      return product;
    };
  }

  PointFunction standard_log_density(std::size_t head) override {
    std::vector<Coupling::Inverse> undo;
    for (auto& coupling : couplings_) undo.push_back(coupling->inverse(head));
    std::vector<LearnedSpline::Curve> splines;
    for (std::size_t j = 0; j < dim(); ++j) splines.push_back(marginals_.curve(head, j));
    return [undo, splines](const double* s) {
      std::vector<double> x(s, s + splines.size());
      double log_volume = 0;
      for (std::size_t i = undo.size(); i-- > 0;) log_volume += undo[i](x.data());
      for (std::size_t j = 0; j < x.size(); ++j) {
        const auto [z, slope] = splines[j].inverse(x[j]);
        x[j] = z;
        log_volume += std::log(slope);
      }
      return log_normal_density(x.size(), squared_length(x.data(), x.size())) - log_volume;
    };
  }

  PointFunction standard_log_marginal(std::size_t head, std::size_t coordinate) override {
    if (!couplings_.empty()) return {};
    return [spline = marginals_.curve(head, coordinate)](const double* s) {
      const auto [z, slope] = spline.inverse(*s);
      return log_normal_density(1, z * z) - std::log(slope);
    };
  }

  Var standard_log_densities(Tape& tape, const Var& s) override {
    Var x = s, log_volume;
    for (std::size_t i = couplings_.size(); i-- > 0;)
      x = couplings_[i]->backward(tape, x, log_volume);
    const auto [z, log_slope] = marginals_.inverse(tape, x);
    const Var slopes = sum(log_slope, -1, keep);
    return log_normal_densities(z) - (log_volume.exists() ? log_volume + slopes : slopes);
  }

 private:
  LearnedSpline marginals_;
  std::vector<std::unique_ptr<Coupling>> couplings_;
};

}  // namespace

void add_flow(Densities& all) { all.add("flow", make<FlowDensity>); }

}  // namespace bochner::inline BOCHNER_PRECISION
