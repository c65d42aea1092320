#include <algorithm>
#include <bochner/layers/encodings/time_encoding.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/laboratory/learned_pages.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct NamedEncoding {
  std::string name;
  TimeEncoding* encoding;
};

struct EncodingCollector : Visitor {
  std::vector<NamedEncoding> encodings;
  void on_parameter(const std::string&, Parameter&) override {}
  void on_buffer(const std::string&, Tensor&) override {}
  void on_module(const std::string& name, Module& module) override {
    if (auto* encoding = dynamic_cast<TimeEncoding*>(&module))
      encodings.push_back({name, encoding});
  }
};

std::vector<NamedEncoding> encodings_of(Module& model) {
  EncodingCollector collector;
  model.visit(collector);
  return std::move(collector.encodings);
}

/// Of the features themselves, which estimate the kernel and are what the model sees, over K(0).
Series kernel_series(const std::string& name, TimeEncoding& encoding, double reach) {
  constexpr int points = 321;
  Series series{.name = name, .colour = 0};
  for (int i = 0; i < points; ++i) series.x.push_back(reach * i / (points - 1));
  series.y = estimated_time_kernel(encoding, series.x);
  const double scale = series.y.front() == 0 ? 1 : series.y.front();
  for (double& y : series.y) y /= scale;
  return series;
}

/// To the eye.
bool is_same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(),
                    [](double x, double y) { return std::abs(x - y) < 1e-3; });
}

std::string kernel_chart(const NamedEncoding& start, const NamedEncoding& now, double reach) {
  Chart chart{.title = now.name, .x = {"lag, median gaps"}, .y = {"K(lag) / K(0)"}};
  chart.series = {kernel_series("at the start", *start.encoding, reach),
                  kernel_series("learned", *now.encoding, reach)};
  chart.series[0].mark = Mark::dashed;
  if (const auto kernel = now.encoding->kernel()) {
    Series expected{.name = "in closed form", .x = chart.series[1].x, .colour = 1};
    for (const double lag : expected.x) expected.y.push_back(kernel(lag) / kernel(0));
    if (!is_same(expected.y, chart.series[1].y)) chart.series.push_back(std::move(expected));
  }
  return draw(chart);
}

}  // namespace

void add_time_kernels(Page& page, Module& start, Module& now) {
  const std::vector<NamedEncoding> first = encodings_of(start), last = encodings_of(now);
  if (last.empty()) return;
  std::vector<std::string> charts;
  for (std::size_t i = 0; i < last.size(); ++i)
    for (const double reach : {8.0, 64.0}) charts.push_back(kernel_chart(first[i], last[i], reach));
  page.section(
      "Kernels of time",
      "What encodings of time compare: K(lag) = Φ(t + lag) · Φ(t), at t = 0 where it is no "
      "function of the lag. The closed form is the expectation over drawn frequencies.");
  page.charts(charts);
}

}  // namespace bochner::inline BOCHNER_PRECISION
