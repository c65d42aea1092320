#pragma once
/// Mixers: layers that mix information along sequences. (B, T, D) -> (B, T, D)

#include <bochner/base/time_array.hpp>
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/module.hpp>
#include <stdexcept>

namespace bochner::inline BOCHNER_PRECISION {

/// Values of the first block of a stack in one pass, for later blocks, see ValueResidual.
struct FirstValues {
  Var v;  ///< (B, T, H, d), or () before that block
};

/// Lengths and times of the tokens of a batch.
struct Layout {
  std::vector<std::size_t> lengths = {};  ///< tokens of each sequence (B); empty: all T
  Tensor gaps = {};  ///< time since the previous token, in units of tau (B, T); (): all 1
  Times times = {};  ///< times of tokens for attention, in units of its encoding (B, T)
  std::shared_ptr<FirstValues> first_values = {};  ///< of model.value_residual
  bool regular() const { return gaps.dimension() == 0; }
};

/// Returns the layout of reversed sequences: irregular gaps to the next token, 1 for the last.
Layout reversed_layout(Layout layout);

/// State of a mixer between single tokens of B sequences.
struct MixerState {
  virtual ~MixerState() = default;
  std::size_t position = 0;    ///< tokens seen
  double gap = 1;              ///< time from the previous token to the next one, in units of tau
  double time = 0;             ///< of the previous token; the gap of the first is its time
  std::vector<Tensor> recent;  ///< recent tokens of the short convolutions of q, k and v
  std::shared_ptr<FirstValues> first_values = {};  ///< of the next token, as in Layout
};

/// Repeats channel parameters for B sequences. (.., D) -> (.., B D)
Var tiled(std::size_t B, const Var& x);

struct NoSteps : std::invalid_argument {
  NoSteps();
};

class Mixer : public Module {
 public:
  /// Mixes tokens; those from the length of their sequence on are ignored. (B, T, D) -> (B, T, D)
  virtual Var forward(Tape& tape, const Var& x, const Layout& layout = {}) = 0;
  /// Returns residual + forward(). Overrides save memory traffic by fusing the norm and the sum
  /// into the first and last linear maps.
  virtual Var forward_add(Tape& tape, const Var& residual, Normed& x, const Layout& layout);
  /// Returns an empty state for step(). Mixers without steps override neither; both throw NoSteps.
  virtual std::unique_ptr<MixerState> start() const { throw NoSteps(); }
  /// Processes one token of each of B sequences at one time, always the same B; equals the batch
  /// output up to rounding. Thread-safe with separate states. (B, 1, D) -> (B, 1, D)
  virtual Var step(Tape&, const Var&, MixerState&) { throw NoSteps(); }
};

/// Throws unless a mixer's output has the shape of its input.
void require_same_shape(const Var& mixed, const Var& x);

/// Inputs of attention: queries and keys (B, T, H, d) before the softmax or the feature map, and
/// the time kernel's rate (mean over channels), rotation and modulation, see TimeKernel.
struct AttentionInputs {
  Var q, k, rate, rotation, modulation;
  bool causal;
  std::vector<std::size_t> lengths = {};  ///< as in Layout
  std::size_t window = 0;                 ///< as in MixerSpec: smaller lags are exact
};
/// Observer of a tape that receives the inputs of attention.
struct AttentionObserver : TapeObserver {
  virtual void attended(const Mixer& mixer, const AttentionInputs& inputs) = 0;
};
/// Passes the inputs to the tape's observer; called by every mixer that attends.
void show_attention(const Tape& tape, const Mixer& mixer, const AttentionInputs& inputs);

}  // namespace bochner::inline BOCHNER_PRECISION
