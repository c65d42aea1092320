#pragma once
/// Measurement in child processes, timing, and the peak rates of the processor.

#include <array>
#include <bit>
#include <bochner/train/storage/json.hpp>
#include <cstddef>
#include <functional>
#include <string>

namespace bochner {

/// Throws std::invalid_argument unless 1 <= `count` <= 2^20; more would not fit into memory.
void require_measurable(const char* option, std::size_t count);

/// Runs `body` in a child process, whose memory starts fresh, and returns its text. Call it before
/// parallel loops run in this process. Rethrows std::bad_alloc and std::invalid_argument of `body`,
/// and other errors or a kill as std::runtime_error.
std::string in_child(const std::function<std::string()>& body);
/// Runs `measure` in a child process and returns its struct of doubles; throws as in_child().
template <class Measure, class Numbers = std::invoke_result_t<Measure>>
Numbers numbers_in_child(const Measure& measure) {
  std::array<double, sizeof(Numbers) / sizeof(double)> all;
  const Json read = Json::parse(
      in_child([&] { return Json::array(std::bit_cast<decltype(all)>(measure())).line(); }));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = read.items().at(i).number().value();
  return std::bit_cast<Numbers>(all);
}

/// Returns the peak resident memory of this process in bytes.
double peak_memory();

double seconds_of(const std::function<void()>& body);
/// Returns the median seconds of 3 to 25 passes, as many as fit into 0.5 s, after one uncounted
/// pass; of 1 pass if that took more than 2 s.
double median_seconds(const std::function<void()>& pass);
/// Returns the peak floating-point operations per second of `threads` threads in fused
/// multiply-adds of registers (2 each), the bound of matrix products. Takes 0.2 s.
double measure_peak(std::size_t threads);
/// Returns the bytes per second of `threads` threads in x = y + a z of three arrays of 64 MiB,
/// larger than most caches: the bound of elementwise loops. Takes 0.2 s.
double measure_triad(std::size_t threads);
/// Returns the bytes per second that `threads` threads read of an array of this size, each its part
/// repeatedly, from the nearest cache that holds it: the bound of token-by-token generation. Takes
/// 0.1 s.
double measure_reading(std::size_t bytes, std::size_t threads);

}  // namespace bochner
