#include <fmt/format.h>

#include <bochner/layers/features/pff.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/laboratory/learned_pages.hpp>
#include <bochner/train/laboratory/spectrum.hpp>
#include <bochner/train/laboratory/statistics.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// ln lambda of one head as one row: (B, T, H, m) -> (1, B T, m)
Tensor of_head(const Tensor& logs, std::size_t head) {
  const std::size_t H = logs.shape()[2], m = logs.shape()[3], tokens = logs.size() / (H * m);
  Tensor y = uninitialized({1, tokens, m});
  for (std::size_t t = 0; t < tokens; ++t)
    std::copy_n(logs.data() + (t * H + head) * m, m, y.data() + t * m);
  return y;
}

/// Mean over features of the standard deviation over inputs. (1, n, m)
double spread_over_inputs(const Tensor& logs) {
  const std::size_t n = logs.shape()[1], m = logs.shape()[2];
  double total = 0;
  for (std::size_t f = 0; f < m; ++f) {
    std::vector<double> column(n);
    for (std::size_t i = 0; i < n; ++i) column[i] = double(logs.data()[i * m + f]);
    total += deviation_of(column) / double(m);
  }
  return total;
}

std::string lambda_chart(const std::string& layer, WeightedFeatures& map, const Tensor& keys) {
  Tape tape;
  tape.recording = false;
  const Tensor logs = map.log_weights(tape, tape.view(keys)).value();
  const double reach = spectral_reach(of_head(logs, 0));
  double spread = 0;
  const std::size_t H = logs.shape()[2];
  Chart chart{.title = layer + ": λ(x)",
              .x = {"ln λ; 0 at the start"},
              .y = {"density", Scale::linear, 0.0}};
  for (std::size_t h = 0; h < H; ++h) {
    const Tensor head = of_head(logs, h);
    spread += spread_over_inputs(head) / double(H);
    if (h >= most_heads) continue;
    const Curve curve = spectrum_curve(head, 0, -reach, reach);
    chart.series.push_back({.name = fmt::format("head {}", h), .x = curve.x, .y = curve.y});
  }
  chart.note = fmt::format("a feature's ln λ varies by {:.3f} over inputs", spread);
  return draw(chart);
}

}  // namespace

void add_lambda(Page& page, const std::vector<AttentionLayer>& layers,
                const std::vector<AttentionSample>& samples) {
  std::vector<std::string> charts;
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (auto* map = dynamic_cast<WeightedFeatures*>(layers[i].features);
        map && samples[i].k.dimension() == 4)
      charts.push_back(lambda_chart(layers[i].name, *map, samples[i].k));
  if (charts.empty()) return;
  page.section("Learned weights of features",
               "λ(x) of the keys of the first validation example: features with a weight below 1 "
               "were found superfluous there.");
  page.charts(charts);
}

}  // namespace bochner::inline BOCHNER_PRECISION
