#include <fmt/format.h>

#include <bochner/layers/features/weights.hpp>
#include <bochner/layers/spectral/base_draws.hpp>
#include <bochner/train/run/instruments/head_metrics.hpp>
#include <bochner/train/run/instruments/kernel_sample.hpp>
#include <bochner/train/run/instruments/trained_study.hpp>
#include <bochner/train/storage/json.hpp>

namespace bochner {
namespace {

/// Redraws coefficients of hybrids independently, and frequencies by the base draws of the run.
struct Redraw : Visitor {
  Redraw(const std::string& of_run, std::size_t dim, std::uint64_t which)
      : draws(of_run), d(dim), seed(which) {}
  void on_parameter(const std::string&, Parameter&) override {}
  void on_buffer(const std::string& name, Tensor& buffer) override {
    const bool of_lambda = name.ends_with("lambda_noise") || name.ends_with("directions");
    if (!of_lambda && !name.ends_with("noise")) return;
    found = true;
    const RandomFunction random{seed, Purpose::spectral,
                                stream_of(("trained study " + name).c_str())};
    buffer = base_draws(of_lambda ? "iid" : draws, buffer.shape()[0], buffer.shape()[1], d,
                        buffer.shape()[2] - d, random);
  }
  std::string draws;
  std::size_t d;
  std::uint64_t seed;
  bool found = false;
};

/// Restores the draws of a map at its end.
class Restored {
 public:
  explicit Restored(FeatureMap& map) : map_(map) {
    for (const NamedTensor& buffer : buffers_of(map)) saved_.push_back(*buffer.tensor);
  }
  ~Restored() {
    const auto buffers = buffers_of(map_);
    for (std::size_t i = 0; i < buffers.size(); ++i) *buffers[i].tensor = saved_[i];
  }
  Restored& operator=(Restored&&) = delete;

 private:
  FeatureMap& map_;
  std::vector<Tensor> saved_;
};

/// Kernels of one head times its time kernel, 0 for keys that a query cannot see; (T, T) in double.
using Kernels = std::vector<double>;

struct Heads {
  std::vector<Kernels> kernels;
  std::vector<HeadFeatures> features;
};

/// Sets kernels of keys in a window to exp(q . k / sqrt(d)), which no draws change.
void weigh_exactly(Kernels& kernels, const Tensor& q, const Tensor& k, double log_unit,
                   const Tensor& factors, std::size_t window) {
  const std::size_t T = q.shape()[0];
  for (std::size_t i = 0; i < T; ++i)
    for (std::size_t j = i + 1 - std::min(i + 1, window); j <= i; ++j)
      kernels[i * T + j] = std::exp(softmax_exponent(row_of(q, i), row_of(k, j)) - log_unit) *
                           double(factors.data()[i * T + j]);
}

/// Computes kernels in units of exp(log_unit of each head), which the first call sets.
Heads kernels_of(FeatureMap& map, const Tensor& q, const Tensor& k,
                 const std::vector<Tensor>& factors, std::size_t window,
                 std::vector<double>& log_units) {
  Heads heads{{}, head_features(map, q, k)};
  for (std::size_t h = 0; h < heads.features.size(); ++h) {
    const auto& [query, key] = heads.features[h];
    if (log_units.size() == h) log_units.push_back(query.log_unit + key.log_unit);
    const double unit = std::exp(query.log_unit + key.log_unit - log_units[h]);
    const Tensor values = products(query, key);
    Kernels& kernels = heads.kernels.emplace_back(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      kernels[i] = unit * double(values.data()[i]) * double(factors[h].data()[i]);
    weigh_exactly(kernels, head_rows(q, h), head_rows(k, h), log_units[h], factors[h], window);
  }
  return heads;
}

/// Redraws the kernels of each head, one set after the other; restores the map.
std::vector<std::vector<Kernels>> redrawn_kernels(FeatureMap& map, const Tensor& q, const Tensor& k,
                                                  const std::vector<Tensor>& factors,
                                                  std::size_t window, const TrainedOptions& options,
                                                  std::vector<double>& log_units) {
  const Restored restored(map);
  std::vector<std::vector<Kernels>> sets(q.shape()[2]);
  for (std::uint64_t set = 1; set <= options.sets; ++set) {
    redraw(map, options.draws, q.shape()[3], set);
    Heads fresh = kernels_of(map, q, k, factors, window, log_units);
    for (std::size_t h = 0; h < sets.size(); ++h) sets[h].push_back(std::move(fresh.kernels[h]));
  }
  return sets;
}

std::vector<double> row_sums(const Kernels& kernels, std::size_t T) {
  std::vector<double> sums(T);
  for (std::size_t i = 0; i < T * T; ++i) sums[i / T] += kernels[i];
  return sums;
}

/// Weights of the exact kernel, to which errors are relative.
struct Exact {
  std::size_t T;
  Kernels weights;
  std::vector<double> sums;
  double size = 0;

  Exact(const std::vector<Kernels>& sets, std::size_t positions)
      : T(positions), weights(T * T), sums(T) {
    for (const Kernels& one : sets)
      for (std::size_t i = 0; i < T * T; ++i) weights[i] += one[i] / double(sets.size());
    sums = row_sums(weights, T);
    for (std::size_t i = 0; i < T * T; ++i) {
      weights[i] = sums[i / T] > 0 ? weights[i] / sums[i / T] : 0;
      size += weights[i] * weights[i];
    }
  }

  /// Squared relative errors of one set: of its weights, a - a* = (N - a* D) / D for kernels N with
  /// row sums D, and linearised, (N - a* D) / D*. For signed kernels, whose sums may vanish, the
  /// error of the kernel itself, (N - N*) / D*.
  struct Squares {
    double weights = 0, linear = 0;
  };
  Squares squares_of(const Kernels& kernels, bool positive) const {
    const std::vector<double> own = row_sums(kernels, T);
    Squares squares;
    for (std::size_t i = 0; i < T * T; ++i) {
      const double exact = sums[i / T], sum = positive ? own[i / T] : exact;
      if (!(sum > 0) || !(exact > 0)) continue;
      const double error = kernels[i] - weights[i] * sum;
      squares.weights += std::pow(error / sum, 2) / size;
      squares.linear += std::pow(error / exact, 2) / size;
    }
    return squares;
  }
};

/// Returns the RMS difference between the sets' mean weights and those of the mean kernel.
double bias_of(const Exact& exact, const std::vector<Kernels>& sets) {
  Kernels mean(exact.weights.size());
  for (const Kernels& one : sets) {
    const std::vector<double> sums = row_sums(one, exact.T);
    for (std::size_t i = 0; i < mean.size(); ++i)
      if (sums[i / exact.T] > 0) mean[i] += one[i] / sums[i / exact.T] / double(sets.size());
  }
  double square = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) square += std::pow(mean[i] - exact.weights[i], 2);
  return std::sqrt(square / exact.size);
}

TrainedHead head_of(const Kernels& own, const std::vector<Kernels>& sets, bool positive,
                    std::size_t T, double squared_m) {
  const Exact exact(sets, T);
  const std::size_t S = sets.size(), half = S / 2;
  const double unbiased = double(S) / double(S - 1);  // each set contributes to the mean
  TrainedHead head;
  std::vector<double> squares;
  double predicted = 0, measured = 0, linear = 0;
  for (const Kernels& one : sets) {
    const Exact::Squares of_set = exact.squares_of(one, positive);
    linear += unbiased * of_set.linear / double(S);
    (squares.size() < half ? predicted : measured) += unbiased * of_set.weights / double(half);
    squares.push_back(unbiased * of_set.weights);
  }
  head.predicted = std::sqrt(predicted), head.measured = std::sqrt(measured);
  head.linearised = std::sqrt(linear);
  head.own = std::sqrt(exact.squares_of(own, positive).weights);
  head.bias = positive ? bias_of(exact, sets) : 0;
  head.needed = bootstrap(S, [&](const std::vector<std::size_t>& rows) {
    double sum = 0;
    for (const std::size_t row : rows) sum += squares[row] / double(S);
    return squared_m * sum;
  });
  return head;
}

double root_mean_square(const std::vector<TrainedHead>& heads, double TrainedHead::*error) {
  double sum = 0;
  for (const TrainedHead& head : heads) sum += std::pow(head.*error, 2) / double(heads.size());
  return std::sqrt(sum);
}

/// Returns redrawn_errors() of one head.
double deviation_between(const std::vector<Kernels>& sets, std::size_t T) {
  const double S = double(sets.size());
  double error = 0, size = 0;
  for (std::size_t i = 0; i < T; ++i) {
    double sum = 0, variance = 0, squares = 0;
    for (std::size_t j = 0; j < T; ++j) {
      double mean = 0, square = 0;
      for (const Kernels& one : sets) {
        mean += one[i * T + j] / S;
        square += one[i * T + j] * one[i * T + j] / S;
      }
      sum += mean, squares += square;
      variance += std::max(0.0, square - mean * mean) * S / (S - 1);
    }
    if (!(sum > 0)) continue;
    error += variance / (sum * sum), size += squares / (sum * sum);
  }
  return size > 0 ? std::sqrt(error / size) : 0;
}

/// Returns 1 where a query sees a key. (T, T)
Tensor seen_keys(std::size_t T, bool causal) {
  Tensor seen = zeros({T, T});
  for (std::size_t i = 0; i < T; ++i) std::fill_n(seen.data() + i * T, causal ? i + 1 : T, real(1));
  return seen;
}

/// Returns m of the frequencies' draws, or of the coefficients' if there are no frequencies.
std::size_t count_draws(FeatureMap& map) {
  std::size_t m = 0;
  for (const NamedTensor& buffer : buffers_of(map))
    if (buffer.name.ends_with("noise") && !buffer.name.ends_with("lambda_noise"))
      m = std::max<std::size_t>(m, buffer.tensor->shape()[1]);
  return m;
}

}  // namespace

double TrainedLayer::predicted() const { return root_mean_square(heads, &TrainedHead::predicted); }
double TrainedLayer::measured() const { return root_mean_square(heads, &TrainedHead::measured); }
double TrainedLayer::own() const { return root_mean_square(heads, &TrainedHead::own); }

bool redraw(FeatureMap& map, const std::string& draws, std::size_t d, std::uint64_t seed) {
  Redraw visitor(draws, d, seed);
  map.visit(visitor);
  map.initialized();  // fixed weights follow from the frequencies
  return visitor.found;
}

std::vector<double> redrawn_errors(const AttentionLayer& layer, const AttentionSample& sample,
                                   const TrainedOptions& options) {
  if (!layer.features || sample.q.dimension() != 4 || count_draws(*layer.features) == 0 ||
      dynamic_cast<FixedWeights*>(layer.features))
    return {};
  const Tensor q = first_positions(sample.q, options.positions),
               k = first_positions(sample.k, options.positions);
  const std::size_t T = q.shape()[1];
  const std::vector<Tensor> factors(q.shape()[2], seen_keys(T, sample.causal));
  std::vector<double> log_units, errors;
  for (const auto& sets :
       redrawn_kernels(*layer.features, q, k, factors, sample.window, options, log_units))
    errors.push_back(deviation_between(sets, T));
  return errors;
}

std::optional<TrainedLayer> study_trained(const AttentionLayer& layer,
                                          const AttentionSample& sample,
                                          const TrainedOptions& options) {
  if (!layer.features || sample.q.dimension() != 4 || count_draws(*layer.features) == 0) return {};
  FeatureMap& map = *layer.features;
  const Tensor q = first_positions(sample.q, options.positions),
               k = first_positions(sample.k, options.positions);
  const std::size_t T = q.shape()[1], H = q.shape()[2];
  std::vector<Tensor> factors;
  for (std::size_t h = 0; h < H; ++h) factors.push_back(time_weights(sample, h, T));
  std::vector<double> log_units;
  const Heads own = kernels_of(map, q, k, factors, sample.window, log_units);
  const std::vector<std::vector<Kernels>> sets =
      redrawn_kernels(map, q, k, factors, sample.window, options, log_units);
  TrainedLayer study{layer.name, count_draws(map), own.features.front().q.values.shape()[1], {}};
  for (std::size_t h = 0; h < H; ++h) {
    TrainedHead head = head_of(own.kernels[h], sets[h], map.positive(), T,
                               double(study.m) / (options.wanted * options.wanted));
    head.effective_features = participation_ratio(own.features[h].k);
    if (auto* weights = dynamic_cast<ImportanceWeights*>(&map))
      head.effective_draws = weights->effective_size(h);
    study.heads.push_back(head);
  }
  return study;
}

std::string trained_text(const TrainedLayer& layer, double wanted) {
  std::string text = fmt::format(
      "trained  {}, m {}, {} features; errors of attention weights against the learned density's "
      "exact kernel\n  {:>4} {:>8} {:>9} {:>9} {:>10} {:>9} {:>9} {:>7}   m for {}\n",
      layer.name, layer.m, layer.features, "head", "own", "predicted", "measured", "linearised",
      "bias", "effective", "ESS", wanted);
  const auto row = [&](const std::string& name, const TrainedHead& head) {
    text += fmt::format(
        "  {:>4} {:>8.3f} {:>9.3f} {:>9.3f} {:>10.3f} {:>9.4f} {:>9.1f} {:>7}   {:.0f} ({:.0f} to "
        "{:.0f})\n",
        name, head.own, head.predicted, head.measured, head.linearised, head.bias,
        head.effective_features,
        head.effective_draws ? fmt::format("{:.1f}", *head.effective_draws) : "-",
        head.needed.value, head.needed.low, head.needed.high);
  };
  for (std::size_t h = 0; h < layer.heads.size(); ++h) row(fmt::format("{}", h), layer.heads[h]);
  text += fmt::format("  {:>4} {:>8.3f} {:>9.3f} {:>9.3f}\n", "all", layer.own(), layer.predicted(),
                      layer.measured());
  return text;
}

std::string trained_json(const TrainedLayer& layer, double wanted) {
  Json heads = Json::array();
  for (const TrainedHead& head : layer.heads) {
    Json one = {{"own", head.own},
                {"predicted", head.predicted},
                {"measured", head.measured},
                {"linearised", head.linearised},
                {"bias", head.bias},
                {"effective_features", head.effective_features},
                {"needed_m", Json::array({head.needed.value, head.needed.low, head.needed.high})}};
    if (head.effective_draws) one.set("effective_draws", *head.effective_draws);
    heads.push(one);
  }
  return Json{{"trained", layer.name},          {"m", layer.m},
              {"features", layer.features},     {"own", layer.own()},
              {"predicted", layer.predicted()}, {"measured", layer.measured()},
              {"wanted_error", wanted},         {"heads", heads}}
      .line();
}

}  // namespace bochner
