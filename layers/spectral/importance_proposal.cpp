#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/spectral/importance_proposal.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

DensitySpec proposal_spec(DensitySpec spec) {
  require(spec.proposal_scale > 0, "density", "proposal_scale = ", spec.proposal_scale,
          " must be above 0");
  spec.kind = spec.proposal;
  spec.prior = 0, spec.posterior = "none";  // the proposal is not learned
  spec.log_scale += std::log(spec.proposal_scale);
  return spec;
}

/// Visits parameters as buffers: saved, not trained.
class FreezingVisitor : public Visitor {
 public:
  explicit FreezingVisitor(Visitor& visitor) : visitor_(visitor) {}

 protected:
  void on_parameter(const std::string& name, Parameter& parameter) override {
    visitor_(name, parameter.value());
  }
  void on_buffer(const std::string& name, Tensor& buffer) override { visitor_(name, buffer); }

 private:
  Visitor& visitor_;
};

}  // namespace

Proposal::Proposal(const DensitySpec& spec)
    : log_widening_(std::log(spec.proposal_scale)), density_(make_density(proposal_spec(spec))) {
  require(density_->log_density(0) != nullptr, "density", "\"", spec.proposal,
          "\" has no log density and cannot be a proposal");
  initialize(*density_, spec.seed);
}

Var Proposal::log_ratio(Tape& tape, SpectralDensity& target) {
  const Tensor w = draws(tape);
  const std::size_t H = w.shape()[0], m = w.shape()[1], d = w.shape()[2];
  Tensor log_q = uninitialized({H, m});
  for (std::size_t h = 0; h < H; ++h) {
    const PointFunction log_density = density_->log_density(h);
    for (std::size_t i = h * m; i < (h + 1) * m; ++i) {
      const std::vector<double> point(w.data() + i * d, w.data() + (i + 1) * d);
      log_q.data()[i] = real(log_density(point.data()));
    }
  }
  return target.log_densities(tape, tape.constant(w)) - tape.constant(std::move(log_q));
}

void Proposal::visit(Visitor& visitor) {
  FreezingVisitor frozen(visitor);
  density_->visit(frozen);
}

double effective_sample_size(const std::vector<double>& log_weights) {
  const double top = *std::max_element(log_weights.begin(), log_weights.end());
  double sum = 0, squares = 0;
  for (const double log_weight : log_weights) {
    const double weight = std::exp(log_weight - top);
    sum += weight, squares += weight * weight;
  }
  return sum * sum / squares;
}

}  // namespace bochner::inline BOCHNER_PRECISION
