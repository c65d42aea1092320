#pragma once
#include <bochner/base/keys.hpp>
#include <bochner/base/time_array.hpp>
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/encodings/positions.hpp>
#include <bochner/layers/encodings/scales.hpp>
#include <bochner/layers/encodings/space_time.hpp>
#include <bochner/layers/encodings/time_encoding.hpp>
#include <bochner/layers/models/poisson_process.hpp>
#include <bochner/layers/models/token_inputs.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct IntensitySpec {
  std::size_t types = 2, width = 32;
  std::size_t delays = 6;                ///< mean delays of intensity waves, geometric
  double shortest = 0.25, longest = 16;  ///< in units of time
};
inline void describe(Keys& keys, IntensitySpec& spec) {
  keys("delays", spec.delays, between(0, 1024),
       "mean delays of the learned waves of intensity after an event");
  keys("shortest", spec.shortest, above(0), "shortest of these delays, in median gaps");
  keys("longest", spec.longest, above(0), "longest of these delays, in median gaps");
}

/// Intensity after an event: lambda_k(s) = sum_p a_kp b_p(s) at time s since it, until the next
/// one. a = softplus of a linear map of the event's features; b_0 = 1, and per delay a decay exp(-s
/// / delay) and a wave, the density of an Erlang distribution of shape 4 times its mean. Integrals
/// are in closed form, so likelihoods are exact.
class Intensity : public Module {
 public:
  explicit Intensity(const IntensitySpec& spec);
  std::size_t types() const { return types_; }
  /// Returns a > 0. (B, T, D) -> (B, T, K, P)
  Var weights(Tape& tape, const Var& x);
  /// Returns ln lambda_k at times s >= 0. (.., K, P), (..) -> (.., K)
  Var log_intensity(const Var& weights, const Times& s) const;
  /// Returns the integral of sum_k lambda_k from 0 to s. (.., K, P), (..) -> (..)
  Var compensator(const Var& weights, const Times& s) const;
  void visit(Visitor& visitor) override { visitor("linear", linear_); }
  /// Starts near constant intensities, in units of the model. rates: (K)
  void start(const std::vector<double>& rates);
  /// Lowers the bias for many types, so that their total rate starts moderate.
  void initialized() override;

 private:
  Tensor basis(const Times& s, bool integrated) const;
  std::size_t types_;
  std::vector<double> delays_;
  Linear linear_;
};

struct EventEncodingSpec {
  std::size_t types = 2, width = 32;
  TimeEncodingSpec time;
};

/// Embeds events by type and, if its use is "concatenate" or "add", by the time encoding.
class EventEncoding : public Module {
 public:
  explicit EventEncoding(const EventEncodingSpec& spec);
  /// An event of an unknown type, numbered `types`, has the embedding 0. types (B, T), times (B, T)
  /// in units of the encoding -> (B, T, D)
  Var forward(Tape& tape, const Indices& types, const Times& times);
  void visit(Visitor& visitor) override {
    visitor("type", type_);
    time_.visit(visitor);
  }

 private:
  Embedding type_;
  TimeInput time_;
};

struct EventModelSpec {
  std::size_t types = 2;
  std::size_t length = 64;      ///< longest training sequence; number of learned positions
  std::size_t dimensions = 0;   ///< of the places of events, 0 for none
  SpaceTimeSpec encoding = {};  ///< of places and times; sizes are set later
  bool every_block = false;
  TimeEncodingSpec time;
  bool calendar = true, has_dates = false;  ///< dates: times are seconds since 1970; set later
  bool follows_calendar() const { return calendar && has_dates; }
  StackSpec stack;          ///< positions number the events, in addition to times
  IntensitySpec intensity;  ///< types and width are set later
};
inline void describe(Keys& keys, EventModelSpec& spec) {
  describe(keys, spec.stack);
  keys.when(unless("data.place_columns", {}), [&] {
    keys.section("encoding", spec.encoding);
    describe_every_block(keys, spec.every_block);
  });
  keys.section("time", spec.time);
  keys.when(when("data.kind", {"event_files"}))(
      "calendar", spec.calendar,
      "whether intensities of events with dates depend on hour of the day and weekday (UTC)");
  keys.section("intensity", spec.intensity);
}

/// Events and their successors; events with a next type of -1 do not count. (B, T) each
struct EventSequences {
  const Indices &types, &next_types;
  const Times &times, &next_times;
  std::vector<double> places = {};  ///< (B, T, d), if events have places
};

/// Predicts the next event from the past: encoding, causal blocks, intensity per type. Where times
/// are dates, the intensity is that of a Poisson process by hour of the week, times a factor by
/// time of its clock; types have factors by hour of the day and weekday. Places of
/// events get an encoding with the time since the first event in units of `length` median gaps.
class EventModel : public Module {
 public:
  explicit EventModel(const EventModelSpec& spec);
  /// Returns origin and unit of times; fit them to the training data before the first step.
  TimeScale& scale() { return scale_; }
  double unit() const { return scale_.unit(); }
  const Intensity& intensity() const { return intensity_; }
  /// Returns the process that knows no past; fit it before the scale, to times of its clock.
  PoissonProcess& poisson() { return poisson_; }
  /// Starts near the intensities of poisson().
  void start_at_poisson();
  /// Returns the scale from places of the data to those of the encoding.
  PlaceScale& place_scale() { return place_scale_; }
  const EventModelSpec& spec() const { return spec_; }

  /// Returns intensity weights after each event. (B, T), (B, T), (B, T, d) -> (B, T, K, P)
  Var intensity_weights(Tape& tape, const Indices& types, const Times& times,
                        const std::vector<double>& places = {});

  /// Means of -ln density of the next time, in units of 1 / time of the data, and of -ln
  /// probability of its type at that time; nats per event. -> () each
  struct Nats {
    Var time, type;
    Var weights;        ///< intensity_weights()
    Var log_intensity;  ///< (B, T, K) at the next times, in model units
  };
  /// Returns ln lambda_k, in 1 / unit(), at times that are `spans` of the clock in model units
  /// after the events of the weights. (B, T, K, P), (B, T), (B, T) -> (B, T, K)
  Var log_intensity(Tape& tape, const Var& weights, const Times& spans, const Times& times);
  /// Returns the times before which the next event comes with a probability. (B, T, K, P), (B, T)
  Times quantile_times(const Var& weights, const Times& times, double probability) const;
  Nats nats(Tape& tape, const EventSequences& events);
  /// Returns the sum of both per event. -> ()
  Var loss(Tape& tape, const EventSequences& events);
  void visit(Visitor& visitor) override;

 private:
  Var place_code(Tape& tape, const Times& scaled, const std::vector<double>& places);
  EventModelSpec spec_;
  PoissonProcess poisson_;
  TimeScale scale_;
  PlaceScale place_scale_;
  std::optional<Parameter> type_factors_;  // (24 + 7, K) logarithms, by hour and by weekday
  std::unique_ptr<SpaceTimeEncoding> place_encoding_;  // null without places
  EventEncoding encoding_;
  std::unique_ptr<PositionEncoding> positions_;
  BlockStack stack_;
  Intensity intensity_;
};

/// Prediction after each event, in the time of the data.
struct EventForecast {
  Times median, mean;    ///< time of the next event (B, T)
  Tensor probabilities;  ///< of its type, at any time (B, T, K)
};

/// Predicts by bisection of the compensator (median), integrated survival (mean) and 64 quantiles
/// of the next time (types). types (B, T), times (B, T), places (B, T, d)
EventForecast forecast_events(EventModel& model, const Indices& types, const Times& times,
                              const std::vector<double>& places = {});

}  // namespace bochner::inline BOCHNER_PRECISION
