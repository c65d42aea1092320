#pragma once
/// Forward mode beside the tape: Jacobian-, Hessian- and Fisher-vector products.
///
/// Each op with a rule records the tangent of its output as ops of the same tape, so backward()
/// from the tangent of a loss gives second derivatives. Others throw a TangentError with their
/// name.

#include <bochner/autodiff/tape.hpp>
#include <functional>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// A value and its derivative in one direction, of one shape.
struct Dual {
  Tensor value, tangent;
};

/// Returns f(x) and the Jacobian-vector product J v. v has the shapes of x.
Dual jvp(const std::function<Var(Tape&, const std::vector<Var>&)>& f, const std::vector<Tensor>& x,
         const std::vector<Tensor>& v);

/// Returns the Hessian-vector product of a loss () by its parameters, in about three times the time
/// of a gradient. v has their shapes; gradients of all parameters stay as they are. Products of
/// parameters that are not trained are 0, and their v has no effect. Pearlmutter,
/// "Fast exact multiplication by the Hessian", 1994, as the gradient of the tangent.
std::vector<Tensor> hvp(const std::function<Var(Tape&)>& loss,
                        const std::vector<NamedParameter>& parameters, const std::vector<Tensor>& v,
                        PassOptions options = {});

/// Returns F v with F = J^T H J, J the Jacobian of the inputs of the likelihood (cross_entropy,
/// mean_squared_error or huber) and H its Hessian: the Fisher matrix for logits and for means of
/// Gaussians, positive semidefinite. The loss must be a linear function of likelihoods. Arguments
/// as for hvp(). Schraudolph, "Fast curvature matrix-vector products", 2002.
std::vector<Tensor> fisher_product(const std::function<Var(Tape&)>& loss,
                                   const std::vector<NamedParameter>& parameters,
                                   const std::vector<Tensor>& v, PassOptions options = {});

/// Gives parameters tangents while it lives.
class ParameterTangents {
 public:
  /// v has the shapes of the parameters, which must outlive this.
  ParameterTangents(const std::vector<NamedParameter>& parameters, const std::vector<Tensor>& v);
  ~ParameterTangents();
  ParameterTangents(const ParameterTangents&) = delete;
  ParameterTangents& operator=(const ParameterTangents&) = delete;

 private:
  const std::vector<NamedParameter>& parameters_;
};

/// Sets the tangent of a leaf, of its shape; an empty Var removes it.
void set_tangent(const Var& x, const Var& tangent);
/// Returns the tangent of a value; a Var without a value if it is zero.
Var tangent_of(const Var& x);
/// Adds the gradient of a loss's tangent to the parameters: a product with v. Throws TangentError
/// for a loss without curvature if the tape is for Fisher products.
void backward_of_tangent(Tape& tape, const Var& loss);

}  // namespace bochner::inline BOCHNER_PRECISION
