#include <bochner/optim/ema.hpp>

namespace bochner::inline BOCHNER_PRECISION {

WeightAverage::WeightAverage(std::vector<NamedParameter> parameters)
    : parameters_(std::move(parameters)), loop_(parameters_) {
  for (const NamedParameter& named : parameters_) averages_.push_back(named.parameter->value());
}

WeightAverage::~WeightAverage() {
  if (!swapped_) return;
  for (const NamedParameter& named : parameters_) named.parameter->set_averaged(false);
}

void WeightAverage::update(double decay, std::uint64_t n) {
  require(decay >= 0 && decay < 1, "ema", "decay ", decay, ": must be in [0, 1)");
  const double share = 1 - std::min(decay, (1 + double(n)) / (10 + double(n)));
  update(std::vector<double>(parameters_.size(), share));
}

void WeightAverage::update(const std::vector<double>& shares) {
  require(shares.size() == parameters_.size(), "ema", "update() with ", shares.size(),
          " shares for ", parameters_.size(), " parameters");
  require(!swapped_, "ema", "update() while the average is swapped in; call swap() first");
  require_same_shapes();
  loop_([&](std::size_t index, std::size_t begin, std::size_t end) {
    const real share = real(shares[index]);
    const real* weight = parameters_[index].parameter->value().data();
    real* average = averages_[index].data();
    for (std::size_t i = begin; i < end; ++i) average[i] += share * (weight[i] - average[i]);
  });
}

void WeightAverage::require_same_shapes() const {
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    require(parameters_[i].parameter->shape() == averages_[i].shape(), "ema", parameters_[i].name,
            " changed its shape from ", averages_[i].shape(), " to ",
            parameters_[i].parameter->shape(), "; make a new average");
}

void WeightAverage::swap() {
  if (!swapped_) require_same_shapes();
  swapped_ = !swapped_;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Parameter& parameter = *parameters_[i].parameter;
    std::swap(parameter.value(), averages_[i]);
    parameter.mark_changed();
    parameter.set_averaged(swapped_);
  }
}

std::vector<NamedTensor> WeightAverage::state() {
  require(!swapped_, "ema", "state() while the average is swapped in; call swap() first");
  std::vector<NamedTensor> tensors;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    tensors.push_back({prefix + parameters_[i].name, &averages_[i]});
  return tensors;
}

}  // namespace bochner::inline BOCHNER_PRECISION
