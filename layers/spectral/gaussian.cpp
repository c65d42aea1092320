#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/spectral/densities.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Gaussian s = z. k(delta) = cos(mean . delta) exp(-|scale delta|^2 / 2).
class GaussianDensity : public LocationScaleDensity {
 public:
  using LocationScaleDensity::LocationScaleDensity;
  std::optional<GaussianAxes> gaussian(std::size_t head) const override { return axes(head); }
  std::unique_ptr<KernelCurve> curve(std::size_t head) const override {
    const auto [mean, log_scale] = axes(head);
    return gaussian_curve(mean[0], log_scale[0]);
  }

 protected:
  Var standardized(Tape&, const Var& noise) override { return noise; }
  Characteristic standard_characteristic(std::size_t) override {
    return [d = dim()](const double* t) { return std::exp(-squared_length(t, d) / 2); };
  }
  PointFunction standard_log_density(std::size_t) override {
    return [d = dim()](const double* s) { return log_normal_density(d, squared_length(s, d)); };
  }
  PointFunction standard_log_marginal(std::size_t, std::size_t) override {
    return [](const double* s) { return log_normal_density(1, *s * *s); };
  }
  Var standard_log_densities(Tape&, const Var& s) override { return log_normal_densities(s); }
  std::optional<double> standard_entropy(std::size_t) override { return normal_entropy(dim()); }
};

/// Returns (d, d) with 1 where predicate(row, column).
template <class Predicate>
Tensor mask(std::size_t d, const Predicate& predicate) {
  Tensor ones = zeros({d, d});
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < d; ++j) ones(i, j) = real(predicate(i, j));
  }
  return ones;
}

/// omega = mean + L z, L lower triangular: k(delta) = cos(mean . delta) exp(-|L^T delta|^2 / 2).
class FullGaussianDensity : public SpectralDensity {
 public:
  explicit FullGaussianDensity(const DensitySpec& spec)
      : SpectralDensity(spec),
        mean_({spec.heads, 1, spec.dim}),
        factor_({spec.heads, spec.dim, spec.dim}) {
    set_log_scale(std::vector<double>(spec.heads * spec.dim, spec.log_scale));
  }

  Var sample(Tape& tape, const Var& noise) override {
    const std::size_t d = noise.dim(-1);
    const Var factor = tape(factor_), diagonal = tape.constant(mask(d, std::equal_to<>()));
    const Var below = tape.constant(mask(d, std::greater<>()));
    return tape(mean_) + matmul_nt(noise, factor * below + exp(factor * diagonal) * diagonal);
  }

  void visit(Visitor& visitor) override {
    visitor("mean", mean_);
    visitor("factor", factor_);
    SpectralDensity::visit(visitor);
  }

  PointFunction kernel(std::size_t head) override {
    return [now = snapshot(head)](const double* lag) {
      double phase = 0, square = 0;
      for (std::size_t j = 0; j < now.d; ++j) {
        phase += now.mean[j] * lag[j];
        double projected = 0;  // (L^T lag)_j
        for (std::size_t i = j; i < now.d; ++i) projected += now.factor[i * now.d + j] * lag[i];
        square += projected * projected;
      }
      return std::cos(phase) * std::exp(-square / 2);
    };
  }

  PointFunction log_density(std::size_t head) override {
    return [now = snapshot(head)](const double* w) {
      std::vector<double> z(now.d);  // L z = w - mean, by forward substitution
      for (std::size_t i = 0; i < now.d; ++i) {
        z[i] = w[i] - now.mean[i];
        for (std::size_t j = 0; j < i; ++j) z[i] -= now.factor[i * now.d + j] * z[j];
        z[i] /= now.factor[i * now.d + i];
      }
      return log_normal_density(now.d, squared_length(z.data(), now.d)) - now.log_volume;
    };
  }

  /// N(mean_j, |row j of L|^2).
  PointFunction log_marginal(std::size_t head, std::size_t coordinate) override {
    const Snapshot now = snapshot(head);
    const double variance = squared_length(now.factor.data() + coordinate * now.d, coordinate + 1);
    return [variance, mean = now.mean[coordinate]](const double* w) {
      return log_normal_density(1, std::pow(*w - mean, 2) / variance) - std::log(variance) / 2;
    };
  }

  Var log_densities(Tape& tape, const Var& points) override {
    const std::size_t d = points.dim(-1);
    const Var factor = tape(factor_), centred = points - tape(mean_);
    std::vector<Var> z, diagonal;  // L z = centred, by forward substitution
    for (std::size_t i = 0; i < d; ++i) {
      const Var row = slice(factor, 1, i, i + 1);  // (H, 1, d)
      diagonal.push_back(slice(row, -1, i, i + 1));
      Var rest = slice(centred, -1, i, i + 1);
      if (i > 0) rest = rest - sum(slice(row, -1, 0, i) * concat(z, -1), -1, keep);
      z.push_back(rest * exp(-diagonal.back()));
    }
    const Var logs = log_normal_densities(concat(z, -1)) - sum(concat(diagonal, -1), -1, keep);
    return reshape(logs, {points.dim(0), points.dim(1)});
  }

  std::optional<double> entropy(std::size_t head) override {
    const Snapshot now = snapshot(head);
    return normal_entropy(now.d) + now.log_volume;
  }

 protected:
  void set_log_scale(const std::vector<double>& log_scale) override {
    factor_.value().fill(0);
    const std::size_t d = factor_.shape()[1];
    for (std::size_t i = 0; i < log_scale.size(); ++i)
      factor_.value()(i / d, i % d, i % d) = real(log_scale[i]);
  }

 private:
  struct Snapshot {
    std::size_t d;
    std::vector<double> mean, factor;  // (d), (d, d)
    double log_volume = 0;
  };
  Snapshot snapshot(std::size_t head) const {
    Snapshot now{mean_.shape()[2], values_of(mean_, head), values_of(factor_, head)};
    for (std::size_t j = 0; j < now.d; ++j) {
      double& diagonal = now.factor[j * now.d + j];
      now.log_volume += diagonal;
      diagonal = std::exp(diagonal);
    }
    return now;
  }

  Parameter mean_;    // (H, 1, d)
  Parameter factor_;  // (H, d, d): L, with the logarithm of its diagonal; upper triangle unused
};

/// Frequencies as parameters, initially base draws times exp(log_scale), never redrawn.
class FreeDensity : public SpectralDensity {
 public:
  explicit FreeDensity(const DensitySpec& spec)
      : SpectralDensity(spec), frequencies_({spec.heads, spec.m, spec.dim}) {
    set_log_scale(std::vector<double>(spec.heads * spec.dim, spec.log_scale));
  }

  Var sample(Tape& tape, const Var&) override { return tape(frequencies_); }

  void visit(Visitor& visitor) override {
    visitor("frequencies", frequencies_);
    SpectralDensity::visit(visitor);
  }

  PointFunction kernel(std::size_t head) override {
    const std::size_t m = frequencies_.shape()[1], d = frequencies_.shape()[2];
    return [m, d, w = values_of(frequencies_, head)](const double* lag) {
      double sum = 0;
      for (std::size_t i = 0; i < m; ++i) {
        double phase = 0;
        for (std::size_t j = 0; j < d; ++j) phase += w[i * d + j] * lag[j];
        sum += std::cos(phase) / double(m);
      }
      return sum;
    };
  }

  std::unique_ptr<KernelCurve> curve(std::size_t head) const override {
    return cosine_curve(values_of(frequencies_, head));
  }

 protected:
  void set_log_scale(const std::vector<double>& log_scale) override {
    const std::size_t m = frequencies_.shape()[1], d = frequencies_.shape()[2];
    for (std::size_t i = 0; i < noise().size(); ++i) {
      frequencies_.value().data()[i] =
          real(std::exp(log_scale[i / (m * d) * d + i % d]) * double(noise().data()[i]));
    }
  }

 private:
  Parameter frequencies_;  // (H, m, d)
};

}  // namespace

void add_gaussians(Densities& all) {
  all.add("gaussian", make<GaussianDensity>);
  all.add("gaussian_full", make<FullGaussianDensity>);
}

void add_free(Densities& all) { all.add("free", make<FreeDensity>); }

}  // namespace bochner::inline BOCHNER_PRECISION
