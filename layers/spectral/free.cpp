#include <bochner/layers/spectral/densities.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

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

void add_free(Densities& all) { all.add("free", make<FreeDensity>); }

}  // namespace bochner::inline BOCHNER_PRECISION
