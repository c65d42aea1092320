#include <algorithm>
#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/pff.hpp>
#include <bochner/train/laboratory/descent.hpp>
#include <bochner/train/laboratory/feature_matrix.hpp>
#include <bochner/train/laboratory/map_fit.hpp>
#include <cmath>
#include <functional>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// The exact kernel with rows that sum to 1, and the logarithms of the sums.
struct Target {
  Tensor q, k;      // (1, n, 1, d)
  Tensor weights;   // (n, n')
  Tensor log_sums;  // (n, 1)
  double size = 0;  // sum of squares of the weights
};

using LogKernel = std::function<double(const std::vector<double>& q, const std::vector<double>& k)>;

double gaussian_exponent(const std::vector<double>& q, const std::vector<double>& k) {
  return softmax_exponent(q, k) - (softmax_exponent(q, q) + softmax_exponent(k, k)) / 2;
}

Target target_of(const LogKernel& log_kernel, const SampleBlock& block) {
  const std::size_t n = block.q.shape()[0], s = block.k.shape()[0];
  Target target{as_tokens(block.q), as_tokens(block.k), uninitialized({n, s}),
                uninitialized({n, 1})};
  std::vector<double> row(s);
  for (std::size_t i = 0; i < n; ++i) {
    const std::vector<double> q = row_of(block.q, i);
    for (std::size_t j = 0; j < s; ++j) row[j] = log_kernel(q, row_of(block.k, j));
    const double top = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (const double one : row) sum += std::exp(one - top);
    target.log_sums.data()[i] = real(top + std::log(sum));
    for (std::size_t j = 0; j < s; ++j) {
      const double weight = std::exp(row[j] - top) / sum;
      target.weights.data()[i * s + j] = real(weight);
      target.size += weight * weight;
    }
  }
  return target;
}

Var rows_of(const Features& features) {
  const Shape shape = features.shape();
  return reshape(features.values(), {shape[1], shape[3]});
}

real largest(const Var& x) { return *std::max_element(x.data(), x.data() + x.size()); }

/// Summed squared error of the estimated rows, relative. -> ()
Var error_of(Tape& tape, FeatureMap& map, const Target& target) {
  const Features query = map.queries(tape, tape.view(target.q));
  const Features key = map.keys(tape, tape.view(target.k));
  Var q = rows_of(query), k = rows_of(key);
  const Var log_sums = tape.view(target.log_sums);
  if (query.scale == FeatureScale::logarithmic) {
    const real unit = largest(k);  // a constant that cancels: no exponent of a key exceeds 0
    q = exp(q - log_sums + double(unit));
    k = exp(k - double(unit));
  } else {
    q = q * exp(-log_sums);
  }
  return sum(square(matmul_nt(q, k) - tape.view(target.weights))) * (1 / target.size);
}

double measured_error(FeatureMap& map, const Target& target) {
  Tape tape;
  tape.recording = false;
  return std::sqrt(double(error_of(tape, map, target).value().data()[0]));
}

LogKernel kernel_of(FeatureMap& map, const SampleBlock& block) {
  if (map.kernel(row_of(block.q, 0), row_of(block.k, 0), 0))
    return [&map](const std::vector<double>& q, const std::vector<double>& k) {
      return std::log(std::max(*map.kernel(q, k, 0), 1e-300));
    };
  const bool weighted =
      dynamic_cast<WeightedFeatures*>(&map) || dynamic_cast<FixedWeightFeatures*>(&map);
  return weighted ? gaussian_exponent : softmax_exponent;
}

bool is_spectral(const std::string& name) {
  return name.find("density") != std::string::npos || name.find("frequencies") != std::string::npos;
}

}  // namespace

MapFit fit_map(FeatureMap& map, const SampleBlock& train, const SampleBlock& held_out,
               const MapFitOptions& options) {
  const LogKernel kernel = kernel_of(map, train);
  const Target target = target_of(kernel, train), test = target_of(kernel, held_out);
  MapFit fit;
  fit.before = measured_error(map, test);
  fit.train_before = measured_error(map, target);
  auto parameters = parameters_of(map);
  if (!options.density)
    std::erase_if(parameters, [](const NamedParameter& named) { return is_spectral(named.name); });
  for (const NamedParameter& named : parameters) fit.parameters += named.parameter->value().size();
  descend(parameters, {options.steps, options.learning_rate, 10},
          [&](Tape& tape, std::uint64_t) { return error_of(tape, map, target); });
  fit.after = measured_error(map, test);
  fit.train_after = measured_error(map, target);
  return fit;
}

}  // namespace bochner::inline BOCHNER_PRECISION
