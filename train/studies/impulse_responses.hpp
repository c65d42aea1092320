#pragma once
/// What filters and state spaces of a model have learned: the answer to an impulse and its
/// spectrum, beside the density that a filter is the Fourier transform of.

#include <bochner/layers/impulse_response.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>

namespace bochner {

/// Neighbouring channels of a part, root mean squares over them. Frequencies are in radians per
/// token, above 0 and up to pi.
struct ChannelGroup {
  std::size_t first, count;
  Curve impulse;          ///< |h| by lag
  Curve gain;             ///< |H(e^(i omega))|
  Curve density = {};     ///< of ln omega, where the response is made of a density; area 1
  std::size_t half_life;  ///< smallest lag up to which |h| sums to a half
};

struct LinearPart {
  std::string name;  ///< "blocks.0.mixer.filter"
  std::vector<ChannelGroup> groups;
};

/// Up to four groups of channels, over the first 4096 lags, the longest memory that is told apart.
LinearPart study_linear_part(const std::string& name, ImpulseResponse& part);
/// All of a model, in the order of its parts.
std::vector<LinearPart> linear_parts(Module& model);

/// Charts of each part, those at the start dashed; `start` may be empty.
void add_linear_parts(Page& page, const std::vector<LinearPart>& start,
                      const std::vector<LinearPart>& now);
/// A table for the terminal, and a line of JSON.
std::string linear_text(const LinearPart& part);
std::string linear_json(const LinearPart& part);

}  // namespace bochner
