#include <bochner/bochner.hpp>
#include <cmath>
using namespace bochner;

struct WarmSpec {
  double start = 1;
};
void describe(Keys& keys, WarmSpec& own) {
  keys("start", own.start, above(0), "temperature at the start (warm)");
}

/// Positive features of a learned density with one learned temperature: phi(x) = exp(w_i . y -
/// |y|^2 / 2) / sqrt(m), y = exp(log_temperature) x / d^(1/4).
class Warm : public FeatureMap {
 public:
  Warm(const FeatureSpec& spec, const WarmSpec& own) : density_(make_density(spec.density)) {
    log_temperature_.assign(filled({1}, real(std::log(own.start))));
  }

  /// Returns features. (B, T, H, d) -> (B, T, H, m)
  Features features(Tape& tape, const Var& x) override {
    Var y = x * exp(tape(log_temperature_)) * std::pow(double(x.dim(-1)), -0.25);
    Var w = density_->draws(tape);  // (H, m, d)
    return from_logarithms(project_heads(y, w) - 0.5 * sum(square(y), -1, keep) -
                           0.5 * std::log(double(w.dim(1))));
  }
  bool positive() const override { return true; }  // attention weights are sums of exponentials

  void visit(Visitor& visitor) override {
    visitor("density", *density_);
    visitor("log_temperature", log_temperature_);
  }

 private:
  std::unique_ptr<SpectralDensity> density_;
  Parameter log_temperature_;
};

int main(int argc, char** argv) {
  feature_maps().add("warm", make<Warm, WarmSpec>);
  return cli(argc, argv);
}
