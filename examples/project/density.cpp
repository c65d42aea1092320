#include <bochner/bochner.hpp>
#include <cmath>
using namespace bochner;

/// omega = exp(log_scale) a z with one normal number a per point z: k(delta) = 1 / sqrt(1 + |scale
/// delta|^2), the inverse multiquadric kernel.
class Multiquadric : public SpectralDensity {
 public:
  explicit Multiquadric(const DensitySpec& spec)
      : SpectralDensity(spec, 1),
        log_scale_(filled({spec.heads, 1, spec.dim}, real(spec.log_scale))) {}

  /// Returns frequencies. (H, m, d + 1) -> (H, m, d)
  Var sample(Tape& tape, const Var& noise) override {
    const std::size_t d = noise.dim(-1) - 1;
    return exp(tape(log_scale_)) * slice(noise, -1, d, d + 1) * slice(noise, -1, 0, d);
  }

  PointFunction kernel(std::size_t head) override {
    const std::size_t d = log_scale_.shape()[2];
    const real* first = log_scale_.value().data() + head * d;
    return [log_scale = std::vector<double>(first, first + d)](const double* lag) {
      double square = 0;
      for (std::size_t i = 0; i < log_scale.size(); ++i)
        square += std::pow(std::exp(log_scale[i]) * lag[i], 2);
      return 1 / std::sqrt(1 + square);
    };
  }

  void visit(Visitor& visitor) override {
    visitor("log_scale", log_scale_);
    SpectralDensity::visit(visitor);
  }

 protected:
  void set_log_scale(const std::vector<double>& log_scale) override {
    std::copy(log_scale.begin(), log_scale.end(), log_scale_.value().data());
  }

 private:
  Parameter log_scale_;  // (H, 1, d)
};

void add_density() { densities().add("multiquadric", make<Multiquadric>); }
