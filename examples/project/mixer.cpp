#include <bochner/bochner.hpp>
using namespace bochner;

/// h_t = a h_(t-1) + (1 - a) W x_t with a learned decay per channel, then a linear map.
class Fading : public Mixer {
 public:
  explicit Fading(const MixerSpec& spec)
      : causal_(spec.causal),
        input_(spec.width, spec.width),
        output_(spec.width, spec.width),
        decay_({spec.width}, Initial::normal(1)) {}

  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    Var h = scan(tape, x, {}, {false, layout.lengths});
    if (!causal_) h = h + scan(tape, x, {}, {true, layout.lengths});
    return output_.forward(tape, h);
  }

  std::unique_ptr<MixerState> start() const override { return std::make_unique<TensorState>(); }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    auto& past = static_cast<TensorState&>(state);
    if (past.position++ == 0) past.values = zeros({x.dim(0), x.dim(2)});
    const Var h = scan(tape, x, tape.constant(past.values), {});
    past.values = reshape(h, past.values.shape()).value();
    return output_.forward(tape, h);
  }

  void visit(Visitor& visitor) override {
    visitor("input", input_), visitor("output", output_), visitor("decay", decay_);
  }

 private:
  Var scan(Tape& tape, const Var& x, const Var& start, const ScanOptions& options) {
    const Var a = sigmoid(tape(decay_));
    return diagonal_scan(a, (1 - a) * input_.forward(tape, x), start, options);
  }
  bool causal_;
  Linear input_, output_;
  Parameter decay_;  // (D)
};

void add_mixer() { mixers().add("fading", make<Fading>, {.features = false}); }
