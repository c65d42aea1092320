#include <algorithm>
#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/models/event_model.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// The blocks attend to times themselves unless the encoding below them does.
bool is_below(const TimeEncodingSpec& spec) {
  return spec.use == "concatenate" || spec.use == "add";
}

StackSpec causal_stack(const EventModelSpec& spec) {
  StackSpec stack = spec.stack;
  stack.block.mixer.causal = true;
  if (!is_below(spec.time)) stack.block.mixer.time = spec.time;
  return stack;
}

IntensitySpec intensity_of(const EventModelSpec& spec) {
  IntensitySpec intensity = spec.intensity;
  intensity.types = spec.types;
  intensity.width = spec.stack.block.width;
  return intensity;
}

/// Weights with which a mean over all is one over the events that something follows. (B, T)
Tensor judged(const Indices& next_types) {
  const auto& types = next_types.values;
  const auto count = types.size() - std::size_t(std::count(types.begin(), types.end(), -1));
  Tensor weights = zeros(next_types.shape);
  for (std::size_t i = 0; i < types.size(); ++i)
    if (types[i] != -1) weights.data()[i] = real(double(types.size()) / double(count));
  return weights;
}

}  // namespace

EventEncoding::EventEncoding(const EventEncodingSpec& spec)
    : adds_(spec.time.use == "add"), type_(spec.types, spec.width) {
  if (is_below(spec.time)) time_ = make_time_encoding(spec.time);
  if (!time_) return;
  const std::size_t F = time_->features();
  mix_ = std::make_unique<Linear>(adds_ ? F : spec.width + F, spec.width);
}

Var EventEncoding::forward(Tape& tape, const Indices& types, const Times& times) {
  const Var x = type_.forward(tape, types);
  if (!time_) return x;
  const Var phi = time_->forward(tape, times);
  return adds_ ? x + mix_->forward(tape, phi) : mix_->forward(tape, concat({x, phi}, -1));
}

void EventEncoding::visit(Visitor& visitor) {
  visitor("type", type_);
  if (!time_) return;
  visitor("time", *time_);
  visitor("mix", *mix_);
}

Tensor gaps_of(const Times& times) {
  const std::size_t T = times.shape()[1];
  Tensor gaps = zeros({times.shape()[0], T});
  for (std::size_t i = 0; i < gaps.size(); ++i)
    if (i % T > 0) gaps.data()[i] = real(times.data()[i] - times.data()[i - 1]);
  return gaps;
}

EventModel::EventModel(const EventModelSpec& spec)
    : encoding_({spec.types, spec.stack.block.width, spec.time}),
      positions_(make_positions(spec.stack.positions, spec.length, spec.stack.block.width)),
      stack_(causal_stack(spec)),
      intensity_(intensity_of(spec)) {}

Var EventModel::outlook(Tape& tape, const Indices& types, const Times& times) {
  require(types.shape.size() == 2 && times.dimension() == 2 && times.shape()[0] == types.shape[0] &&
              times.shape()[1] == types.shape[1],
          "event_model", "types and times must be (B, T): types ", types.shape);
  const Times scaled = scale_.scaled(times);
  Var x = encoding_.forward(tape, types, scaled);
  if (positions_) x = positions_->forward(tape, x, 0);
  Layout layout;
  layout.gaps = gaps_of(scaled);
  layout.times = scaled;
  return intensity_.weights(tape, stack_.forward(tape, x, layout));
}

EventModel::Nats EventModel::nats(Tape& tape, const EventSequences& events) {
  const Var weights = outlook(tape, events.types, events.times);
  const Times spans = (events.next_times - events.times) / scale_.unit();
  const Var log_intensity = intensity_.log_intensity(weights, spans);
  const Var times = intensity_.compensator(weights, spans) - logsumexp(log_intensity, {-1});
  const Var time = mean(times * Var(judged(events.next_types))) + std::log(scale_.unit());
  return {time, cross_entropy(log_intensity, events.next_types), weights, log_intensity};
}

Var EventModel::loss(Tape& tape, const EventSequences& events) {
  const Nats nats = this->nats(tape, events);
  return nats.time + nats.type;
}

void EventModel::visit(Visitor& visitor) {
  visitor("time_scale", scale_);
  visitor("encoding", encoding_);
  if (positions_) visitor("positions", *positions_);
  stack_.visit(visitor);
  visitor("intensity", intensity_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
