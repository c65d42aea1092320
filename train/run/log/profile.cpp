#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/train/run/log/profile.hpp>

namespace bochner {
namespace {

/// Returns "93.1", or "-" if there is nothing to divide.
std::string rate(double amount, double seconds, double unit) {
  return amount > 0 && seconds > 0 ? fmt::format("{:.1f}", amount / seconds / unit) : "-";
}

}  // namespace

void OpProfile::step_began() {
  ++steps_;
  last_ = Clock::now();
  last_operations_ = gemm_operations();
}

void OpProfile::charge(const char* op, double Entry::*part, std::size_t bytes) {
  const auto now = Clock::now();
  const double operations = gemm_operations();
  Entry& entry = entries_[op];
  entry.*part += std::chrono::duration<double>(now - last_).count();
  entry.operations += operations - last_operations_;
  entry.bytes += double(bytes);
  ++entry.calls;
  last_ = now;
  last_operations_ = operations;
}

double OpProfile::total_seconds() const {
  double total = 0;
  for (const auto& [op, entry] : entries_) total += entry.seconds();
  return total;
}

std::vector<std::pair<std::string, OpProfile::Entry>> OpProfile::by_time() const {
  std::vector<std::pair<std::string, Entry>> rows(entries_.begin(), entries_.end());
  std::ranges::stable_sort(rows, std::greater(),
                           [](const auto& row) { return row.second.seconds(); });
  return rows;
}

std::string OpProfile::table(double peak, double bandwidth) const {
  const double total = total_seconds(), per_step = 1 / std::max(1.0, double(steps_));
  std::string text = fmt::format("{:<20} {:>6} {:>11} {:>12} {:>7} {:>9} {:>7}", "op", "calls",
                                 "forward ms", "backward ms", "share", "GFLOP/s", "GB/s");
  if (peak > 0) text += fmt::format(" {:>8}", "% peak");
  if (bandwidth > 0) text += fmt::format(" {:>8}", "% triad");
  for (const auto& [op, entry] : by_time()) {
    text += fmt::format("\n{:<20} {:>6.0f} {:>11.2f} {:>12.2f} {:>6.1f}% {:>9} {:>7}", op,
                        double(entry.calls) * per_step, 1e3 * entry.forward * per_step,
                        1e3 * entry.backward * per_step, 100 * entry.seconds() / total,
                        rate(entry.operations, entry.seconds(), 1e9),
                        rate(entry.bytes, entry.seconds(), 1e9));
    if (peak > 0)
      text += fmt::format(" {:>8}", rate(entry.operations, entry.seconds(), peak / 100));
    if (bandwidth > 0)
      text += fmt::format(" {:>8}", rate(entry.bytes, entry.seconds(), bandwidth / 100));
  }
  return text;
}

Json OpProfile::json() const {
  Json ops = Json::array();
  for (const auto& [op, entry] : by_time())
    ops.push({{"op", op},
              {"calls", entry.calls},
              {"forward_seconds", entry.forward},
              {"backward_seconds", entry.backward},
              {"share", entry.seconds() / total_seconds()},
              {"flop", entry.operations},
              {"bytes", entry.bytes}});
  return {{"steps", steps_}, {"seconds", total_seconds()}, {"ops", ops}};
}

}  // namespace bochner
