#pragma once
/// Names of columns that tell what they hold.

#include <string>
#include <string_view>

namespace bochner {

inline constexpr std::string_view type_names[] = {"type",   "event",      "activity",
                                                  "action", "event_type", "event_name"};

/// Returns whether a column is named like an id: user, user_id, Session ID.
bool names_an_id(const std::string& column);
/// Returns whether a column is named like a source of readings: sensor, device_id.
bool names_a_source(const std::string& column);

}  // namespace bochner
