#pragma once
#include <bochner/autodiff/compute/bfloat16/bfloat16.hpp>
#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// An activation that an op reads again in its backward pass. With ProductPrecision::bfloat16 a
/// large one is rounded to bfloat16 and takes half of the memory.
class Kept {
 public:
  Kept() = default;
  explicit Kept(const Var& x);
  /// Returns the variable, expanded if it was rounded.
  Var operator()() const;

 private:
  Var x_;  // without its value if that is rounded
  std::shared_ptr<const PooledNumbers<Bfloat16>> rounded_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
