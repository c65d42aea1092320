#include <bochner/layers/encodings/time_encoding.hpp>
#include <bochner/train/run/instruments/density_curves.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/studies/learned_curves.hpp>
#include <bochner/train/studies/time_factor.hpp>

namespace bochner {
namespace {

constexpr double longest_time = 64;  // in units of the encoding
constexpr std::size_t time_points = 321;

void add_density(std::vector<LearnedCurve>& curves, const AttentionLayer& start,
                 const AttentionLayer& now) {
  const auto [first, last, reach, far] = trained_spectrum(*start.density, *now.density);
  for (const bool at_start : {true, false}) {
    const Tensor& frequencies = at_start ? first : last;
    SpectralDensity& density = at_start ? *start.density : *now.density;
    for (std::size_t h = 0; h < frequencies.shape()[0]; ++h) {
      curves.push_back(
          {now.name, "spectrum", h, at_start, spectrum_curve(frequencies, h, -reach, reach)});
      curves.push_back(
          {now.name, "kernel", h, at_start, kernel_curve(density, frequencies, h, far)});
    }
  }
}

void add_time_factor(std::vector<LearnedCurve>& curves, const std::string& layer,
                     const AttentionSample& sample, bool at_start) {
  if (sample.q.dimension() != 4 || sample.rate.dimension() == 0) return;
  const double longest = double(sample.q.shape()[1]);
  for (std::size_t h = 0; h < sample.q.shape()[2]; ++h) {
    curves.push_back({layer, "time_kernel", h, at_start, time_factor(sample, h, longest)});
    if (sample.rotation.dimension() == 3)
      curves.push_back({layer, "time_spectrum", h, at_start, time_spectrum(sample, h, longest)});
  }
}

void add_time_encodings(std::vector<LearnedCurve>& curves, Module& model, bool at_start) {
  for (const NamedPart& part : parts_of(model))
    if (auto* encoding = dynamic_cast<TimeEncoding*>(part.part)) {
      Curve curve{places(0, longest_time, time_points), {}};
      curve.y = estimated_time_kernel(*encoding, curve.x);
      curves.push_back({part.name, "time_encoding", 0, at_start, std::move(curve)});
    }
}

}  // namespace

std::vector<LearnedCurve> learned_curves(Module& start, Module& now,
                                         const std::vector<AttentionSample>& start_samples,
                                         const std::vector<AttentionSample>& samples) {
  const std::vector<AttentionLayer> first = attention_layers(start), last = attention_layers(now);
  std::vector<LearnedCurve> curves;
  for (std::size_t i = 0; i < last.size(); ++i) {
    if (last[i].density) add_density(curves, first[i], last[i]);
    if (i < start_samples.size()) add_time_factor(curves, last[i].name, start_samples[i], true);
    if (i < samples.size()) add_time_factor(curves, last[i].name, samples[i], false);
  }
  add_time_encodings(curves, start, true);
  add_time_encodings(curves, now, false);
  return curves;
}

Json json_of(const LearnedCurve& curve) {
  Json x = Json::array(), y = Json::array();
  for (const double number : curve.points.x) x.push(Json::rounded(number));
  for (const double number : curve.points.y) y.push(Json::rounded(number));
  return {{"part", curve.part},
          {"curve", curve.curve},
          {"head", curve.head},
          {"of", curve.at_start ? "start" : "now"},
          {"x", x},
          {"y", y}};
}

}  // namespace bochner
