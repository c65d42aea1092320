#pragma once
/// Properties of custom optimizers and schedules.

#include <string>

namespace bochner {

/// Checks an optimizer on two small parameters: its weights are finite, and its state() restores it
/// to the bit. Returns the fault; "" if there is none.
/// Throws what the optimizer does.
std::string optimizer_fault(const std::string& kind);

/// Checks that the rates of a schedule are finite, at least 0, and functions of the step alone.
/// Returns the fault; "" if there is none.
std::string schedule_fault(const std::string& kind);

}  // namespace bochner
