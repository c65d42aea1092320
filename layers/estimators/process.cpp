#include <algorithm>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/layers/estimators/estimator.hpp>
#include <bochner/layers/gaussian_processes/gaussian_process.hpp>
#include <cmath>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t most_inputs = 256, most_exact_rows = 4000, frequencies_of_process = 1024;
/// A search sees so many numbers of inputs, since its time grows with rows^2 d.
constexpr std::size_t most_searched = 8192, fewest_searched = 128;
constexpr int refitted_steps = 12;  // evaluations of L-BFGS

/// State: the parameters of the process.
class TableProcess : public Estimator {
 public:
  TableProcess(const EstimatorSpec& spec, const std::string& density, const std::string& combine)
      : has_features_(combine == "features"), seed_(spec.seed) {
    spec_.inputs = spec.inputs;
    spec_.combine = has_features_ ? "product" : combine;
    spec_.density.kind = density;
    spec_.density.start = "search";
    spec_.density.seed = spec.seed;
  }

  std::size_t size() const override { return values_of(*make("exact")).size(); }

  /// Returns the log scales of the frequencies of each input. Throws std::domain_error.
  std::vector<double> log_scales(const AnsweredRows& rows) const {
    const auto process = searched_process(rows);
    for (const NamedParameter& each : parameters_of(*process))
      if (each.name == "density.log_scale")
        return {each.parameter->value().begin(), each.parameter->value().end()};
    return {};
  }

  bool fit(const AnsweredRows& rows, std::span<double> state) const override try {
    if (spec_.inputs > most_inputs || (has_features_ && rows.size() <= most_exact_rows))
      return false;
    const auto process = searched_process(rows);
    std::ranges::copy(values_of(*process), state.begin());
    return true;
  } catch (const std::domain_error&) {
    return false;
  }

  bool refit(const AnsweredRows& rows, std::span<double> state) const override try {
    const auto process = make("exact", state);
    const AnsweredRows some = searched(rows);
    process->refine({some.inputs, some.answers[0]}, refitted_steps);
    std::ranges::copy(values_of(*process), state.begin());
    return true;
  } catch (const std::domain_error&) {
    return false;
  }

  RowEstimates estimate(const AnsweredRows& seen, std::span<const double> state,
                        const Columns& inputs) const override {
    const auto process = make(has_features_ ? "features" : "exact", state);
    const AnsweredRows rows = chosen(seen, has_features_ ? seen.size() : most_exact_rows);
    const ProcessPrediction predicted =
        process->condition({rows.inputs, rows.answers[0]})->predict(inputs);
    RowEstimates estimates{{predicted.mean}};
    for (std::size_t i = 0; i < predicted.mean.size(); ++i)
      estimates.deviations.push_back(predicted.deviation(i));
    return estimates;
  }

 private:
  AnsweredRows searched(const AnsweredRows& rows) const {
    return chosen(rows, std::max(fewest_searched, most_searched / spec_.inputs));
  }

  AnsweredRows chosen(const AnsweredRows& rows, std::size_t most) const {
    if (rows.size() <= most) return rows;
    std::vector<std::size_t> order =
        Draws({seed_, Purpose::spectral, stream_of("search")}).shuffled(rows.size());
    order.resize(most);
    return {rows_of(rows.inputs, order), rows_of(rows.answers, order)};
  }

  std::unique_ptr<GaussianProcess> searched_process(const AnsweredRows& rows) const {
    auto process = make("exact");
    const AnsweredRows some = searched(rows);
    process->start({some.inputs, some.answers[0]});
    return process;
  }

  std::unique_ptr<GaussianProcess> make(const std::string& method) const {
    GaussianProcessSpec spec = spec_;
    spec.method = method;
    spec.density.m = frequencies_of_process;
    auto process = std::make_unique<GaussianProcess>(spec);
    initialize(*process, seed_);
    return process;
  }
  std::unique_ptr<GaussianProcess> make(const std::string& method,
                                        std::span<const double> state) const {
    auto process = make(method);
    auto from = state.begin();
    for (const NamedParameter& each : parameters_of(*process))
      for (real& x : each.parameter->value()) x = real(*from++);
    return process;
  }
  static std::vector<double> values_of(GaussianProcess& process) {
    std::vector<double> values;
    for (const NamedParameter& each : parameters_of(process))
      values.insert(values.end(), each.parameter->value().begin(), each.parameter->value().end());
    return values;
  }

  GaussianProcessSpec spec_;
  bool has_features_;
  std::uint64_t seed_;
};

}  // namespace

std::vector<double> class_log_scales(const AnsweredRows& rows, std::uint64_t seed) {
  const std::size_t d = rows.inputs.size(), K = rows.answers.size();
  const TableProcess process({.inputs = d, .classes = 0, .seed = seed}, "gaussian", "product");
  std::vector<double> squares(d), log_scales;
  for (std::size_t k = K == 2 ? 1 : 0; k < K; ++k) {  // two classes have the same scales
    AnsweredRows of_class{rows.inputs, {rows.answers[k]}};
    const double share =
        std::accumulate(of_class.answers[0].begin(), of_class.answers[0].end(), 0.0) /
        double(rows.size());
    for (double& y : of_class.answers[0]) y = (y - share) / std::sqrt(share * (1 - share) + 1e-9);
    const std::vector<double> scales = process.log_scales(of_class);
    for (std::size_t j = 0; j < d; ++j) squares[j] += std::exp(2 * scales[j]);
  }
  for (const double square : squares) log_scales.push_back(std::log(square / double(K)) / 2);
  return log_scales;
}

EstimatorPtr make_table_process(const EstimatorSpec& spec, const std::string& density,
                                const std::string& combine) {
  return std::make_unique<TableProcess>(spec, density, combine);
}

}  // namespace bochner::inline BOCHNER_PRECISION
