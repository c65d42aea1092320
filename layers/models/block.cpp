#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/base/text.hpp>
#include <bochner/layers/models/block.hpp>
#include <ranges>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

StackObserver* observer_of(const Tape& tape) { return dynamic_cast<StackObserver*>(tape.observer); }

void show_input(const Tape& tape, Module& part, const StackInput& what) {
  if (StackObserver* observer = observer_of(tape)) observer->on_input(part, what);
}

/// Sets the mixer's kind, one of several in a stack, and disables what it does not support.
void choose(const std::string& kind, MixerSpec& mixer) {
  mixer.kind = kind;
  const MixerTraits has = mixers().traits(kind, mixer);
  if (!has.has_time_kernel(mixer.time_kernel.kind)) mixer.time_kernel.kind = "none";
  if (!has.channel_rates) mixer.time_kernel.per = "head";
  if (!has.convolution) mixer.convolution = 0;
  if (!has.window) mixer.window = 0;
  if (!has.times) mixer.time.kind = "none";
  if (!has.queries) mixer.rotary = false;
  if (!has.normalize) mixer.normalize = "none";
}

/// Returns the mixer of a block.
const std::string& mixer_kind(const StackSpec& spec, std::size_t index) {
  return spec.pattern.empty() ? spec.block.mixer.kind : spec.pattern[index % spec.pattern.size()];
}

/// Returns what the values of a block are; the first ones are those of the first mixer with values.
ValueRole value_role(const StackSpec& spec, std::size_t index) {
  const auto has_values = [&](std::size_t i) {
    return mixers().traits(mixer_kind(spec, i), spec.block.mixer).values;
  };
  if (!spec.value_residual || !has_values(index)) return ValueRole::own;
  for (std::size_t i = 0; i < index; ++i)
    if (has_values(i)) return ValueRole::later;
  return ValueRole::first;
}

}  // namespace

BlockSpec block_spec(const StackSpec& spec, std::size_t index,
                     const std::shared_ptr<StackPlace::Shared>& shared) {
  BlockSpec block = spec.block;
  block.mixer.width = block.width;
  block.mixer.rotary = spec.positions == "rotary";
  if (!spec.pattern.empty()) choose(mixer_kind(spec, index), block.mixer);
  block.mixer.values = value_role(spec, index);
  block.mixer.features.density.seed += index;
  block.mixer.time.density.seed += index;
  block.mixer.time_kernel.density.seed += index;
  block.mixer.place = {index, spec.blocks, shared};
  return block;
}

void require_causal_norm(const StackSpec& spec, const char* model) {
  require(!norms().traits(spec.block.norm, {spec.block.width}).crosses_tokens, model, "the norm \"",
          spec.block.norm, "\" leaks future tokens in training; set norm to layer or rms");
}

Block::Block(const BlockSpec& spec)
    : mixer_norm_(make_norm(spec)),
      mixer_(mixers().make(spec.mixer.kind, spec.mixer)),
      dropout_(spec.dropout),
      depth_(spec.stochastic_depth * double(spec.mixer.place.block + 1) /
             double(spec.mixer.place.blocks)),
      zero_init_(spec.zero_init) {
  if (spec.mlp == "glu") gate_ = std::make_unique<GatedOutput>(spec.width);
  if (spec.mlp == "glu" || spec.mlp == "none") return;
  mlp_norm_ = make_norm(spec);
  mlp_ = mlps().make(spec.mlp, {spec.width, spec.width * spec.expansion, spec.own});
}

void Block::initialized() {
  if (!zero_init_) return;
  bool leaves_mixer = gate_ != nullptr, leaves_mlp = mlp_ == nullptr;
  for (const auto& [name, parameter] : parameters_of(*this)) {
    const bool of_mixer = gate_ ? matches("gate.*", name)
                                : matches("mixer.*output.weight", name) ||
                                      matches("mixer.*output.bias", name) ||
                                      matches("mixer.*output.value.*", name);
    const bool of_mlp = matches("mlp.down.*", name);
    if (!of_mixer && !of_mlp) continue;
    leaves_mixer = leaves_mixer || of_mixer, leaves_mlp = leaves_mlp || of_mlp;
    parameter->value().fill(0);
    parameter->mark_initialized();
  }
  require(leaves_mixer && leaves_mlp, "model",
          "zero_init needs a map out of the mixer, a part called \"output\", and out of the MLP, "
          "called \"down\"");
}

Var Block::forward(Tape& tape, const Var& x, const Layout& layout) {
  return feed(tape, mix(tape, x, layout), layout);
}

Var Block::mix(Tape& tape, const Var& x, const Layout& layout) {
  show_input(tape, *this, {x, layout, {}});
  Normed normed(x, *mixer_norm_, layout.lengths);
  if (observer_of(tape)) show_input(tape, *mixer_, {normed.rows(tape), layout, {}});
  if (!gate_ && !drops(tape)) return mixer_->forward_add(tape, x, normed, layout);
  const Var mixed = mixer_->forward(tape, normed.take_rows(tape), layout);
  return add_residual(tape, x, mixed);
}

std::unique_ptr<MixerState> Block::start() const {
  auto state = mixer_->start();
  require(state != nullptr, "mixer",
          "start() returned null; return a MixerState if there is no state");
  return state;
}

Var Block::add_residual(Tape& tape, const Var& x, const Var& mixed) {
  require_same_shape(mixed, x);
  const Var gated = gate_ ? gate_->forward(tape, mixed) : mixed;
  return x + depth_.forward(tape, dropout_.forward(tape, gated));
}

Var Block::feed(Tape& tape, const Var& x, const Layout& layout) {
  if (!mlp_) return x;
  if (!drops(tape)) return mlp_->forward_residual(tape, x, *mlp_norm_, layout.lengths);
  const Var normed = mlp_norm_->forward(tape, x, layout.lengths);
  return x + depth_.forward(tape, dropout_.forward(tape, mlp_->forward(tape, normed)));
}

void Block::visit(Visitor& visitor) {
  visitor("mixer_norm", *mixer_norm_);
  visitor("mixer", *mixer_);
  if (gate_) visitor("gate", *gate_);
  if (!mlp_) return;
  visitor("mlp_norm", *mlp_norm_);
  visitor("mlp", *mlp_);
}

BlockStack::BlockStack(const StackSpec& spec)
    : width_(spec.block.width),
      repeat_(spec.repeat),
      checkpoint_(spec.checkpoint),
      input_residual_(spec.input_residual),
      value_residual_(spec.value_residual),
      residual_scale_(filled({spec.input_residual ? spec.blocks * spec.repeat : 0}, real(1))),
      input_scale_(zeros(residual_scale_.shape())),
      norm_(make_norm(spec.block)) {
  const MixerSpec& mixer = spec.block.mixer;
  require(!mixer.causal || mixer.directions != 2, "mixer",
          "directions = 2 shows tokens what this model has to predict; set it to 1");
  const auto shared = std::make_shared<StackPlace::Shared>();
  for (std::size_t i = 0; i < spec.blocks; ++i)
    blocks_.push_back(std::make_unique<Block>(block_spec(spec, i, shared)));
  const auto has_role = [&](std::size_t i) { return value_role(spec, i) == ValueRole::later; };
  require(
      !value_residual_ || std::ranges::any_of(std::views::iota(0u, spec.blocks), has_role), "model",
      "value_residual needs two blocks whose mixers have values: softmax, linear or log_linear");
}

Var BlockStack::forward(Tape& tape, const Var& x, const Layout& layout, const Var& each) {
  require(x.rank() == 3 && x.dim(2) == width_, "blocks", "tokens must be (B, T, ", width_,
          "), not ", x.shape());
  show_input(tape, *this, {x, layout, each});
  Layout shared;
  if (value_residual_) {
    shared = layout;
    shared.first_values = std::make_shared<FirstValues>();
  }
  Var y = x;
  for (std::size_t i = 0; i < depth(); ++i)
    y = run(block(i), tape, input(tape, i, y, x, each), value_residual_ ? shared : layout);
  return norm_->forward(tape, y, layout.lengths);
}

Var BlockStack::input(Tape& tape, std::size_t i, const Var& x, const Var& first, const Var& each) {
  Var y = x;
  if (input_residual_)
    y = x * slice(tape(residual_scale_), 0, i, i + 1) +
        first * slice(tape(input_scale_), 0, i, i + 1);
  return each.exists() ? y + each : y;
}

/// Runs a block, with checkpoints per half: the mixer's activations are freed before the MLP's
/// hidden ones, the largest arrays, are recomputed.
Var BlockStack::run(Block& block, Tape& tape, const Var& x, const Layout& layout) {
  if (!checkpoint_) return block.forward(tape, x, layout);
  const auto mix = [&block, layout](Tape& segment, const Var& input) {
    return block.mix(segment, input, layout);
  };
  const auto feed = [&block, layout](Tape& segment, const Var& input) {
    return block.feed(segment, input, layout);
  };
  const Var mixed =
      value_residual_ ? mix_with_values(block, tape, x, layout) : checkpoint(tape, mix, x);
  return block.has_mlp() ? checkpoint(tape, feed, mixed) : mixed;
}

Var BlockStack::mix_with_values(Block& block, Tape& tape, const Var& x, const Layout& layout) {
  Var& first = layout.first_values->v;
  const bool given = first.exists();
  Layout kept = layout;  // without the values, which own the segment that keeps this
  kept.first_values = nullptr;
  const auto mix = [&block, kept, given, width = width_](Tape& segment, const Var& input) {
    Layout own = kept;
    own.first_values = std::make_shared<FirstValues>();
    Var& v = own.first_values->v;
    if (given) v = slice(input, -1, width, 2 * width);
    const Var mixed = block.mix(segment, given ? slice(input, -1, 0, width) : input, own);
    return given || !v.exists() ? mixed : concat({mixed, reshape(v, mixed.shape())}, -1);
  };
  const Var y = checkpoint(tape, mix, given ? concat({x, reshape(first, x.shape())}, -1) : x);
  if (y.dim(2) == width_) return y;
  first = slice(y, -1, width_, 2 * width_);
  return slice(y, -1, 0, width_);
}

Var BlockStack::step(Tape& tape, const Var& x, State& state, double gap, const Var& each) {
  require(x.rank() == 3 && x.dim(1) == 1 && x.dim(2) == width_, "blocks",
          "the next tokens must be (B, 1, ", width_, "), not ", x.shape());
  require(state.size() == depth(), "blocks", "the state has ", state.size(), " blocks, expected ",
          depth(), "; use start()");
  const auto first = value_residual_ ? std::make_shared<FirstValues>() : nullptr;
  Var y = x;
  for (std::size_t i = 0; i < depth(); ++i) {
    state[i]->gap = gap;
    state[i]->first_values = first;
    y = block(i).step(tape, input(tape, i, y, x, each), *state[i]);
    state[i]->first_values = nullptr;
  }
  return norm_->forward(tape, y);
}

}  // namespace bochner::inline BOCHNER_PRECISION
