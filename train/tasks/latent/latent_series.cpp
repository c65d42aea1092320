#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/data/series/series_windows.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/latent/latent_format.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <cmath>
#include <utility>

namespace bochner {
namespace {

constexpr std::size_t drawn_variates = 3, drawn_windows = 3, drawn_samples = 6,
                      drawn_categories = 8;

/// Conversion of windows (B, V, H) to tokens (B, H / rows, V rows).
struct RowTokens {
  std::size_t variates, window, rows;  ///< V, H, rows of a token

  /// Returns the index in tokens of element i of windows.
  std::size_t place(std::size_t i) const {
    const std::size_t row = i % window, v = i / window % variates, b = i / (variates * window);
    return b * variates * window + row / rows * variates * rows + v * rows + row % rows;
  }

  Observed of(Tensor windows, const VariationalAutoencoder& model) const {
    model.standardize().apply(windows);
    Observed x{uninitialized({windows.shape()[0], window / rows, variates * rows}), {}};
    for (std::size_t i = 0; i < windows.size(); ++i) x.values.data()[place(i)] = windows.data()[i];
    return x;
  }

  /// Returns windows of elements `first` and on of each token. (B, T, n) -> (B, V, H)
  Tensor windows(const Tensor& tokens, std::size_t first) const {
    const std::size_t width = tokens.shape()[2], n = variates * rows;
    Tensor windows = uninitialized({tokens.shape()[0], variates, window});
    for (std::size_t i = 0; i < windows.size(); ++i)
      windows.data()[i] = tokens.data()[place(i) / n * width + first + place(i) % n];
    return windows;
  }
};

RowTokens tokens_of(const Config& config, const SeriesFacts& facts) {
  return {facts.variates, facts.horizon, config.count("model.patch.length")};
}

/// Windows of data.lookback rows, in tokens of some rows of all variates.
class LatentSeriesFormat : public LatentFormat {
 public:
  LatentSeriesFormat(const Config& config, SeriesFacts facts)
      : facts_(std::move(facts)),
        reading_(series_options(config, facts_)),
        targets_(series_columns(config).targets),
        tokens_(tokens_of(config, facts_)) {
    if (tokens_.window % tokens_.rows != 0)
      throw DataError("facts hold windows of ", tokens_.window, " rows, not a multiple of the ",
                      tokens_.rows, " rows of a token");
  }

  std::string facts() const override { return encode_facts(facts_); }
  ReadOptions read_options() const override { return reading_; }
  std::vector<std::string> columns() const override { return facts_.columns; }

  void complete(VaeSpec& spec) const override {
    spec.observed = "real";
    spec.variates = tokens_.variates;
    spec.values = tokens_.rows * spec.variates;
    spec.tokens = tokens_.window / tokens_.rows;
  }

  std::size_t specimens() const override { return facts_.specimens.size(); }
  Observed specimen(std::size_t i, const VariationalAutoencoder& model) const override {
    return tokens_.of(facts_.specimens[i].future, model);
  }

  /// Cuts the table into consecutive windows; drops an incomplete one at the end.
  Observed read(const NamedArray& input, const VariationalAutoencoder& model) const override {
    const TimeSeries series = time_series(input, targets_);
    const std::size_t V = tokens_.variates, H = tokens_.window, B = series.rows() / H;
    if (series.variates() != V || B == 0)
      throw DataError("the input has ", series.rows(), " rows of ", series.variates(),
                      " values; the model needs windows of ", H, " rows of ", V);
    Tensor windows = uninitialized({B, V, H});
    for (std::size_t i = 0; i < windows.size(); ++i)
      windows.data()[i] = real(series.values(i / H % V, i / (V * H) * H + i % H));
    return tokens_.of(std::move(windows), model);
  }

  /// Returns the number of the window, its values and deviations that depend on z. -> (B H, 1 + V)
  /// or (B H, 1 + 2 V)
  NamedArray expected(const Tensor& decoded, const VariationalAutoencoder& model) const override {
    const std::size_t V = tokens_.variates, H = tokens_.window, n = V * tokens_.rows;
    Tensor means = tokens_.windows(decoded, 0);
    model.standardize().undo(means);
    const bool has_deviations = decoded.shape()[2] > n;
    NamedArray table;
    table.values.resize({means.size() / V, 1 + (has_deviations ? 2 * V : V)});
    for (std::size_t row = 0; row < means.size() / V; ++row) table.values(row, 0) = double(row / H);
    for (std::size_t i = 0; i < means.size(); ++i)
      table.values(i / (V * H) * H + i % H, 1 + i / H % V) = double(means.data()[i]);
    table.columns = {"window"};
    const auto& names = facts_.columns;
    for (std::size_t v = 0; v < V; ++v)
      table.columns.push_back(names.empty() ? fmt::format("value_{}", v + 1) : names[v]);
    if (has_deviations) add_deviations(tokens_.windows(decoded, n), model, table);
    return table;
  }
  NamedArray as_array(const Observed& x, const VariationalAutoencoder& model) const override {
    return expected(x.values, model);
  }

  void draw(Page& page, const NamedArray& seen, const NamedArray& expected,
            const NamedArray& samples) const override {
    std::vector<std::string> charts;
    for (std::size_t v = 1; v < std::min(1 + drawn_variates, seen.columns.size()); ++v) {
      Chart both{.title = seen.columns[v] + ", and reconstructions", .x = {"row"}};
      Chart drawn{.title = seen.columns[v] + ", samples of the prior", .x = {"row"}};
      for (std::size_t b = 0; b < std::min(drawn_windows, windows_in(seen)); ++b) {
        both.add("", window(seen, b, v), Mark::line, int(b));
        both.add("", window(expected, b, v), Mark::dashed, int(b));
        add_band(both.series.back(), expected, b, v + seen.columns.size() - 1);
      }
      for (std::size_t b = 0; b < std::min(drawn_samples, windows_in(samples)); ++b)
        drawn.add("", window(samples, b, v));
      charts.insert(charts.end(), {bochner::draw(both), bochner::draw(drawn)});
    }
    page.charts(charts);
  }
  void draw_categories(Page& page, const NamedArray& expected,
                       const std::vector<std::string>& names) const override {
    std::vector<std::string> charts;
    for (std::size_t v = 1; v <= std::min(drawn_variates, tokens_.variates); ++v) {
      Chart chart{.title = expected.columns[v] + ", categories", .x = {"row"}};
      for (std::size_t b = 0; b < std::min(drawn_categories, names.size()); ++b)
        chart.add(names[b], window(expected, b, v));
      charts.push_back(bochner::draw(chart));
    }
    page.charts(charts);
  }

 private:
  /// Appends columns of deviations in the unit of the data. log_variances (B, V, H)
  void add_deviations(const Tensor& log_variances, const VariationalAutoencoder& model,
                      NamedArray& table) const {
    const std::size_t V = tokens_.variates, H = tokens_.window;
    const std::vector<double> units = model.standardize().deviations();
    for (std::size_t i = 0; i < log_variances.size(); ++i)
      table.values(i / (V * H) * H + i % H, 1 + V + i / H % V) =
          units[i / H % V] * std::exp(double(log_variances.data()[i]) / 2);
    for (std::size_t v = 0; v < V; ++v)
      table.columns.push_back(table.columns[1 + v] + "_deviation");
  }
  /// Adds two deviations to both sides of a window, if the table has such a column.
  void add_band(Series& curve, const NamedArray& table, std::size_t b, std::size_t column) const {
    if (column >= table.columns.size()) return;
    const Curve deviations = window(table, b, column);
    for (std::size_t i = 0; i < curve.y.size(); ++i) {
      curve.low.push_back(curve.y[i] - 2 * deviations.y[i]);
      curve.high.push_back(curve.y[i] + 2 * deviations.y[i]);
    }
  }
  std::size_t windows_in(const NamedArray& table) const {
    return table.values.shape()[0] / tokens_.window;
  }
  Curve window(const NamedArray& table, std::size_t b, std::size_t column) const {
    Curve curve;
    const std::size_t H = tokens_.window;
    for (std::size_t row = 0; row < H; ++row) {
      curve.x.push_back(double(row));
      curve.y.push_back(table.values(b * H + row, column));
    }
    return curve;
  }

  SeriesFacts facts_;
  ReadOptions reading_;
  std::vector<std::string> targets_;
  RowTokens tokens_;
};

class LatentSeries : public LatentData {
 public:
  LatentSeries(const Config& config, const KnownFacts& known)
      : LatentSeries(config, read_series(config, known), known) {}

  const Dataset& data() const override { return windows_; }
  std::string facts() const override { return encode_facts(facts_); }

  void fit(VariationalAutoencoder& model) const override {
    const SeriesMoments moments = windows_.moments();
    model.standardize().set(moments.mean, moments.deviation);
  }

  Observed batch(const Examples& examples, const VariationalAutoencoder& model) const override {
    return tokens_.of(windows_.batch(examples).future, model);
  }

 private:
  LatentSeries(const Config& config, SeriesTable table, const KnownFacts& known)
      : windows_(std::move(table.series), windows_spec(config)),
        facts_(series_facts(config, table, windows_, known)),
        tokens_(tokens_of(config, facts_)) {}

  /// Uses the horizon as the window, so that all of it lies in its split, after a lookback of 1.
  static SeriesSpec windows_spec(const Config& config) {
    SeriesSpec spec = series_spec(config);
    spec.horizon = std::exchange(spec.lookback, 1);
    spec.sizes = fmt::format("data.lookback = {}", spec.horizon);
    return spec;
  }

  SeriesWindows windows_;
  SeriesFacts facts_;
  RowTokens tokens_;
};

/// Returns facts for a model without data: windows after one row.
SeriesFacts smallest_facts(const Config& config) {
  SeriesFacts facts = smallest_series_facts(config);
  facts.horizon = std::exchange(facts.lookback, 1);
  return facts;
}

}  // namespace

std::unique_ptr<LatentData> latent_series(const Config& config, const KnownFacts& known) {
  return std::make_unique<LatentSeries>(config, known);
}

std::unique_ptr<LatentFormat> latent_series_format(const Config& config, const KnownFacts& facts) {
  return std::make_unique<LatentSeriesFormat>(
      config, facts.bytes.empty() ? smallest_facts(config) : facts.of<SeriesFacts>());
}

}  // namespace bochner
