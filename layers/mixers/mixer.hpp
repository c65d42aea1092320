#pragma once
/// Mixers: layers that move information along a sequence. (B, T, D) -> (B, T, D)

#include <bochner/base/time_array.hpp>
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/module.hpp>
#include <stdexcept>

namespace bochner::inline BOCHNER_PRECISION {

/// What is known of the tokens of a batch besides their content.
struct Layout {
  std::vector<std::size_t> lengths = {};  ///< tokens of each sequence (B); empty: all T
  Tensor gaps = {};  ///< time from the token before, in the unit of tau (B, T); (): 1 each
  Times times = {};  ///< of tokens, where attention sees times, in units of its encoding (B, T)
  bool regular() const { return gaps.dimension() == 0; }
};

/// The same as a reversed sequence meets it: each token's gap is that to the token behind it, 1
/// where there is none. Of irregular times.
Layout reversed_layout(Layout layout);

/// What a mixer remembers between single tokens of some sequences.
struct MixerState {
  virtual ~MixerState() = default;
  std::size_t position = 0;    ///< tokens seen
  double gap = 1;              ///< time from the token before to the next one, in the unit of tau
  double time = 0;             ///< of the token before; the gap of the first is its time
  std::vector<Tensor> recent;  ///< what short convolutions remember, of q, k and v
};

/// What channels have, for the channels of B sequences side by side. (.., D) -> (.., B D)
Var tiled(std::size_t B, const Var& x);

/// Of a mixer that cannot be computed token by token.
struct NoSteps : std::invalid_argument {
  NoSteps();
};

class Mixer : public Module {
 public:
  /// Tokens behind the length of their sequence are as if they were not there. (B, T, D) -> (B, T,
  /// D)
  virtual Var forward(Tape& tape, const Var& x, const Layout& layout = {}) = 0;
  /// residual + forward(): with fewer passes over memory, where a mixer begins with linear maps of
  /// rows and ends in one that adds in its tiles.
  virtual Var forward_add(Tape& tape, const Var& residual, Normed& x, const Layout& layout);
  /// An empty past for step(). A mixer without steps leaves out both, which throw NoSteps then.
  virtual std::unique_ptr<MixerState> start() const;
  /// One token of each of B sequences, as many at every call, whose tokens come at the same times;
  /// is the batch output at its position, up to rounding. Several threads may do so at the same
  /// time, each with a state of its own. (B, 1, D) -> (B, 1, D)
  virtual Var step(Tape& tape, const Var& x, MixerState& state);
};

/// Throws unless what a mixer made of tokens has their shape.
void require_mixed(const Var& mixed, const Var& x);

/// What attention compares: queries and keys (B, T, H, d) as they enter the softmax or the feature
/// map, and the time kernel's rate, its mean over channels where each has one, rotation and
/// modulation as TimeKernel has them.
struct AttentionInputs {
  Var q, k, rate, rotation, modulation;
  bool causal;
  std::vector<std::size_t> lengths = {};  ///< as in Layout: what lies behind is padding
  std::size_t window = 0;                 ///< as in MixerSpec: lags below it are weighed exactly
};
/// An observer of a tape that wants to see that.
struct AttentionObserver : TapeObserver {
  virtual void attended(const Mixer& mixer, const AttentionInputs& what) = 0;
};
/// Called by every mixer that attends.
void show_attention(const Tape& tape, const Mixer& mixer, const AttentionInputs& what);

}  // namespace bochner::inline BOCHNER_PRECISION
