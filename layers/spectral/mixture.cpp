#include <algorithm>
#include <bochner/autodiff/compute/softmax.hpp>
#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/probability/categorical_rows.hpp>
#include <bochner/layers/probability/gaussian_mixture.hpp>
#include <bochner/layers/spectral/densities.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// One Gaussian of the mixture with its current parameters.
struct Component {
  double log_weight;
  std::vector<double> mean, log_scale;

  double kernel(const double* lag) const {
    double phase = 0, square = 0;
    for (std::size_t j = 0; j < mean.size(); ++j) {
      phase += mean[j] * lag[j];
      square += std::pow(std::exp(log_scale[j]) * lag[j], 2);
    }
    return std::exp(log_weight - square / 2) * std::cos(phase);
  }

  double log_density(const double* w) const {
    double square = 0, log_volume = 0;
    for (std::size_t j = 0; j < mean.size(); ++j) {
      square += std::pow((w[j] - mean[j]) * std::exp(-log_scale[j]), 2);
      log_volume += log_scale[j];
    }
    return log_weight + log_normal_density(mean.size(), square) - log_volume;
  }
};

/// Gaussians with learned weights: omega = mean_c + exp(log_scale_c) * z, with a soft choice of c:
/// means and scales are averaged by softmax((logit + Gumbel) / temperature) (Jang, Gu, Poole,
/// 2017). Temperature 0 chooses hard, and the weights get no gradient. Closed forms are those of
/// hard choice: k(delta) = sum_c weight_c cos(mean_c . delta) exp(-|scale_c delta|^2 / 2), the
/// spectral mixture kernel of Wilson and Adams, 2013.
class MixtureDensity : public SpectralDensity {
 public:
  explicit MixtureDensity(const DensitySpec& spec)
      : SpectralDensity(spec, spec.components),
        temperature_(spec.temperature),
        mean_({spec.heads, spec.components, spec.dim}, Initial::normal(std::exp(spec.log_scale))),
        log_scale_(filled({spec.heads, spec.components, spec.dim}, real(spec.log_scale))),
        logits_({spec.heads, 1, spec.components}) {
    require(spec.components >= 1 && spec.temperature >= 0, "mixture",
            "requires components >= 1 (or 0 for model.kind = \"gp\") and temperature >= 0: "
            "components = ",
            spec.components, ", temperature = ", spec.temperature);
  }

  Var sample(Tape& tape, const Var& noise) override {
    const std::size_t d = mean_.shape()[2], all = noise.dim(-1);
    const Var preference = tape(logits_) + tape.constant(gumbel(slice(noise, -1, d, all).value()));
    constexpr double min_temperature = 1e-30;  // smaller ones overflow; use the hard choice
    const Var choice = temperature_ > min_temperature
                           ? softmax(preference / temperature_)
                           : tape.constant(one_hot_max(preference.value()));
    return matmul(choice, tape(mean_)) +
           matmul(choice, exp(tape(log_scale_))) * slice(noise, -1, 0, d);
  }

  void visit(Visitor& visitor) override {
    visitor("mean", mean_);
    visitor("log_scale", log_scale_);
    visitor("logits", logits_);
    SpectralDensity::visit(visitor);
  }

  void fit(const std::vector<double>& frequencies) override {
    const std::size_t H = mean_.shape()[0], K = mean_.shape()[1];
    require(mean_.shape()[2] == 1, "mixture", "EM requires d = 1");
    WeightedRows sizes;
    for (const double w : frequencies) sizes.values.push_back(std::abs(w));
    const double most = *std::ranges::max_element(sizes.values);
    const GaussianMixture learned =
        fit_mixture(sizes, initial_mixture(sizes, K), {.least_variance = 1e-6 * most * most})
            .mixture;
    for (std::size_t i = 0; i < H * K; ++i) {
      const GaussianComponent& one = learned.components[i % K];
      mean_.value().data()[i] = real(one.mean[0]);
      log_scale_.value().data()[i] = real(std::log(one.covariance[0]) / 2);
      logits_.value().data()[i] = real(std::log(one.share + 1e-6));
    }
  }

  PointFunction kernel(std::size_t head) override {
    return [all = components(head)](const double* lag) {
      double sum = 0;
      for (const Component& one : all) sum += one.kernel(lag);
      return sum;
    };
  }

  std::unique_ptr<KernelCurve> curve(std::size_t head) const override {
    return mixture_curve(values_of(mean_, head), values_of(log_scale_, head),
                         values_of(logits_, head));
  }

  Var log_densities(Tape& tape, const Var& points) override {
    const std::size_t H = points.dim(0), m = points.dim(1), d = points.dim(2);
    const std::size_t K = mean_.shape()[1];
    const auto by_component = [&](const Var& x) { return reshape(x, {H, 1, K, d}); };
    const Var log_scale = by_component(tape(log_scale_)), logits = tape(logits_);
    const Var s = (reshape(points, {H, m, 1, d}) - by_component(tape(mean_))) * exp(-log_scale);
    const Var logs = log_normal_densities(s) - sum(log_scale, -1, keep);
    return logsumexp(reshape(logs, {H, m, K}) + logits, {-1}) -
           reshape(logsumexp(logits, {-1}), {H, 1});
  }

  PointFunction log_density(std::size_t head) override { return log_density_of(components(head)); }

  PointFunction log_marginal(std::size_t head, std::size_t coordinate) override {
    std::vector<Component> all = components(head);
    for (Component& one : all)
      one = {one.log_weight, {one.mean[coordinate]}, {one.log_scale[coordinate]}};
    return log_density_of(std::move(all));
  }

 protected:
  /// Keeps the distances of means in units of the scale.
  void set_log_scale(const std::vector<double>& log_scale) override {
    const std::size_t K = mean_.shape()[1], d = mean_.shape()[2];
    for (std::size_t i = 0; i < mean_.value().size(); ++i) {
      real& now = log_scale_.value().data()[i];
      const double target = log_scale[i / (K * d) * d + i % d];
      mean_.value().data()[i] *= real(std::exp(target - double(now)));
      now = real(target);
    }
  }

 private:
  static PointFunction log_density_of(std::vector<Component> components) {
    return [all = std::move(components)](const double* w) {
      std::vector<double> terms;
      for (const Component& one : all) terms.push_back(one.log_density(w));
      return log_sum_exp<double>(terms);
    };
  }
  std::vector<Component> components(std::size_t head) const {
    const std::size_t K = mean_.shape()[1], d = mean_.shape()[2];
    const std::vector<double> logits = values_of(logits_, head);
    const double total = log_sum_exp<double>(logits);
    std::vector<Component> all;
    for (std::size_t c = 0; c < K; ++c) {
      const real* mean = mean_.value().data() + (head * K + c) * d;
      const real* log_scale = log_scale_.value().data() + (head * K + c) * d;
      all.push_back({logits[c] - total, std::vector<double>(mean, mean + d),
                     std::vector<double>(log_scale, log_scale + d)});
    }
    return all;
  }

  double temperature_;
  Parameter mean_, log_scale_;  // (H, K, d)
  Parameter logits_;            // (H, 1, K)
};

}  // namespace

void add_mixture(Densities& all) { all.add("mixture", make<MixtureDensity>); }

}  // namespace bochner::inline BOCHNER_PRECISION
