#pragma once
/// What a model has learned, as charts and numbers: spectra and kernels, time factors, attention by
/// stage of the sequence, by region of the past and by frequency, filters and state spaces.

#include <bochner/layers/encodings/space_time.hpp>
#include <bochner/layers/impulse_response.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/run/instruments/attention.hpp>
#include <functional>

namespace bochner {

constexpr std::size_t most_heads = 4;       ///< drawn per layer
constexpr std::size_t most_map_layers = 6;  ///< with maps of attention weights

/// Adds spectrum and k(delta) of each layer with a density, at the start and now.
void add_spectra(Page& page, const std::vector<AttentionLayer>& start,
                 const std::vector<AttentionLayer>& now);

/// Adds K(lag) of each time encoding, at the start and now.
void add_time_kernels(Page& page, Module& start, Module& now);

/// Adds the feature weights lambda(x) of each layer that has them, and their dependence on x.
void add_lambda(Page& page, const std::vector<AttentionLayer>& layers,
                const std::vector<AttentionSample>& samples);

/// Adds time kernels, weights by lag, and maps of attention weights, exact and estimated.
void add_attention(Page& page, const std::vector<AttentionLayer>& layers,
                   const std::vector<AttentionSample>& start,
                   const std::vector<AttentionSample>& now);

/// Curve of one head of a layer or an encoding.
struct LearnedCurve {
  std::string part;   ///< "blocks.0.mixer"
  std::string curve;  ///< "spectrum" or "smoothed_draws", "kernel", "time_kernel", "time_spectrum",
                      ///< "time_encoding"
  std::size_t head = 0;
  bool at_start = false;
  Curve points;
};

/// Returns spectra p(omega) and kernels k(delta) of all layers with a density, time kernels K(lag)
/// and their spectra, and kernels of time encodings: at the start and now, at the same places.
std::vector<LearnedCurve> learned_curves(Module& start, Module& now,
                                         const std::vector<AttentionSample>& start_samples,
                                         const std::vector<AttentionSample>& samples);

/// Returns `{"part":"blocks.0.mixer","curve":"kernel","head":0,"of":"now","x":[..],"y":[..]}`.
Json json_of(const LearnedCurve& curve);

/// Numbers of stages, the quarters of a sequence, and of regions: the token itself, the lags 1 to
/// 3, 4 to 15, 16 to 63, and more; bidirectional attention counts later keys like earlier ones.
constexpr std::size_t attention_stages = 4, attention_regions = 5;
/// Returns the mean weight of each region from each stage. (T, T) -> (stages, regions)
Tensor weight_by_region(const Tensor& weights);

/// Returns the share of each frequency in the weights of a head, of sum 1: the mean over queries of
/// its share of the sum of their kernels. Features are those of queries and keys (T, m n), where
/// feature f belongs to frequency f mod m; `factors` (T, T) is the time kernel. -> m
std::vector<double> frequency_shares(const Tensor& q, const Tensor& k, const Tensor& factors,
                                     std::size_t m);

/// Adds the shares of frequencies as charts of each layer, and those of regions as tables unless
/// the tokens have no order.
void add_attention_parts(Page& page, const std::vector<AttentionLayer>& layers,
                         const std::vector<AttentionSample>& samples, bool ordered);

/// Cells of the tokens of an example: frames, each a grid of places. Coordinates with a few evenly
/// spaced values have a cell for each, others equal intervals.
struct PlaceCells {
  std::size_t rows = 1, columns = 1;     ///< of the last two coordinates of places
  std::vector<std::string> frames = {};  ///< names
  /// (frame * rows + row) * columns + column of each token.
  std::vector<std::size_t> of_token = {};
  std::size_t size() const { return frames.size() * rows * columns; }
};
PlaceCells place_cells(const TokenPoints& tokens);
/// Returns the weights of the keys in each cell, mean over the queries; NaN in cells without keys.
/// (n, T) -> cells
std::vector<double> weight_by_place(const Tensor& weights, const PlaceCells& cells);
/// Returns the weights that a layer gives the keys of the first example, by its map if it has one,
/// for a query per row. -> (queries, T) of each head
std::vector<Tensor> weights_of_queries(const AttentionLayer& layer, const AttentionSample& sample,
                                       const std::vector<std::size_t>& queries);
/// Adds maps of the attention of each layer by place and frame.
void add_place_attention(Page& page, const PlacedExample& example,
                         const std::vector<AttentionLayer>& layers,
                         const std::vector<AttentionSample>& samples);

/// Returns loss() without each of the frequencies, whose factors are set to 0 meanwhile.
std::vector<double> losses_without(const std::vector<EncodedFrequency>& frequencies,
                                   const std::function<double()>& loss);
/// Adds how much the validation loss rises without each frequency of an encoding of space and time;
/// nothing for a model without one.
void add_frequency_losses(Page& page, Task& task);

/// Returns K(lag) / K(0) from lag 0 to `longest`; gates at their mean over the tokens.
Curve time_factor(const AttentionSample& sample, std::size_t head, double longest);
/// Returns the density p(nu), nu > 0, whose Fourier transform is K(lag) / K(0): Cauchy densities at
/// 0 and at the head's frequencies, at the resolution of lags up to `longest`.
Curve time_spectrum(const AttentionSample& sample, std::size_t head, double longest);
/// Returns the relative change of the frequencies of all heads; 0 if there are none.
double time_drift(const AttentionSample& now, const AttentionSample& start);

/// Neighbouring channels of a part, with root mean squares over them. Frequencies are in radians
/// per token, above 0 and up to pi.
struct ChannelGroup {
  std::size_t first, count;
  Curve impulse = {};  ///< |h| by lag
  Curve gain = {};     ///< |H(e^(i omega))|
  Curve density = {};  ///< of ln omega, if the response has a density: its closed form, or draws
  bool closed_form = false;        ///< of `density`; else the draws are smoothed
  std::vector<double> draws = {};  ///< omega
  std::size_t half_life = 0;       ///< smallest lag up to which |h| sums to a half
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
