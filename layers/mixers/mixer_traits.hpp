#pragma once
#include <algorithm>
#include <string>
#include <vector>

namespace bochner {

/// Features of a kind of mixer, registered with its name: mixers().add("mine", make<Mine>, {.heads
/// = true}), or as a function of its spec. Stacks of several kinds disable what one lacks; config
/// checks and reports read them. Defaults: none, except feature maps.
struct MixerTraits {
  bool heads = false;                          ///< must divide the width
  bool queries = false;                        ///< has queries and keys, to rotate and normalize
  bool times = false;                          ///< takes times in them, see TimeAttention
  bool shows_attention = false;                ///< calls AttentionObserver
  std::vector<std::string> time_kernels = {};  ///< except "none"
  bool channel_rates = false;                  ///< time_kernel.per = "channel"
  bool window = false;
  bool convolution = false;  ///< short convolution of the spec
  bool gaps = false;         ///< takes tokens at irregular distances
  bool any_order = false;    ///< ignores the order of tokens if all see all, without time kernel,
                             ///< convolution and rotary positions
  bool features = true;      ///< reads the spec of feature maps, their densities and denominators

  bool has_time_kernel(const std::string& kind) const {
    return kind == "none" || std::ranges::find(time_kernels, kind) != time_kernels.end();
  }
};

}  // namespace bochner
