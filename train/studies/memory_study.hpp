#pragma once
/// The memory of a trained model on its own validation data: every mixer, every block and the whole
/// stack, probed; and how attention weights fall with the lag.

#include <bochner/layers/models/block.hpp>
#include <bochner/layers/models/memory_probe.hpp>
#include <bochner/train/tasks/specimens.hpp>

namespace bochner {

struct MemoryOptions {
  ProbeOptions probe = {};
  std::size_t windows = 16;  ///< specimens, evenly spread over all; one sequence of each
  std::size_t length = 0;    ///< of their first tokens; 0 for all
  bool table_only = false;   ///< leave out impulse responses and attention, which it does not show
};

struct PartMemory {
  std::string name;       ///< "blocks.0.mixer", "blocks.0"; "model" from embedding to the last norm
  std::string part = {};  ///< "mixer", "block" or "model"
  std::string mixer = {};  ///< its kind, of a mixer
  Influence influence = {};
  std::vector<double> impulse = {};  ///< see impulse_response(), of a mixer
};

/// Of one head: what its queries give to a key by lag, and the mean difference of its logarithm,
/// the logit, from the lag 0 of the same query.
struct HeadDecay {
  std::vector<double> weight, logit;
};
struct AttentionDecay {
  std::string name;              ///< "blocks.0.mixer"
  bool by_features = false;      ///< weights are those of a feature map
  std::vector<HeadDecay> heads;  ///< on the first validation example
};

struct MemoryStudy {
  MemoryOptions options;
  std::size_t windows = 0, length = 0;  ///< that there were; tokens of the longest
  std::vector<PartMemory> parts = {};   ///< mixers and blocks from the bottom up, then the model
  std::vector<AttentionDecay> attention = {};
};

/// Whether there is a block to probe.
bool has_blocks(Module& model);
/// `stack` names the mixers. Throws std::invalid_argument without specimens and for a model
/// without blocks.
MemoryStudy study_memory(Module& model, const Specimens& specimens, const StackSpec& stack,
                         const MemoryOptions& options = {});

/// Of attention weights (T, T), rows summing to 1; what is not positive has no logit.
HeadDecay decay_of(const Tensor& weights);

/// First lags of bins that are single up to 16 and grow by an eighth from there on, and the number
/// of lags at the end.
std::vector<std::size_t> lag_bins(std::size_t lags);
/// Means over the bins.
std::vector<double> binned(const std::vector<double>& values, const std::vector<std::size_t>& bins);

/// A table for the terminal, and JSON lines.
std::string memory_text(const MemoryStudy& study);
std::string memory_json(const MemoryStudy& study);

}  // namespace bochner
