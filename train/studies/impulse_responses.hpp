#pragma once
/// Learned filters and state spaces: impulse response, spectrum, and the density of a filter.

#include <bochner/layers/impulse_response.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>

namespace bochner {

/// Neighbouring channels of a part, with root mean squares over them. Frequencies are in radians
/// per token, above 0 and up to pi.
struct ChannelGroup {
  std::size_t first, count;
  Curve impulse;          ///< |h| by lag
  Curve gain;             ///< |H(e^(i omega))|
  Curve density = {};     ///< of ln omega, if the response has a density; area 1
  std::size_t half_life;  ///< smallest lag up to which |h| sums to a half
};

struct LinearPart {
  std::string name;  ///< "blocks.0.mixer.filter"
  std::vector<ChannelGroup> groups;
};

/// Studies up to four groups of channels over the first 4096 lags.
LinearPart study_linear_part(const std::string& name, ImpulseResponse& part);
/// Studies all linear parts of a model in order.
std::vector<LinearPart> linear_parts(Module& model);

/// Adds charts of each part, those at the start dashed; `start` may be empty.
void add_linear_parts(Page& page, const std::vector<LinearPart>& start,
                      const std::vector<LinearPart>& now);
std::string linear_text(const LinearPart& part);
std::string linear_json(const LinearPart& part);

}  // namespace bochner
