#pragma once
#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Zeroes elements with probability `rate` while the tape is training. (..) -> (..)
class Dropout : public Module {
 public:
  explicit Dropout(double rate);
  Var forward(Tape& tape, const Var& x) const;
  void visit(Visitor&) override {}

 private:
  real rate_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
