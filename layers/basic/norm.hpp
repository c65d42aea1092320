#pragma once
#include <bochner/layers/module.hpp>
#include <string>

namespace bochner::inline BOCHNER_PRECISION {

/// A normalisation over the last axis. (.., D) -> (.., D)
class Norm : public Module {
 public:
  virtual Var forward(Tape& tape, const Var& x) = 0;
};

/// Mean 0 and variance 1 over the last axis, then gain and bias.
class LayerNorm : public Norm {
 public:
  explicit LayerNorm(std::size_t width);
  Var forward(Tape& tape, const Var& x) override;
  void visit(Visitor& visitor) override;

 private:
  Parameter gain_, bias_;
};

/// Mean square 1 over the last axis, then gain.
class RMSNorm : public Norm {
 public:
  explicit RMSNorm(std::size_t width);
  Var forward(Tape& tape, const Var& x) override;
  void visit(Visitor& visitor) override;

 private:
  Parameter gain_;
};

/// "layer" or "rms".
std::unique_ptr<Norm> make_norm(const std::string& kind, std::size_t width);

}  // namespace bochner::inline BOCHNER_PRECISION
