#pragma once
#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Numbers in the unit of the data and with mean 0 and deviation 1 over the training data: mean and
/// deviation of each variate are buffers, saved with the model. (B, V, ..) -> (B, V, ..)
class Standardize : public Module {
 public:
  explicit Standardize(std::size_t variates);
  /// (V), (V). A variate that does not change, with deviation 0, is only shifted.
  void set(const std::vector<double>& mean, const std::vector<double>& deviation);
  /// (x - mean) / deviation
  void apply(Tensor& x) const;
  /// x * deviation + mean
  void undo(Tensor& x) const;
  void visit(Visitor& visitor) override;

 private:
  template <class Change>
  void change_variates(Tensor& x, const Change& change) const;
  Tensor mean_, deviation_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
