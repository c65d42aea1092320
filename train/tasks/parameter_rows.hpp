#pragma once
/// Words in which rows of the parameter table are written.

#include <bochner/train/config/parameters.hpp>

namespace bochner {

constexpr std::int64_t whole(std::int64_t number) { return number; }

inline NameList among(std::vector<std::string> names) {
  return [names = std::move(names)] { return names; };
}

inline Range between(double lowest, double highest) { return {lowest, highest}; }
inline Range at_least(double lowest) { return {.lowest = lowest}; }
inline Range above(double lowest) { return {.lowest = lowest, .above_lowest = true}; }
/// lowest <= x < highest
inline Range below(double lowest, double highest) {
  return {.lowest = lowest, .highest = highest, .below_highest = true};
}

inline Period seconds(double count) { return {count, Period::Unit::seconds}; }
inline Period steps(double count) { return {count, Period::Unit::steps}; }

using Rows = std::vector<ParameterRow>;

/// model.mixer.*
Rows all_mixer_rows(const Choices& choices);
/// model.* of forecasters and data.* of series
Rows forecaster_rows();
Rows series_rows();
/// data.* of images
Rows images_rows();
/// model.time.*
Rows all_time_rows(const Choices& choices);
/// model.intensity.*, and of simulated events
Rows all_event_rows();
/// model.patch.pixels and model.encoding.*
Rows field_model_rows();
/// data.* of fields.
Rows field_data_rows();

}  // namespace bochner
