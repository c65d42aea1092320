#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/attention/projections.hpp>
#include <bochner/layers/mixers/mixers.hpp>
#include <bochner/layers/recurrences/diagonal_system.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

std::string output_kind(const SsmSpec& spec) {
  if (spec.output != "form") return spec.output;
  if (spec.form == "s5") return "half_glu";
  return spec.form == "s4d" || spec.form == "lru" ? "glu" : "linear";
}

std::unique_ptr<DiagonalSystem> make_system(const SsmSpec& spec, std::size_t width, bool causal) {
  const std::string& form = spec.form;
  require(form == "s4d" || form == "dss" || form == "s5" || form == "lru" || form == "ema", "ssm",
          "no form is called \"", form, "\"; there are: s4d, dss, s5, lru, ema");
  return form == "s5" || form == "lru" ? make_shared_states(spec, width, causal)
                                       : make_channel_states(spec, width, causal);
}

/// Output layer of the papers: with x = gelu(y), or silu(y) for EMA, "glu" W x sigmoid(V x),
/// "half_glu" y sigmoid(V x), "linear" W x, "none" y. (.., D) -> (.., D)
class StateOutput : public Module {
 public:
  StateOutput(const SsmSpec& spec, std::size_t width)
      : kind_(output_kind(spec)), silu_(spec.form == "ema") {
    require(kind_ == "glu" || kind_ == "half_glu" || kind_ == "linear" || kind_ == "none", "ssm",
            "no output is called \"", kind_, "\"; there are: form, glu, half_glu, linear, none");
    if (kind_ == "glu" || kind_ == "linear") value_ = std::make_unique<Linear>(width, width);
    if (kind_ == "glu" || kind_ == "half_glu") gate_ = std::make_unique<Linear>(width, width);
  }

  Var forward(Tape& tape, const Var& y) {
    if (kind_ == "none") return y;
    const Var x = silu_ ? silu(y) : gelu(y);
    const Var value = value_ ? value_->forward(tape, x) : y;
    return gate_ ? value * sigmoid(gate_->forward(tape, x)) : value;
  }

  void visit(Visitor& visitor) override {
    if (value_) visitor("value", *value_);
    if (gate_) visitor("gate", *gate_);
  }

 private:
  std::string kind_;
  bool silu_;
  std::unique_ptr<Linear> value_, gate_;
};

/// Diagonal state space with a skip d o u and the published output; constant memory per step.
class SsmMixer : public Mixer {
 public:
  SsmMixer(const MixerSpec& spec, const SsmSpec& own)
      : causal_(spec.causal),
        convolution_(spec.convolution, spec.width),
        system_(make_system(own, spec.width, spec.causal)),
        skip_({spec.width}, Initial::normal(1)),
        output_(own, spec.width) {
    require_traits(spec);
  }

  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    const Var u = convolution_.forward(tape, x);
    return output(tape, u, system_->forward(tape, u, layout));
  }

  std::unique_ptr<MixerState> start() const override { return std::make_unique<TensorState>(); }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    require_causal_step(causal_, "ssm");
    auto& past = static_cast<TensorState&>(state);
    const double gap = ++past.position == 1 ? 1 : past.gap;
    if (past.values.dimension() == 0) past.values = system_->start(x.dim(0));
    past.recent.resize(1);
    const Var u = convolution_.step(tape, x, past.recent[0]);
    return output(tape, u, system_->step(tape, u, past.values, gap));
  }

  void visit(Visitor& visitor) override {
    visitor("convolution", convolution_);
    visitor("system", *system_);
    visitor("skip", skip_);
    visitor("output", output_);
  }

 private:
  Var output(Tape& tape, const Var& u, const Var& y) {
    return output_.forward(tape, y + tape(skip_) * u);
  }

  bool causal_;
  ShortConvolution convolution_;
  std::unique_ptr<DiagonalSystem> system_;
  Parameter skip_;
  StateOutput output_;
};

MixerTraits ssm_traits(const MixerSpec& spec) {
  return {.convolution = true,
          .gaps = spec.own.of<SsmSpec>().form == "s5",
          .carries = true,
          .features = false};
}

}  // namespace

void add_ssm(Mixers& all) { all.add("ssm", make<SsmMixer, SsmSpec>, ssm_traits); }

}  // namespace bochner::inline BOCHNER_PRECISION
