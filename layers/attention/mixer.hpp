#pragma once
/// Mixers: layers that move information along a sequence. (B, T, D) -> (B, T, D)

#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/layers/registry.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The learned factor exp(-lag / tau) of attention weights, one tau per head.
struct TimeKernelSpec {
  std::string kind = "none";  ///< "none" or "decay"
  double shortest = 4;        ///< tau of the first head at the start, in tokens
  double longest = 256;       ///< tau of the last head; those between are spaced geometrically
};

struct MixerSpec {
  std::string kind = "linear";
  std::size_t width = 128, heads = 4;
  bool causal = true;
  bool rotary = false;          ///< rotate queries and keys by their positions
  std::size_t convolution = 0;  ///< tokens of a short convolution on q, k and v; 0 for none
  FeatureSpec features;  ///< of linear attention; its sizes are filled in from width and heads
  TimeKernelSpec time_kernel;
  std::size_t chunk = 64;  ///< tokens per chunk of linear attention
};

/// What a mixer remembers between single tokens.
struct MixerState {
  virtual ~MixerState() = default;
  std::size_t position = 0;    ///< tokens seen
  std::vector<Tensor> recent;  ///< what short convolutions remember, of q, k and v
};

class Mixer : public Module {
 public:
  /// (B, T, D) -> (B, T, D)
  virtual Var forward(Tape& tape, const Var& x) = 0;
  /// An empty past for step().
  virtual std::unique_ptr<MixerState> start() const = 0;
  /// One token of one sequence; equals the batch output at its position. (1, 1, D) -> (1, 1, D)
  virtual Var step(Tape& tape, const Var& x, MixerState& state) = 0;
};

/// The mixers that configs may name: "softmax", "linear".
Registry<Mixer, MixerSpec>& mixers();

}  // namespace bochner::inline BOCHNER_PRECISION
