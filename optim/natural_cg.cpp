#include <bochner/base/numeric/conjugate_gradients.hpp>
#include <bochner/optim/natural_cg.hpp>
#include <cmath>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Concatenates the parameters with a gradient into one vector of double, and back.
class FlatVector {
 public:
  explicit FlatVector(const std::vector<NamedParameter>& parameters) : parameters_(parameters) {
    for (const NamedParameter& named : parameters)
      moves_.push_back(named.parameter->has_gradient());
  }

  std::vector<double> gradients() const {
    std::vector<double> flat;
    for (std::size_t i = 0; i < moves_.size(); ++i)
      if (moves_[i]) append(parameters_[i].parameter->gradient(), flat);
    return flat;
  }
  std::vector<double> flat(const std::vector<Tensor>& tensors) const {
    std::vector<double> flat;
    for (std::size_t i = 0; i < moves_.size(); ++i)
      if (moves_[i]) append(tensors.at(i), flat);
    return flat;
  }
  /// Returns tensors of the parameters' shapes; zeros where a parameter is fixed.
  std::vector<Tensor> tensors(const std::vector<double>& flat) const {
    std::vector<Tensor> all;
    const double* from = flat.data();
    for (std::size_t i = 0; i < moves_.size(); ++i) {
      all.push_back(zeros(parameters_[i].parameter->shape()));
      if (moves_[i])
        for (real& number : all.back()) number = real(*from++);
    }
    return all;
  }
  void set_gradients(const std::vector<double>& flat) const {
    std::vector<Tensor> all = tensors(flat);
    for (std::size_t i = 0; i < moves_.size(); ++i) {
      Parameter& parameter = *parameters_[i].parameter;
      parameter.zero_gradient();
      Tape tape;
      if (moves_[i]) tape(parameter).add_gradient(std::move(all[i]));
    }
  }

 private:
  static void append(const Tensor& tensor, std::vector<double>& flat) {
    flat.insert(flat.end(), tensor.begin(), tensor.end());
  }
  const std::vector<NamedParameter>& parameters_;
  std::vector<bool> moves_;
};

double inner_product(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

void to_natural_gradients(const std::vector<NamedParameter>& parameters,
                          const FisherProduct& fisher, const NaturalCgSpec& spec,
                          double learning_rate) {
  const FlatVector vector(parameters);
  const auto damped = [&](const std::vector<double>& v) {
    std::vector<double> product = vector.flat(fisher(vector.tensors(v)));
    for (std::size_t i = 0; i < v.size(); ++i) product[i] += spec.damping * v[i];
    return product;
  };
  const std::vector<double> gradient = vector.gradients();
  const LinearSystem system{.apply = damped, .max_steps = spec.iterations};
  std::vector<double> d =
      conjugate_gradients(system, std::vector<double>(gradient.size()), gradient).x;
  if (spec.trust > 0) {
    // From zero, conjugate gradients keep d^T (F + damping I) d = d^T g.
    const double curvature = inner_product(d, gradient) - spec.damping * inner_product(d, d);
    const double divergence = learning_rate * learning_rate * curvature / 2;
    const double factor = divergence > spec.trust ? std::sqrt(spec.trust / divergence) : 1;
    for (double& number : d) number *= factor;
  }
  vector.set_gradients(d);
}

}  // namespace bochner::inline BOCHNER_PRECISION
