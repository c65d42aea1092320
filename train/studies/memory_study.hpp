#pragma once
/// Memory of a trained model on its own validation data: every mixer, every block and the whole
/// stack, probed; and the decay of attention weights with the lag.

#include <bochner/layers/models/block.hpp>
#include <bochner/layers/models/memory_probe.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/specimens.hpp>

namespace bochner {

struct MemoryOptions {
  ProbeOptions probe = {};
  std::size_t windows = 16;  ///< specimens, evenly spread; one sequence each
  std::size_t length = 0;    ///< number of first tokens; 0 for all
  bool table_only = false;   ///< skip impulse responses and attention, which tables do not show
};

struct PartMemory {
  std::string name;       ///< "blocks.0.mixer", "blocks.0"; "model" from embedding to the last norm
  std::string part = {};  ///< "mixer", "block" or "model"
  std::string mixer = {};  ///< kind of a mixer
  Influence influence = {};
  std::vector<double> impulse = {};  ///< of a mixer, see impulse_response()
};

/// Decay of one head: the weight that its queries give to a key by lag, and the mean difference of
/// its logarithm, the logit, from lag 0 of the same query.
struct HeadDecay {
  std::vector<double> weight, logit;
};
struct AttentionDecay {
  std::string name;              ///< "blocks.0.mixer"
  bool by_features = false;      ///< weights of a feature map
  std::vector<HeadDecay> heads;  ///< on the first validation example
};

struct MemoryStudy {
  MemoryOptions options;
  std::size_t windows = 0, length = 0;  ///< number; tokens of the longest
  std::vector<PartMemory> parts = {};   ///< mixers and blocks from the bottom up, then the model
  std::vector<AttentionDecay> attention = {};
};

bool has_blocks(Module& model);
/// Studies a model with these mixers. Throws std::invalid_argument without specimens or blocks.
MemoryStudy study_memory(Module& model, const Specimens& specimens, const StackSpec& stack,
                         const MemoryOptions& options = {});

/// Returns the decay of weights (T, T) of row sums 1; weights that are not positive have no logit.
HeadDecay decay_of(const Tensor& weights);

/// Returns the first lags of bins that have one lag up to 16 and grow by an eighth from there on,
/// and finally the number of lags.
std::vector<std::size_t> lag_bins(std::size_t lags);
std::vector<double> binned(const std::vector<double>& values, const std::vector<std::size_t>& bins);

std::string memory_text(const MemoryStudy& study);
std::string memory_json(const MemoryStudy& study);

/// Adds influence by lag, its cumulated share, impulse responses, and attention by lag.
void add_memory(Page& page, const MemoryStudy& study);

}  // namespace bochner
