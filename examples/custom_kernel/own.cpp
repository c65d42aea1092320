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

/// h_t = a h_(t-1) + (1 - a) W x_t with a learned decay per channel, then a linear map.
class Fading : public Mixer {
 public:
  explicit Fading(const MixerSpec& spec)
      : causal_(spec.causal),
        width_(spec.width),
        input_(spec.width, spec.width),
        output_(spec.width, spec.width),
        decay_({spec.width}, Initial::normal(1)) {}

  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    Var h = scan(tape, x, {}, {false, layout.lengths});
    if (!causal_) h = h + scan(tape, x, {}, {true, layout.lengths});
    return output_.forward(tape, h);
  }

  std::unique_ptr<MixerState> start() const override { return std::make_unique<State>(); }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    auto& past = static_cast<State&>(state);
    if (past.position++ == 0) past.h = zeros({x.dim(0), width_});
    const Var h = scan(tape, x, tape.constant(past.h), {});
    std::copy_n(h.data(), past.h.size(), past.h.data());
    return output_.forward(tape, h);
  }

  void visit(Visitor& visitor) override {
    visitor("input", input_);
    visitor("output", output_);
    visitor("decay", decay_);
  }

 private:
  struct State : MixerState {
    Tensor h;  // (B, D)
  };

  Var scan(Tape& tape, const Var& x, const Var& start, const ScanOptions& options) {
    const Var a = sigmoid(tape(decay_));
    return diagonal_scan(a, (1 - a) * input_.forward(tape, x), start, options);
  }

  bool causal_;
  std::size_t width_;
  Linear input_, output_;
  Parameter decay_;  // (D)
};

int main(int argc, char** argv) {
  densities().add("multiquadric", make<Multiquadric>);
  mixers().add("fading", make<Fading>, {.features = false});
  return cli(argc, argv);
}
