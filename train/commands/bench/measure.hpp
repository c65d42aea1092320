#pragma once
/// What measurements stand on: a process of their own, a clock, and the peak of the processor.

#include <bochner/autodiff/real.hpp>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace bochner {

/// Throws std::invalid_argument unless `count` of this option can be measured: times and tokens of
/// more would not fit into memory.
void require_measurable(const char* option, std::size_t count);

/// The text that `body` returns in a process of its own, whose memory starts from nothing. To be
/// called before loops run in this process. Where `body` throws, so does this: std::bad_alloc,
/// std::invalid_argument or else std::runtime_error, as where the process is killed.
std::string in_child(const std::function<std::string()>& body);
std::vector<double> numbers_in_child(const std::function<std::vector<double>()>& body);
/// The most memory that this process has ever had, in bytes.
double peak_memory();

double seconds_of(const std::function<void()>& body);
/// The median of passes after one that is not counted: as many as fit into half a second, at most
/// 25 and at least 3, or 1 where that one took more than 2 seconds.
double median_seconds(const std::function<void()>& pass);
/// The most floating-point operations a second that `threads` threads reach together in fused
/// multiply-adds of registers (2 each): what products are measured against. Takes 0.2 s.
double measure_peak(std::size_t threads);
/// The bytes a second that `threads` threads move together in x = y + a z of three arrays of 64
/// MiB, beyond the caches of most processors: what elementwise loops are measured against. Takes
/// 0.2 s.
double measure_triad(std::size_t threads);
/// The bytes a second that `threads` threads read together of an array of this size, again and
/// again, each its own part, from the nearest cache that holds it: what token after token costs a
/// model at least. Takes 0.1 s.
double measure_reading(std::size_t bytes, std::size_t threads);

}  // namespace bochner
