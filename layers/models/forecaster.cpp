#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/layers/models/forecaster.hpp>

namespace bochner::inline BOCHNER_PRECISION {

Forecaster::Forecaster(const ForecasterSpec& spec)
    : spec_(spec),
      standardize_(spec.variates),
      norm_(spec.instance_norm, spec.variates),
      backbone_(make_forecast_backbone(spec)) {
  require(spec.loss == "mse" || spec.loss == "mae" || spec.loss == "huber", "forecaster",
          "no loss is called \"", spec.loss, "\"; there are: mse, mae, huber");
}

Var Forecaster::forward(Tape& tape, const Var& past) {
  require(past.rank() == 3 && past.dim(1) == spec_.variates && past.dim(2) == spec_.lookback,
          "forecaster", "the past must be (B, ", spec_.variates, ", ", spec_.lookback, "), not ",
          past.shape());
  const InstanceNorm::Unit unit = norm_.unit_of(past);
  return norm_.undo(tape, backbone_->forward(tape, norm_.apply(tape, past, unit)), unit);
}

Var Forecaster::loss(const Var& forecast, const Tensor& future) const {
  if (spec_.loss == "mse") return mean_squared_error(forecast, future);
  if (spec_.loss == "mae") return mean_absolute_error(forecast, future);
  return huber(forecast, future);
}

void Forecaster::visit(Visitor& visitor) {
  visitor("standardize", standardize_);
  visitor("instance_norm", norm_);
  visitor("backbone", *backbone_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
