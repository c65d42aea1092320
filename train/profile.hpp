#pragma once
/// Where the time of training steps goes, by op.

#include <bochner/autodiff/tape.hpp>
#include <chrono>
#include <map>
#include <string>

namespace bochner::inline BOCHNER_PRECISION {

/// Charges the time between two notes of the tape to the op of the later one.
class OpProfile : public TapeObserver {
 public:
  void recorded(const char* op) override { charge(op, &Entry::forward); }
  void went_backward(const char* op) override { charge(op, &Entry::backward); }
  /// Forgets what was charged; the clock starts now.
  void reset();
  /// The next note is charged from now on: what happened since the last one belongs to no op.
  void skip() { last_ = Clock::now(); }

  struct Entry {
    double forward = 0, backward = 0;  ///< seconds
    double operations = 0;             ///< floating-point operations of matrix products
    std::uint64_t calls = 0;
  };
  const std::map<std::string, Entry>& entries() const { return entries_; }
  /// One line per op, most expensive first: time, share, GFLOP/s of its products.
  std::string table() const;

 private:
  using Clock = std::chrono::steady_clock;
  void charge(const char* op, double Entry::*part);
  std::map<std::string, Entry> entries_;
  Clock::time_point last_ = Clock::now();
  double last_operations_ = 0;
};

}  // namespace bochner::inline BOCHNER_PRECISION
