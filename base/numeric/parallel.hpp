#pragma once
/// Parallel loops. Chunks depend on size and grain only, never on the number of threads, and
/// reductions join chunks in order, so results are bit-equal for any thread count.

#include <algorithm>
#include <bochner/base/ceil_div.hpp>
#include <bochner/base/pool.hpp>
#include <functional>
#include <vector>

namespace bochner {

/// elementwise_grain() returns a multiple of this.
inline constexpr std::size_t elementwise_unit = 64;

/// Returns the elements per task of a cheap loop over `size` elements: an eighth, within the limits
/// of what is worth a task and what stays in cache.
inline std::size_t elementwise_grain(std::size_t size) {
  constexpr std::size_t unit = elementwise_unit, fewest = 128 * unit, most = 512 * unit;
  return std::clamp(round_up(size / 8, unit), fewest, most);
}

/// Sets the number of threads of all loops (`--threads`), at least 1; 0 means all processors.
void set_thread_count(std::size_t count);
std::size_t thread_count();
/// Returns the calling worker's index in [0, thread_count()); selects its scratch memory.
std::size_t worker_index();

// Not named `detail`, which would reopen the one of the inline namespace.
namespace parallel_detail {
void run_tasks(std::size_t count, const std::function<void(std::size_t)>& task);
}

/// Calls body(begin, end) for consecutive chunks of [0, size) of `grain` > 0 elements, in any
/// order, possibly in parallel.
template <class Body>
void parallel_for(std::size_t size, std::size_t grain, const Body& body) {
  if (size == 0) return;
  const std::size_t chunks = ceil_div(size, grain);
  if (chunks == 1) return body(std::size_t(0), size);
  parallel_detail::run_tasks(
      chunks, [&](std::size_t chunk) { body(chunk * grain, std::min(size, (chunk + 1) * grain)); });
}

/// Calls body(index) for every index below size, `grain` per task.
template <class Body>
void parallel_each(std::size_t size, std::size_t grain, const Body& body) {
  parallel_for(size, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t index = begin; index < end; ++index) body(index);
  });
}

/// Calls body(row, column, count) for pieces that cover `rows` rows of `row_size` elements.
template <class Body>
void parallel_pieces(std::size_t rows, std::size_t row_size, const Body& body) {
  const std::size_t size = rows * row_size;
  parallel_for(size, elementwise_grain(size), [&](std::size_t begin, std::size_t end) {
    std::size_t row = begin / row_size, column = begin % row_size;
    while (begin < end) {
      const std::size_t count = std::min(row_size - column, end - begin);
      body(row, column, count);
      begin += count;
      ++row;
      column = 0;
    }
  });
}

/// Returns the rows per task for `rows` rows of `columns` elements.
inline std::size_t row_grain(std::size_t rows, std::size_t columns) {
  const std::size_t grain = elementwise_grain(rows * columns);
  return std::max<std::size_t>(1, grain / std::max<std::size_t>(1, columns));
}

/// Calls body(row) for every row, several short rows per task.
template <class Body>
void parallel_rows(std::size_t rows, std::size_t row_size, const Body& body) {
  parallel_each(rows, row_grain(rows, row_size), body);
}

/// Calls body(index) for every index below count, each as one task.
template <class Body>
void parallel_tasks(std::size_t count, const Body& body) {
  if (count == 1) body(std::size_t(0));
  if (count > 1) parallel_detail::run_tasks(count, body);
}

/// Returns the sum of body(begin, end) over chunks of [0, size), joined in the order of the chunks.
template <class Sum, class Body>
Sum parallel_sum(std::size_t size, std::size_t grain, const Body& body) {
  const std::size_t chunks = ceil_div(size, grain);
  std::vector<Sum> partial(chunks);
  parallel_for(size, grain, [&](std::size_t begin, std::size_t end) {
    partial[begin / grain] = body(begin, end);
  });
  Sum total{};
  for (const Sum& part : partial) total += part;
  return total;
}

/// Returns `count` sums over chunks of [0, size): body(begin, end, sums) adds one chunk's, and
/// chunks are joined in order.
template <class Body>
std::vector<double> parallel_sums(std::size_t count, std::size_t size, std::size_t grain,
                                  const Body& body) {
  const std::size_t chunks = std::max<std::size_t>(1, ceil_div(size, grain));
  std::vector<double> sums(chunks * count);
  parallel_for(size, grain, [&](std::size_t begin, std::size_t end) {
    body(begin, end, sums.data() + begin / grain * count);
  });
  for (std::size_t i = count; i < sums.size(); ++i) sums[i % count] += sums[i];
  sums.resize(count);
  return sums;
}

/// Scratch memory for the tasks of one loop, one block per worker. Allocated before the loop
/// starts, so that allocations do not depend on the scheduling of tasks.
template <class T>
class Scratch {
 public:
  explicit Scratch(std::size_t elements_per_worker)
      : stride_(round_up(elements_per_worker + redzone(), 16)),
        count_(stride_ * thread_count()),
        data_(PoolAllocator<T>().allocate(count_)) {
    for (T* end = data_ + elements_per_worker; end < data_ + count_; end += stride_)
      forbid(end, (stride_ - elements_per_worker) * sizeof(T));
  }
  ~Scratch() { PoolAllocator<T>().deallocate(data_, count_); }
  Scratch& operator=(Scratch&&) = delete;
  /// Returns the calling worker's block, with whatever its last task left in it.
  T* local() const { return data_ + worker_index() * stride_; }

 private:
  std::size_t stride_, count_;
  T* data_;
};

}  // namespace bochner
