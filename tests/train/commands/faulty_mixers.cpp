/// Program with faulty mixers, maps and densities, to test the errors about them.
#include <bochner/bochner.hpp>
#include <numbers>
using namespace bochner;

/// `throwing` throws something other than a std::exception, `hidden` uses parameters that it visits
/// only to initialise them.
class Faulty : public Mixer {
 public:
  explicit Faulty(const MixerSpec& spec)
      : throws_(spec.kind == "throwing"), hidden_(spec.width, spec.width) {
    initialize(hidden_, 1);
  }
  Var forward(Tape& tape, const Var& x, const Layout&) override {
    if (throws_) throw 5;
    return hidden_.forward(tape, x);
  }
  std::unique_ptr<MixerState> start() const override { return std::make_unique<MixerState>(); }
  Var step(Tape& tape, const Var& x, MixerState&) override { return hidden_.forward(tape, x); }
  void visit(Visitor&) override {}

 private:
  bool throws_;
  Linear hidden_;
};

/// Correct linear map of tokens; `one_way` supports one direction only.
class Plain : public Mixer {
 public:
  explicit Plain(const MixerSpec& spec) : causal_(spec.causal), map_(spec.width, spec.width) {
    require(spec.kind != "one_way" || causal_, "one_way", "sees no future");
  }
  Var forward(Tape& tape, const Var& x, const Layout&) override { return map_.forward(tape, x); }
  std::unique_ptr<MixerState> start() const override { return std::make_unique<MixerState>(); }
  Var step(Tape& tape, const Var& x, MixerState&) override { return forward(tape, x, {}); }
  void visit(Visitor& visitor) override { visitor("map", map_); }

 protected:
  bool causal_;

 private:
  Linear map_;
};

/// Sees padding if it sees all tokens.
struct Unpadded : Plain {
  using Plain::Plain;
  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    return Plain::forward(tape, causal_ ? x : x + mean(x, 1, keep), layout);
  }
};

/// Sees the other sequences of the batch.
struct Batched : Plain {
  using Plain::Plain;
  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    return Plain::forward(tape, x + mean(x, 0, keep), layout);
  }
};

class Stepless : public Mixer {
 public:
  explicit Stepless(const MixerSpec& spec) : map_(spec.width, spec.width) {}
  Var forward(Tape& tape, const Var& x, const Layout&) override { return map_.forward(tape, x); }
  void visit(Visitor& visitor) override { visitor("map", map_); }

 private:
  Linear map_;
};

/// Sees the next token.
struct Peeking : Stepless {
  using Stepless::Stepless;
  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    return Stepless::forward(tape, pad(slice(x, 1, 1, x.dim(1)), 1, 0, 1), layout);
  }
};

/// Adds the last token, which steps keep in a member in place of the state.
struct Forgetful : Plain {
  using Plain::Plain;
  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    return Plain::forward(tape, x + pad(slice(x, 1, 0, x.dim(1) - 1), 1, 1, 0), layout);
  }
  Var step(Tape& tape, const Var& x, MixerState& state) override {
    const Var sum = state.position++ == 0 ? x : x + Var(last_);
    last_ = x.value();
    return Plain::forward(tape, sum, {});
  }

 private:
  Tensor last_;
};

/// Visits a parameter that it does not use.
struct Idle : Plain {
  explicit Idle(const MixerSpec& spec) : Plain(spec), idle_({spec.width}) {}
  void visit(Visitor& visitor) override {
    Plain::visit(visitor);
    visitor("idle", idle_);
  }

 private:
  Parameter idle_;
};

/// `lying` has signed features but declares them positive, `batch_mean` adds the batch mean.
class Map : public FeatureMap {
 public:
  explicit Map(const FeatureSpec& spec) : kind_(spec.kind), density_(make_density(spec.density)) {}
  Features features(Tape& tape, const Var& x) override {
    const Var y = project_heads(softmax_scaled(x), density_->draws(tape));
    if (kind_ == "lying") return y;
    return softplus(y + mean(y, 0, keep));
  }
  bool positive() const override { return true; }
  void visit(Visitor& visitor) override { visitor("density", *density_); }

 private:
  std::string kind_;
  std::unique_ptr<SpectralDensity> density_;
};

/// `misfit` has the closed forms of another scale, `short` too few frequencies.
class Density : public SpectralDensity {
 public:
  explicit Density(const DensitySpec& spec)
      : SpectralDensity(spec),
        is_short_(spec.kind == "short"),
        log_scale_(filled({spec.heads, 1, spec.dim}, real(spec.log_scale))) {}
  Var sample(Tape& tape, const Var& noise) override {
    const Var w = exp(tape(log_scale_)) * noise;
    return is_short_ ? slice(w, 1, 0, 1) : w;
  }
  PointFunction kernel(std::size_t) override {
    return [](const double* lag) { return std::exp(-(lag[0] * lag[0] + lag[1] * lag[1]) / 2); };
  }
  PointFunction log_density(std::size_t) override {
    return [](const double* w) {
      return -std::log(2 * std::numbers::pi) - (w[0] * w[0] + w[1] * w[1]) / 2;
    };
  }
  void visit(Visitor& visitor) override {
    visitor("log_scale", log_scale_);
    SpectralDensity::visit(visitor);
  }

 private:
  bool is_short_;
  Parameter log_scale_;
};

int main(int argc, char** argv) {
  mixers().add("throwing", make<Faulty>);
  mixers().add("hidden", make<Faulty>);
  mixers().add("one_way", make<Plain>, {.features = false});
  mixers().add("unpadded", make<Unpadded>, {.features = false});
  mixers().add("batched", make<Batched>, {.features = false});
  mixers().add("stepless", make<Stepless>, {.features = false});
  mixers().add("peeking", make<Peeking>, {.features = false});
  mixers().add("forgetful", make<Forgetful>, {.features = false});
  mixers().add("idle", make<Idle>, {.features = false});
  feature_maps().add("lying", make<Map>);
  feature_maps().add("batch_mean", make<Map>);
  densities().add("misfit", make<Density>);
  densities().add("short", make<Density>);
  return cli(argc, argv);
}
