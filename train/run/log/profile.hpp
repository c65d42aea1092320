#pragma once
/// Profile of training steps by op.

#include <bochner/autodiff/tape.hpp>
#include <bochner/train/storage/json.hpp>
#include <chrono>
#include <map>

namespace bochner {

/// Profile that charges the time between two notes of the tape to the op of the later one.
class OpProfile : public TapeObserver {
 public:
  void step_began() override;
  void recorded(const char* op, std::size_t bytes) override { charge(op, &Entry::forward, bytes); }
  void went_backward(const char* op, std::size_t bytes) override {
    charge(op, &Entry::backward, bytes);
  }

  struct Entry {
    double forward = 0, backward = 0;  ///< seconds
    double operations = 0;             ///< floating-point operations of matrix products
    double bytes = 0;                  ///< see TapeObserver
    std::uint64_t calls = 0;           ///< forward and backward
    double seconds() const { return forward + backward; }
  };
  const std::map<std::string, Entry>& entries() const { return entries_; }
  std::uint64_t steps() const { return steps_; }
  /// Returns a line per op of a mean step, most expensive first: time, share, GFLOP/s of products,
  /// GB/s; with the machine's `peak` in FLOP/s and `bandwidth` in bytes/s also the shares of these.
  std::string table(double peak = 0, double bandwidth = 0) const;
  /// Returns a JSON object: steps, seconds, and for each op the sums over all steps.
  Json json() const;

 private:
  using Clock = std::chrono::steady_clock;
  void charge(const char* op, double Entry::*part, std::size_t bytes);
  double total_seconds() const;
  std::vector<std::pair<std::string, Entry>> by_time() const;
  std::map<std::string, Entry> entries_;
  std::uint64_t steps_ = 0;
  Clock::time_point last_;
  double last_operations_ = 0;
};

}  // namespace bochner
