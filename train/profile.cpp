#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/train/profile.hpp>

namespace bochner::inline BOCHNER_PRECISION {

void OpProfile::reset() {
  entries_.clear();
  last_ = Clock::now();
  last_operations_ = gemm_operations();
}

void OpProfile::charge(const char* op, double Entry::*part) {
  const auto now = Clock::now();
  const double operations = gemm_operations();
  Entry& entry = entries_[op];
  entry.*part += std::chrono::duration<double>(now - last_).count();
  entry.operations += operations - last_operations_;
  ++entry.calls;
  last_ = now;
  last_operations_ = operations;
}

std::string OpProfile::table() const {
  std::vector<std::pair<std::string, Entry>> rows(entries_.begin(), entries_.end());
  const auto seconds = [](const Entry& entry) { return entry.forward + entry.backward; };
  std::sort(rows.begin(), rows.end(),
            [&](const auto& a, const auto& b) { return seconds(a.second) > seconds(b.second); });
  double total = 0;
  for (const auto& [op, entry] : rows) total += seconds(entry);
  std::string text = fmt::format("{:<20} {:>8} {:>12} {:>12} {:>7} {:>9}", "op", "notes",
                                 "forward ms", "backward ms", "share", "GFLOP/s");
  for (const auto& [op, entry] : rows) {
    text += fmt::format("\n{:<20} {:>8} {:>12.2f} {:>12.2f} {:>6.1f}% {:>9.1f}", op, entry.calls,
                        1e3 * entry.forward, 1e3 * entry.backward, 100 * seconds(entry) / total,
                        entry.operations / std::max(seconds(entry), 1e-12) / 1e9);
  }
  return text;
}

}  // namespace bochner::inline BOCHNER_PRECISION
