#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/models/pooling.hpp>
#include <bochner/layers/models/series_model.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Sums of the values that are not missing.
struct ValueMoments {
  double count = 0, total = 0, squares = 0;

  void add(SeriesValues values) {
    for (const float x : values)
      if (!std::isnan(x)) count += 1, total += double(x), squares += double(x) * double(x);
  }
  double mean() const { return count > 0 ? total / count : 0; }
  /// Returns the deviation; 1 if all values are equal up to rounding.
  double deviation() const {
    const double variance = count > 0 ? squares / count - mean() * mean() : 0;
    return variance > 1e-12 * (1 + mean() * mean()) ? std::sqrt(variance) : 1;
  }
};

SequenceEncoderSpec encoder_spec(const SeriesModelSpec& spec) {
  SequenceEncoderSpec encoder;
  static_cast<StackSpec&>(encoder.trunk) = spec.stack;
  encoder.trunk.length = spec.tokens(spec.length);
  encoder.values = spec.numbers();
  return encoder;
}

/// Writes values and missing indicators of the rows from `first` on. series (channels, rows) ->
/// numbers (rows of the patch, 2 channels). Returns whether there are any values.
bool write_patch(SeriesValues series, std::size_t channels, std::size_t first, std::size_t length,
                 real* numbers) {
  const std::size_t rows = series.size() / channels;
  bool any = false;
  for (std::size_t t = 0; t < length; ++t)
    for (std::size_t c = 0; c < channels; ++c) {
      const bool exists = first + t < rows && !std::isnan(series[c * rows + first + t]);
      real* to = numbers + (t * channels + c) * 2;
      to[0] = exists ? real(series[c * rows + first + t]) : real(0);
      to[1] = exists ? real(0) : real(1);
      any |= exists;
    }
  return any;
}

/// Gives equal shares to the tokens that are seen, or to all if none is.
void write_shares(const std::vector<bool>& seen, real* shares) {
  const auto count = std::count(seen.begin(), seen.end(), true);
  for (std::size_t t = 0; t < seen.size(); ++t)
    if (seen[t] || count == 0) shares[t] = real(1 / double(count > 0 ? count : seen.size()));
}

}  // namespace

std::size_t SeriesModelSpec::tokens(std::size_t rows) const {
  const std::size_t more = rows > patch.length ? rows - patch.length : 0;
  return 1 + (more + patch.stride - 1) / patch.stride + (pooling == "cls" ? 1 : 0);
}

std::size_t SeriesModelSpec::numbers() const {
  return 2 * channels * patch.length + (pooling == "cls" ? 1 : 0);
}

SeriesModel::SeriesModel(const SeriesModelSpec& spec)
    : spec_(checked("series_model", spec)),
      unit_(spec.channels),
      encoder_(encoder_spec(spec)),
      head_(spec.stack.block.width, spec.outputs) {
  checked("series_model", spec.patch);
  require_seen_class_token(spec.pooling, spec.stack, "series_model");
}

void SeriesModel::fit(const std::vector<SeriesValues>& series) {
  std::vector<double> means, deviations;
  for (std::size_t c = 0; c < spec_.channels; ++c) {
    ValueMoments moments;
    for (const SeriesValues one : series) {
      const std::size_t rows = one.size() / spec_.channels;
      moments.add(one.subspan(c * rows, rows));
    }
    means.push_back(moments.mean());
    deviations.push_back(moments.deviation());
  }
  unit_.set(means, deviations);
}

std::vector<float> SeriesModel::standardized(SeriesValues series) const {
  const std::size_t C = spec_.channels, rows = series.size() / C;
  require(rows * C == series.size(), "series_model", series.size(), " values are not rows of ", C,
          " channels");
  const std::vector<double> means = unit_.means(), deviations = unit_.deviations();
  std::vector<float> result(series.size());
  for (std::size_t c = 0; c < C; ++c) {
    double mean = means[c], deviation = deviations[c];
    if (spec_.standardize == "series") {
      ValueMoments own;
      own.add(series.subspan(c * rows, rows));
      mean = own.mean(), deviation = own.deviation();
    }
    for (std::size_t t = 0; t < rows; ++t)
      result[c * rows + t] = float((double(series[c * rows + t]) - mean) / deviation);
  }
  return result;
}

SeriesTokens SeriesModel::tokens(const std::vector<std::vector<float>>& standardized) const {
  const std::size_t B = standardized.size(), C = spec_.channels, F = spec_.numbers(),
                    cls = spec_.pooling == "cls" ? 1 : 0;
  SeriesTokens batch;
  std::size_t T = 1;
  for (const auto& one : standardized) {
    batch.lengths.push_back(spec_.tokens(one.size() / C));
    T = std::max(T, batch.lengths.back());
  }
  batch.values = zeros({B, T, F});
  batch.shares = zeros({B, 1, T});
  for (std::size_t b = 0; b < B; ++b) {
    std::vector<bool> seen(batch.lengths[b]);
    real* numbers = batch.values.data() + b * T * F;
    if (cls) numbers[F - 1] = 1;
    for (std::size_t t = cls; t < seen.size(); ++t)
      seen[t] = write_patch(standardized[b], C, (t - cls) * spec_.patch.stride, spec_.patch.length,
                            numbers + t * F) &&
                !cls;
    if (cls) seen[0] = true;
    write_shares(seen, batch.shares.data() + b * T);
  }
  return batch;
}

Var SeriesModel::forward(Tape& tape, const SeriesTokens& tokens) {
  const EncoderInput input{.values = tokens.values, .lengths = tokens.lengths};
  const Var x = encoder_.encode_tokens(tape, input),
            pooled = matmul(tape.constant(tokens.shares), x);
  return head_.forward(tape, reshape(pooled, {x.dim(0), x.dim(2)}));
}

Var SeriesModel::forward(Tape& tape, const std::vector<SeriesValues>& series) {
  std::vector<std::vector<float>> all;
  for (const SeriesValues one : series) all.push_back(standardized(one));
  return forward(tape, tokens(all));
}

void SeriesModel::visit(Visitor& visitor) {
  visitor("unit", unit_);
  encoder_.visit(visitor);
  visitor("head", head_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
