/// Program with faulty mixers, maps, densities, optimizers and schedules, for tests/house/mistakes.
#include <array>
#include <bochner/bochner.hpp>
#include <cmath>
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

/// Scales its tokens by ops with mistakes: `unlisted` forgets the scale among the inputs, `doubled`
/// has a wrong gradient, `detached` uses the value of the scale, `late` has a wrong gradient beyond
/// 64 tokens.
class Scaled : public Stepless {
 public:
  explicit Scaled(const MixerSpec& spec)
      : Stepless(spec), kind_(spec.kind), scale_(filled({1}, real(0.5))) {}
  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    const Var y = Stepless::forward(tape, x, layout), a = tape(scale_);
    if (kind_ == "detached") return y * Var(scale_.value());
    const real factor = scale_.value()(0);
    const bool is_wrong = kind_ == "doubled" || (kind_ == "late" && x.dim(1) > 64);
    std::vector<Var> inputs{y, a};
    if (kind_ == "unlisted") inputs.pop_back();
    return record("scaled", Tensor(y.value() * factor), inputs,
                  [y, a, factor, is_wrong, lists = inputs.size() > 1](Tensor& g) {
                    y.add_gradient(Tensor(g * (is_wrong ? 2 * factor : factor)));
                    if (lists) a.add_gradient(Tensor(g * y.value()));
                  });
  }
  void visit(Visitor& visitor) override {
    Stepless::visit(visitor);
    visitor("scale", scale_);
  }

 private:
  std::string kind_;
  Parameter scale_;
};

/// Sees the first token of the next chunk of 32 from the last one of each.
struct Chunked : Stepless {
  using Stepless::Stepless;
  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    const std::size_t T = x.dim(1), chunk = 32;
    if (T <= chunk) return Stepless::forward(tape, x, layout);
    const Var next = pad(slice(x, 1, chunk, chunk + 1), 1, chunk - 1, T - chunk);
    return Stepless::forward(tape, x + next, layout);
  }
};

struct KeyedSpec {
  bool ahead = false;
};
void describe(Keys& keys, KeyedSpec& spec) { keys("ahead", spec.ahead, "see the next token"); }

/// Sees the next token if its key says so.
struct Keyed : Peeking {
  Keyed(const MixerSpec& spec, const KeyedSpec& own) : Peeking(spec), ahead_(own.ahead) {}
  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    return ahead_ ? Peeking::forward(tape, x, layout) : Stepless::forward(tape, x, layout);
  }

 private:
  bool ahead_;
};

/// Drops a token.
struct Shorter : Stepless {
  using Stepless::Stepless;
  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    return slice(Stepless::forward(tape, x, layout), 1, 0, x.dim(1) - 1);
  }
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

/// `misfit` has the closed forms of another scale, `short` too few frequencies; `baseless` does not
/// visit the base, `noisy` draws noise of its own; `heavy` has no exponential moments.
class Density : public SpectralDensity {
 public:
  explicit Density(const DensitySpec& spec)
      : SpectralDensity(spec),
        kind_(spec.kind),
        log_scale_(filled({spec.heads, 1, spec.dim}, real(spec.log_scale))) {}
  Var sample(Tape& tape, const Var& noise) override {
    const Var w = exp(tape(log_scale_)) * (kind_ == "noisy" ? Var(new_noise(noise)) : noise);
    if (kind_ == "heavy") return w * square(w) * square(w);
    return kind_ == "short" ? slice(w, 1, 0, 1) : w;
  }
  PointFunction kernel(std::size_t) override {
    if (kind_ != "misfit") return {};
    return [](const double* lag) { return std::exp(-(lag[0] * lag[0] + lag[1] * lag[1]) / 2); };
  }
  PointFunction log_density(std::size_t) override {
    if (kind_ != "misfit") return {};
    return [](const double* w) {
      return -std::log(2 * std::numbers::pi) - (w[0] * w[0] + w[1] * w[1]) / 2;
    };
  }
  void visit(Visitor& visitor) override {
    visitor("log_scale", log_scale_);
    if (kind_ != "baseless") SpectralDensity::visit(visitor);
  }

 private:
  static Tensor new_noise(const Var& noise) {
    static std::uint64_t calls = 0;
    Draws draws({calls++, Purpose::test, 0});
    Tensor z = noise.value();
    for (real& one : z) one = real(draws.normal());
    return z;
  }

  std::string kind_;
  Parameter log_scale_;
};

/// `hoarder` keeps the mean gradient in a member in place of a moment, `exploding` divides by 0.
class FaultyOptimizer : public Optimizer {
 public:
  explicit FaultyOptimizer(const OptimizerSpec& spec)
      : Optimizer(spec, {}), hoards_(spec.kind == "hoarder") {}

 private:
  void update(const Piece& piece, double learning_rate, double) override {
    for (std::size_t i = 0; i < piece.size; ++i) {
      real& mean = hoards_ ? means_[piece.parameter][piece.begin + i] : nothing_;
      if (hoards_) mean = real(0.9) * mean + piece.gradient[i];
      piece.weight[i] -= real(learning_rate) * (hoards_ ? mean : piece.gradient[i] / nothing_);
    }
  }

  bool hoards_;
  real nothing_ = 0;
  std::array<std::array<real, 64>, 2> means_ = {};
};

/// `rootless` takes the root of a negative number, `counting` counts its calls.
class FaultySchedule : public LearningRateCurve {
 public:
  explicit FaultySchedule(const Schedule& schedule) : counts_(schedule.kind == "counting") {}
  double at(const ScheduledStep& now) const override {
    static double calls = 0;
    return counts_ ? now.peak / ++calls : now.peak * std::sqrt(50 - double(now.step));
  }

 private:
  bool counts_;
};

int make_faulty_call(const std::string& name);

int main(int argc, char** argv) {
  if (argc == 3 && argv[1] == std::string("call")) return make_faulty_call(argv[2]);
  mixers().add("throwing", make<Faulty>);
  mixers().add("hidden", make<Faulty>);
  mixers().add("one_way", make<Plain>, {.features = false});
  mixers().add("unpadded", make<Unpadded>, {.features = false});
  mixers().add("batched", make<Batched>, {.features = false});
  mixers().add("stepless", make<Stepless>, {.features = false});
  mixers().add("peeking", make<Peeking>, {.features = false});
  mixers().add("forgetful", make<Forgetful>, {.features = false});
  mixers().add("idle", make<Idle>, {.features = false});
  for (const char* kind : {"unlisted", "doubled", "detached", "late"})
    mixers().add(kind, make<Scaled>, {.features = false});
  mixers().add("chunked", make<Chunked>, {.features = false});
  mixers().add("keyed", make<Keyed, KeyedSpec>, {.features = false});
  mixers().add("shorter", make<Shorter>, {.features = false});
  feature_maps().add("lying", make<Map>);
  feature_maps().add("batch_mean", make<Map>);
  for (const char* kind : {"misfit", "short", "baseless", "noisy", "heavy"})
    densities().add(kind, make<Density>);
  optimizers().add("hoarder", make<FaultyOptimizer>);
  optimizers().add("exploding", make<FaultyOptimizer>);
  schedules().add("rootless", make<FaultySchedule>);
  schedules().add("counting", make<FaultySchedule>);
  return cli(argc, argv);
}
