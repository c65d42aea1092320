#include <bochner/autodiff/ops.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/basic/standardization.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Added to the variance of a window, in units of the training data.
constexpr double epsilon = 1e-5;

}  // namespace

Standardize::Standardize(std::size_t variates, std::size_t series) : variates_(variates) {
  const Shape shape = series == 1 ? Shape{variates} : Shape{series, variates};
  mean_ = zeros(shape);
  deviation_ = filled(shape, real(1));
}

void Standardize::set(const std::vector<double>& mean, const std::vector<double>& deviation) {
  require(mean.size() == mean_.size() && deviation.size() == mean_.size(), "standardize", "got ",
          mean.size(), " means and ", deviation.size(), " deviations for ", mean_.size(),
          " variates");
  for (std::size_t v = 0; v < mean.size(); ++v) {
    mean_.data()[v] = real(mean[v]);
    deviation_.data()[v] = deviation[v] > 0 ? real(deviation[v]) : real(1);
  }
}

template <class Change>
void Standardize::change_variates(Tensor& x, const std::vector<std::size_t>& series,
                                  const Change& change) const {
  const std::size_t V = variates_;
  require(x.dimension() >= 2 && x.shape()[1] == V, "standardize", "x must be (B, ", V,
          ", ..), not ", x.shape());
  for (const std::size_t one : series)
    require(one < mean_.size() / V && series.size() == x.shape()[0], "standardize", "series ", one,
            " of ", mean_.size() / V, " for a batch of ", x.shape()[0]);
  if (x.size() == 0) return;
  const std::size_t rows = x.shape()[0] * V, columns = x.size() / rows;
  parallel_rows(rows, columns, [&](std::size_t row) {
    real* values = x.data() + row * columns;
    const std::size_t unit = (series.empty() ? 0 : series[row / V]) * V + row % V;
    const real mean = mean_.data()[unit], deviation = deviation_.data()[unit];
    for (std::size_t i = 0; i < columns; ++i) values[i] = change(values[i], mean, deviation);
  });
}

void Standardize::apply(Tensor& x, const std::vector<std::size_t>& series) const {
  change_variates(x, series,
                  [](real u, real mean, real deviation) { return (u - mean) / deviation; });
}

void Standardize::undo(Tensor& x, const std::vector<std::size_t>& series) const {
  change_variates(x, series,
                  [](real u, real mean, real deviation) { return u * deviation + mean; });
}

InstanceNorm::InstanceNorm(const InstanceNormSpec& spec, std::size_t variates)
    : spec_(spec), gain_(filled({variates, 1}, real(1))), bias_({variates, 1}) {
  require(spec.kind == "none" || spec.kind == "last" || spec.kind == "mean" || spec.kind == "revin",
          "instance_norm", "unknown kind \"", spec.kind, "\"; choose none, last, mean, revin");
}

InstanceNorm::Statistics InstanceNorm::statistics_of(const Var& window) const {
  Statistics statistics;
  if (spec_.kind == "last")
    statistics.center = slice(window, -1, window.dim(-1) - 1, window.dim(-1));
  if (spec_.kind == "mean" || spec_.kind == "revin") statistics.center = mean(window, {-1}, keep);
  if (spec_.kind == "revin") statistics.deviation = sqrt(variance(window, {-1}, keep) + epsilon);
  return statistics;
}

Var InstanceNorm::apply(Tape& tape, const Var& x, const Statistics& statistics) {
  Var y = statistics.center.exists() ? x - statistics.center : x;
  if (statistics.deviation.exists()) y = y / statistics.deviation;
  return spec_.affine ? y * tape(gain_) + tape(bias_) : y;
}

Var InstanceNorm::undo(Tape& tape, const Var& x, const Statistics& statistics) {
  Var y = spec_.affine ? (x - tape(bias_)) / tape(gain_) : x;
  if (statistics.deviation.exists()) y = y * statistics.deviation;
  return statistics.center.exists() ? y + statistics.center : y;
}

}  // namespace bochner::inline BOCHNER_PRECISION
