#include <bochner/autodiff/ops.hpp>
#include <bochner/base/numeric/special_functions.hpp>
#include <bochner/layers/models/event_model.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr int wave_shape = 4;

std::vector<double> delays_of(const IntensitySpec& spec) {
  require(spec.types >= 1 && spec.shortest > 0 && spec.longest >= spec.shortest, "intensity",
          "requires types >= 1 and 0 < shortest <= longest: shortest = ", spec.shortest,
          ", longest = ", spec.longest);
  std::vector<double> delays;
  for (std::size_t i = 0; i < spec.delays; ++i) {
    const double part = spec.delays > 1 ? double(i) / double(spec.delays - 1) : 0;
    delays.push_back(spec.shortest * std::pow(spec.longest / spec.shortest, part));
  }
  return delays;
}

/// Writes (1, decay, wave, decay, wave, ..) per delay at time s, or the integrals from 0 to s.
void fill_basis(const std::vector<double>& delays, double s, bool integrated, real* out) {
  *out++ = real(integrated ? s : 1);
  for (const double delay : delays) {
    const double decay = std::exp(-s / delay), x = wave_shape * s / delay;
    double term = std::exp(-x), survival = 0;  // x^j / j! e^-x and its sum
    for (int j = 0; j < wave_shape; ++j) {
      survival += term;
      if (j + 1 < wave_shape) term *= x / (j + 1);
    }
    *out++ = real(integrated ? delay * (1 - decay) : decay);
    *out++ = real(integrated ? delay * (1 - survival) : wave_shape * term);
  }
}

IntensitySpec intensity_of(const EventModelSpec& spec) {
  IntensitySpec intensity = spec.intensity;
  intensity.types = spec.types;
  intensity.width = spec.stack.block.width;
  return intensity;
}

std::unique_ptr<SpaceTimeEncoding> place_encoding_of(const EventModelSpec& spec) {
  if (spec.dimensions == 0) return nullptr;
  return make_space_time(spec.encoding, spec.stack.block.width, spec.dimensions);
}

/// Returns weights that turn a mean over all events into one over those with a next event. (B, T)
Tensor target_weights(const Indices& next_types) {
  const auto& types = next_types.values;
  const auto count = types.size() - std::size_t(std::count(types.begin(), types.end(), -1));
  Tensor weights = zeros(next_types.shape);
  for (std::size_t i = 0; i < types.size(); ++i)
    if (types[i] != -1) weights.data()[i] = real(double(types.size()) / double(count));
  return weights;
}

constexpr std::size_t quantiles = 64;
constexpr int bisections = 50;
/// Longest gap considered, in units of the model.
constexpr double longest = 1e12;

/// Returns the times s with compensator(s) = target after each event, in units of the model.
Times invert_compensator(const Intensity& intensity, const Var& weights, const Times& like,
                         double target) {
  Times low = xt::zeros_like(like), high = xt::full_like(like, longest), middle = like;
  for (int i = 0; i < bisections; ++i) {
    for (std::size_t t = 0; t < low.size(); ++t)  // first the magnitude, then bisection
      middle.data()[t] =
          low.data()[t] == 0 ? high.data()[t] / 16 : (low.data()[t] + high.data()[t]) / 2;
    const Var compensator = intensity.compensator(weights, middle);
    for (std::size_t t = 0; t < low.size(); ++t)
      (double(compensator.data()[t]) < target ? low : high).data()[t] = middle.data()[t];
  }
  return middle;
}

/// Returns the mean time to the next event, in units of the model: the integral of survival
/// exp(-compensator), by Gauss-Legendre quadrature over octaves until survival is negligible, then
/// in closed form for the remaining constant rate.
Times mean_times(const Intensity& intensity, const Var& weights, const Times& like) {
  constexpr double negligible_log = 32;  // survival exp(-32)
  constexpr int octaves = 32;
  const Times end = invert_compensator(intensity, weights, like, negligible_log);
  Times mean = xt::zeros_like(like);
  const auto add = [&](double from, double to, const special::QuadratureNode& node) {
    const Times at = end * (from + (to - from) * (1 + node.at) / 2);
    const Var compensator = intensity.compensator(weights, at);
    for (std::size_t t = 0; t < mean.size(); ++t)
      mean.data()[t] +=
          node.weight * (to - from) / 2 * end.data()[t] * std::exp(-double(compensator.data()[t]));
  };
  for (int octave = 0; octave <= octaves; ++octave) {
    const double to = std::ldexp(1.0, octave - octaves), from = octave == 0 ? 0 : to / 2;
    for (const special::QuadratureNode& node : special::gauss_legendre()) add(from, to, node);
  }
  const Var compensator = intensity.compensator(weights, end);
  const Var rate = sum(exp(intensity.log_intensity(weights, end)), -1);
  for (std::size_t t = 0; t < mean.size(); ++t)
    mean.data()[t] +=
        std::exp(-double(compensator.data()[t])) / std::max(double(rate.data()[t]), 1 / longest);
  return mean;
}

}  // namespace

Intensity::Intensity(const IntensitySpec& spec)
    : types_(checked("intensity", spec).types),
      delays_(delays_of(spec)),
      linear_(spec.width, spec.types * (1 + 2 * spec.delays)) {}

void Intensity::initialized() {
  constexpr double most = 8;  // in rates of a single type
  if (const double K = double(types_); K > most)
    linear_.shift_bias(std::log(std::expm1(std::numbers::ln2 * most / K)));
}

Var Intensity::weights(Tape& tape, const Var& x) {
  const std::size_t P = 1 + 2 * delays_.size();
  const Var y = linear_.forward(tape, x, {x.dim(0), x.dim(1), types_, P});
  return softplus(y) / double(P);
}

Tensor Intensity::basis(const Times& s, bool integrated) const {
  const std::size_t P = 1 + 2 * delays_.size();
  Shape shape(s.shape().begin(), s.shape().end());
  shape.insert(shape.end(), {1, P});
  Tensor basis = uninitialized(shape);
  for (std::size_t i = 0; i < s.size(); ++i)
    fill_basis(delays_, s.data()[i], integrated, basis.data() + i * P);
  return basis;
}

Var Intensity::log_intensity(const Var& weights, const Times& s) const {
  return log(sum(weights * Var(basis(s, false)), -1));
}

Var Intensity::compensator(const Var& weights, const Times& s) const {
  return sum(weights * Var(basis(s, true)), {-2, -1});
}

void Intensity::start(const std::vector<double>& rates) {
  constexpr double small = 0.02;  // of waves, in the constant rate
  const std::size_t P = 1 + 2 * delays_.size();
  for (const NamedParameter& each : parameters_of(linear_)) {
    Tensor& value = each.parameter->value();
    const bool is_bias = value.dimension() == 1;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const double rate = double(P) * rates[i / P % rates.size()] * (i % P == 0 ? 1 : small);
      value.data()[i] = is_bias ? real(rate + std::log(-std::expm1(-rate))) : real(0);
    }
  }
}

Var EventEncoding::forward(Tape& tape, const Indices& types, const Times& times) {
  const auto K = std::int32_t(type_.vocabulary());
  Indices known = types;
  Shape shape = types.shape;
  shape.push_back(1);
  Tensor is_known = filled(shape, 1);
  for (std::size_t i = 0; i < types.values.size(); ++i)
    if (types.values[i] == K) known.values[i] = 0, is_known.data()[i] = 0;
  Var x = type_.forward(tape, known);
  if (known.values != types.values) x = x * Var(is_known);
  return time_.forward(tape, x, times);
}

EventEncoding::EventEncoding(const EventEncodingSpec& spec)
    : type_(spec.types, spec.width), time_(spec.time, spec.width) {}

EventModel::EventModel(const EventModelSpec& spec)
    : spec_(checked("event_model", spec)),
      poisson_(spec.types, spec.follows_calendar()),
      place_scale_(spec.dimensions),
      place_encoding_(place_encoding_of(spec)),
      encoding_({spec.types,
                 content_width(place_encoding_.get(), spec.stack.block.width, spec.every_block),
                 spec.time}),
      positions_(make_positions(spec.stack.positions, spec.length, spec.stack.block.width)),
      stack_(causal_stack(spec.stack, spec.time, "event_model")),
      intensity_(intensity_of(spec)) {
  if (spec.follows_calendar() && spec.types > 1)
    type_factors_.emplace(Shape{hours_of_day + days_of_week, spec.types});
}

void EventModel::start_at_poisson() {
  std::vector<double> rates;
  for (std::size_t k = 0; k < spec_.types; ++k)
    rates.push_back(poisson_.rate() * scale_.unit() * poisson_.frequency(k));
  intensity_.start(rates);
}

/// Encodes the places of ascending sequences. scaled (B, T) -> (B, T, E)
Var EventModel::place_code(Tape& tape, const Times& scaled, const std::vector<double>& places) {
  const std::size_t B = scaled.shape()[0], T = scaled.shape()[1];
  require(places.size() == scaled.size() * spec_.dimensions, "event_model",
          "places must be (B, T, ", spec_.dimensions, ")");
  std::vector<double> times;
  for (std::size_t i = 0; i < scaled.size(); ++i)
    times.push_back((scaled.data()[i] - scaled.data()[i / T * T]) / double(spec_.length));
  const Var code = place_encoding_->at(tape, place_scale_.scaled(places), times);
  return reshape(code, {B, T, code.dim(1)});
}

Var EventModel::intensity_weights(Tape& tape, const Indices& types, const Times& times,
                                  const std::vector<double>& places) {
  require(types.shape.size() == 2 && times.dimension() == 2 && times.shape()[0] == types.shape[0] &&
              times.shape()[1] == types.shape[1],
          "event_model", "types and times must be (B, T): types ", types.shape);
  const Times scaled = scale_.scaled(poisson_.clock_times(times));
  Var x = encoding_.forward(tape, types, scaled);
  if (positions_) x = positions_->forward(tape, x, 0);
  const Layout layout = layout_of(scaled);
  if (!place_encoding_) return intensity_.weights(tape, stack_.forward(tape, x, layout));
  const PlacedTokens tokens =
      add_encoding(*place_encoding_, spec_.every_block, x, place_code(tape, scaled, places));
  return intensity_.weights(tape, stack_.forward(tape, tokens.x, layout, tokens.each));
}

Var EventModel::log_intensity(Tape& tape, const Var& weights, const Times& spans,
                              const Times& times) {
  const Var by_span = intensity_.log_intensity(weights, spans);
  if (!poisson_.is_weekly()) return by_span;
  const WeekClock clock = poisson_.clock();
  Shape shape(times.shape().begin(), times.shape().end());
  Indices hours{shape, {}}, days{shape, {}};
  shape.push_back(1);
  Tensor log_rates = uninitialized(shape);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::size_t hour = hour_of_week(times.data()[i]);
    hours.values.push_back(std::int32_t(hour % hours_of_day));
    days.values.push_back(std::int32_t(hours_of_day + hour / hours_of_day));
    log_rates.data()[i] = real(std::log(clock.rate(times.data()[i])));
  }
  if (!type_factors_) return by_span + Var(log_rates);
  const Var factors = tape(*type_factors_),
            of_types = by_span + gather(factors, hours) + gather(factors, days),
            total = logsumexp(by_span, {-1}, Keep::yes);
  return of_types + (total - logsumexp(of_types, {-1}, Keep::yes) + Var(log_rates));
}

EventModel::Nats EventModel::nats(Tape& tape, const EventSequences& events) {
  const Var weights = intensity_weights(tape, events.types, events.times, events.places);
  Times spans = poisson_.clock_times(events.next_times) - poisson_.clock_times(events.times);
  spans /= scale_.unit();
  const Var log_intensity = this->log_intensity(tape, weights, spans, events.next_times);
  const Var times = intensity_.compensator(weights, spans) - logsumexp(log_intensity, {-1});
  const Var time = mean(times * Var(target_weights(events.next_types))) + std::log(scale_.unit());
  return {time, cross_entropy(log_intensity, events.next_types), weights, log_intensity};
}

Times EventModel::quantile_times(const Var& weights, const Times& times, double probability) const {
  const Times spans = invert_compensator(intensity_, weights, times, -std::log1p(-probability));
  if (!poisson_.is_weekly()) return times + spans * scale_.unit();
  const WeekClock clock = poisson_.clock();
  Times at = times;
  for (std::size_t i = 0; i < at.size(); ++i)
    at.data()[i] = clock.time_at(clock.at(times.data()[i]) + spans.data()[i] * scale_.unit());
  return at;
}

Var EventModel::loss(Tape& tape, const EventSequences& events) {
  const Nats nats = this->nats(tape, events);
  return nats.time + nats.type;
}

void EventModel::visit(Visitor& visitor) {
  visitor("poisson", poisson_);
  if (type_factors_) visitor("type_factors", *type_factors_);
  visitor("time_scale", scale_);
  if (place_encoding_) visitor("place_scale", place_scale_);
  if (place_encoding_) visitor("place_encoding", *place_encoding_);
  visitor("encoding", encoding_);
  if (positions_) visitor("positions", *positions_);
  stack_.visit(visitor);
  visitor("intensity", intensity_);
}

EventForecast forecast_events(EventModel& model, const Indices& types, const Times& times,
                              const std::vector<double>& places) {
  Tape tape({.recording = false});
  const Var weights = model.intensity_weights(tape, types, times, places);
  const Intensity& intensity = model.intensity();
  const std::size_t K = intensity.types();
  const Times now = model.poisson().clock_times(times);
  EventForecast forecast{times, times, zeros({times.shape()[0], times.shape()[1], K})};
  forecast.mean += mean_times(intensity, weights, times) * model.unit();
  if (model.poisson().is_weekly()) forecast.mean += now - times;
  for (std::size_t q = 0; q < quantiles; ++q) {
    const double probability = (double(q) + 0.5) / double(quantiles);
    const Times at = model.quantile_times(weights, times, probability),
                clock = model.poisson().clock_times(at), spans = (clock - now) / model.unit();
    const Var lambda = exp(model.log_intensity(tape, weights, spans, at));
    for (std::size_t i = 0; i < times.size(); ++i) {
      forecast.mean.data()[i] += (at.data()[i] - clock.data()[i]) / double(quantiles);
      real total = 0;
      for (std::size_t k = 0; k < K; ++k) total += lambda.data()[i * K + k];
      for (std::size_t k = 0; k < K; ++k)
        forecast.probabilities.data()[i * K + k] +=
            lambda.data()[i * K + k] / (total * real(quantiles));
    }
  }
  forecast.median = model.quantile_times(weights, times, 0.5);
  return forecast;
}

}  // namespace bochner::inline BOCHNER_PRECISION
