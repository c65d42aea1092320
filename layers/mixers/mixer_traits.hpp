#pragma once
#include <algorithm>
#include <string>
#include <vector>

namespace bochner {

/// What a kind of mixer has, given with its name: mixers().add("mine", make<Mine>, {.heads =
/// true}), or as a function of its Spec. Stacks of several kinds leave out what one of them lacks,
/// checks of configs and pages ask it; a kind that says nothing has none of it, but may have
/// features.
struct MixerTraits {
  bool heads = false;                          ///< they must divide the width
  bool queries = false;                        ///< and keys, that may be rotated and normalized
  bool times = false;                          ///< may enter them, see TimeAttention
  bool shows_attention = false;                ///< to an AttentionObserver
  std::vector<std::string> time_kernels = {};  ///< other than "none"
  bool channel_rates = false;                  ///< time_kernel.per = "channel"
  bool window = false;
  bool convolution = false;  ///< the short one of the Spec
  bool gaps = false;         ///< takes tokens at irregular distances
  bool any_order = false;    ///< of tokens, where all see all: time kernel, convolution and rotary
                             ///< positions give them one
  bool features = true;      ///< reads the Spec of feature maps, their densities and denominators

  bool has_time_kernel(const std::string& kind) const {
    return kind == "none" || std::ranges::find(time_kernels, kind) != time_kernels.end();
  }
};

}  // namespace bochner
