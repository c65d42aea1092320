#pragma once
/// Mixers: layers that move information along a sequence. (B, T, D) -> (B, T, D)

#include <bochner/layers/encodings/time_encoding.hpp>
#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/layers/registry.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The learned factor of attention weights that depends on time alone, see TimeKernel.
struct TimeKernelSpec {
  std::string kind = "none";
  double shortest = 4;   ///< tau of the first head at the start, in tokens
  double longest = 256;  ///< tau of the last head; those between are spaced geometrically
};

/// What linear attention does where features are signed and the sum of weights may vanish: "clip"
/// raises sums below `floor` to it, "smooth" adds `constant` to the kernel, "refuse" throws.
struct DenominatorSpec {
  std::string kind = "clip";
  double floor = 0.1, constant = 1;
};

struct MixerSpec {
  std::string kind = "linear";
  std::size_t width = 128, heads = 4;
  bool causal = true;
  bool rotary = false;          ///< rotate queries and keys by their positions
  std::size_t convolution = 0;  ///< tokens of a short convolution on q, k and v; 0 for none
  FeatureSpec features;  ///< of linear attention; its sizes are filled in from width and heads
  TimeKernelSpec time_kernel;
  TimeEncodingSpec time;  ///< in queries and keys: its use is "attend" or "rotate"
  DenominatorSpec denominator;
  std::size_t chunk = 32;  ///< tokens per chunk of linear attention
  Options own = {};        ///< of mixers added to the registry
};

/// What is known of the tokens of a batch besides their content.
struct Layout {
  std::vector<std::size_t> lengths = {};  ///< tokens of each sequence (B); empty: all T
  Tensor gaps = {};  ///< time from the token before, in the unit of tau (B, T); (): 1 each
  Times times = {};  ///< of tokens, where attention sees times, in units of its encoding (B, T)
  bool regular() const { return gaps.dimension() == 0; }
};

/// What a mixer remembers between single tokens.
struct MixerState {
  virtual ~MixerState() = default;
  std::size_t position = 0;    ///< tokens seen
  double gap = 1;              ///< time from the token before to the next one, in the unit of tau
  double time = 0;             ///< of the token before; the gap of the first is its time
  std::vector<Tensor> recent;  ///< what short convolutions remember, of q, k and v
};

class Mixer : public Module {
 public:
  /// Tokens behind the length of their sequence are as if they were not there. (B, T, D) -> (B, T,
  /// D)
  virtual Var forward(Tape& tape, const Var& x, const Layout& layout = {}) = 0;
  /// An empty past for step().
  virtual std::unique_ptr<MixerState> start() const = 0;
  /// One token of one sequence; equals the batch output at its position. (1, 1, D) -> (1, 1, D)
  virtual Var step(Tape& tape, const Var& x, MixerState& state) = 0;
};

/// What attention compares: queries and keys (B, T, H, d) as they enter the softmax or the feature
/// map, and the time kernel's rate, rotation and turns as TimeKernel has them.
struct Attended {
  Var q, k, rate, rotation, turns;
  bool causal;
};
/// An observer of a tape that wants to see that.
struct AttentionObserver : TapeObserver {
  virtual void attended(const Mixer& mixer, const Attended& what) = 0;
};
/// Called by every mixer that attends.
void show_attention(const Tape& tape, const Mixer& mixer, const Attended& what);

/// The mixers that configs may name: "softmax", "linear".
Registry<Mixer, MixerSpec>& mixers();

}  // namespace bochner::inline BOCHNER_PRECISION
