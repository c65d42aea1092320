#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/data/series/series_windows.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/latent/latent_data.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <utility>

namespace bochner {
namespace {

constexpr std::size_t drawn_variates = 3, drawn_windows = 3, drawn_samples = 6;

/// Windows of data.lookback rows, in tokens of some rows of all variates.
class LatentSeries : public LatentData {
 public:
  explicit LatentSeries(const Config& config)
      : columns_(series_columns(config)),
        windows_(windows_of(config)),
        rows_(config.count("model.patch.length")) {}

  const Dataset& data() const override { return windows_; }
  Vocabularies names() const override { return windows_.names(); }
  std::vector<std::string> columns() const override { return windows_.series().names; }

  void complete(VaeSpec& spec) const override {
    spec.observed = "real";
    spec.variates = windows_.series().variates();
    spec.values = rows_ * spec.variates;
    spec.tokens = windows_.spec().horizon / rows_;
  }

  void fit(VariationalAutoencoder& model) const override {
    const SeriesMoments moments = windows_.moments();
    model.standardize().set(moments.mean, moments.deviation);
  }

  Observed batch(const Examples& examples, const VariationalAutoencoder& model) const override {
    return tokens_of(windows_.batch(examples).future, model);
  }

  /// Windows one after the other; rows that are left over at the end are not seen.
  Observed read(const NamedArray& input, const VariationalAutoencoder& model) const override {
    const TimeSeries series = time_series(input, columns_.targets);
    const std::size_t V = windows_.series().variates(), H = windows_.spec().horizon,
                      B = series.rows() / H;
    if (series.variates() != V || B == 0)
      throw DataError("the input has ", series.rows(), " rows of ", series.variates(),
                      " values; the model sees windows of ", H, " rows of ", V);
    Tensor windows = uninitialized({B, V, H});
    for (std::size_t i = 0; i < windows.size(); ++i)
      windows.data()[i] = real(series.values(i / H % V, i / (V * H) * H + i % H));
    return tokens_of(std::move(windows), model);
  }

  /// (B H, 1 + V): the number of the window, and its rows
  NamedArray expected(const Tensor& decoded, const VariationalAutoencoder& model) const override {
    const std::size_t V = windows_.series().variates(), H = windows_.spec().horizon,
                      B = decoded.size() / (V * H);
    Tensor windows = uninitialized({B, V, H});
    for (std::size_t i = 0; i < windows.size(); ++i) windows.data()[i] = decoded.data()[place(i)];
    model.standardize().undo(windows);
    NamedArray table;
    table.values.resize({B * H, 1 + V});
    for (std::size_t i = 0; i < windows.size(); ++i)
      table.values(i / (V * H) * H + i % H, 1 + i / H % V) = double(windows.data()[i]);
    for (std::size_t row = 0; row < B * H; ++row) table.values(row, 0) = double(row / H);
    table.columns = {"window"};
    for (std::size_t v = 0; v < V; ++v) {
      const auto& names = windows_.series().names;
      table.columns.push_back(names.empty() ? fmt::format("value_{}", v + 1) : names[v]);
    }
    return table;
  }
  NamedArray as_array(const Observed& x, const VariationalAutoencoder& model) const override {
    return expected(x.values, model);
  }

  void draw(Page& page, const NamedArray& seen, const NamedArray& expected,
            const NamedArray& samples) const override {
    std::vector<std::string> charts;
    for (std::size_t v = 1; v < std::min(1 + drawn_variates, seen.columns.size()); ++v) {
      Chart both{.title = seen.columns[v] + ", and what is expected", .x = {"row"}};
      Chart drawn{.title = seen.columns[v] + ", samples of the prior", .x = {"row"}};
      for (std::size_t b = 0; b < std::min(drawn_windows, windows_in(seen)); ++b) {
        both.add("", window(seen, b, v), Mark::line, int(b));
        both.add("", window(expected, b, v), Mark::dashed, int(b));
      }
      for (std::size_t b = 0; b < std::min(drawn_samples, windows_in(samples)); ++b)
        drawn.add("", window(samples, b, v));
      charts.insert(charts.end(), {bochner::draw(both), bochner::draw(drawn)});
    }
    page.charts(charts);
  }

 private:
  /// They lie within their split, as only what is forecast does, and one row stands before them.
  static SeriesWindows windows_of(const Config& config) {
    auto spec = read_spec<SeriesSpec>(config, "data");
    spec.horizon = std::exchange(spec.lookback, 1);
    spec.seed = config.count("train.seed");
    spec.sizes = fmt::format("data.lookback = {}", spec.horizon);
    return SeriesWindows(read_series(config).series, spec);
  }

  /// Of an element of windows (B, V, H) in tokens (B, H / rows, V rows).
  std::size_t place(std::size_t i) const {
    const std::size_t V = windows_.series().variates(), H = windows_.spec().horizon;
    const std::size_t row = i % H, v = i / H % V, b = i / (V * H);
    return b * V * H + row / rows_ * V * rows_ + v * rows_ + row % rows_;
  }

  Observed tokens_of(Tensor windows, const VariationalAutoencoder& model) const {
    model.standardize().apply(windows);
    const std::size_t B = windows.shape()[0], V = windows.shape()[1], H = windows.shape()[2];
    Observed x{uninitialized({B, H / rows_, V * rows_}), {}};
    for (std::size_t i = 0; i < windows.size(); ++i) x.values.data()[place(i)] = windows.data()[i];
    return x;
  }

  std::size_t windows_in(const NamedArray& table) const {
    return table.values.shape()[0] / windows_.spec().horizon;
  }
  Curve window(const NamedArray& table, std::size_t b, std::size_t column) const {
    Curve curve;
    const std::size_t H = windows_.spec().horizon;
    for (std::size_t row = 0; row < H; ++row) {
      curve.x.push_back(double(row));
      curve.y.push_back(table.values(b * H + row, column));
    }
    return curve;
  }

  SeriesColumns columns_;
  SeriesWindows windows_;
  std::size_t rows_;  // of a token
};

}  // namespace

std::unique_ptr<LatentData> latent_series(const Config& config) {
  return std::make_unique<LatentSeries>(config);
}

}  // namespace bochner
