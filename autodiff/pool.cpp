#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <bochner/autodiff/pool.hpp>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

namespace bochner::pool {
namespace {

/// Four classes per power of two, and no class below a cache line.
std::size_t size_class(std::size_t bytes) {
  if (bytes <= 64) return 64;
  const std::size_t step = std::max<std::size_t>(64, std::bit_floor(bytes - 1) / 4);
  return (bytes + step - 1) / step * step;
}
constexpr std::size_t class_count = 256;
/// From 4, 5, 6 and 7 times a power of two to the numbers of the classes, and back.
std::size_t class_number(std::size_t size) {
  const auto power = std::size_t(std::bit_width(size) - 3);
  return 4 * power + (size >> power) % 4;
}
std::size_t class_size(std::size_t number) { return (4 + number % 4) << (number / 4); }

/// From this size on, a free block is given back before one of another size is requested: at a
/// million tokens, memory that lies idle matters more than requests.
constexpr std::size_t huge = std::size_t(1) << 27;

/// Free blocks from this size on are given back when all that is held is much more than was in use
/// of late: sequences of other lengths in every batch leave blocks of every size behind.
constexpr std::size_t large = std::size_t(1) << 20;

/// Late are the requests since the last whole number of so many, and that many before them: many
/// training steps, so that a steady one finds its blocks, but a long validation is forgotten.
constexpr std::size_t window = std::size_t(1) << 16;

struct State {
  std::mutex mutex;
  std::array<std::vector<void*>, class_count> free_blocks;  ///< by class
  PoolStatistics statistics;
  std::size_t acquired = 0, late_peak = 0, earlier_peak = 0;  ///< bytes in use, by window

  bool holds_too_much() const {
    return statistics.bytes_held > 2 * std::max(late_peak, earlier_peak);
  }
};

/// Never destroyed: tensors of static storage duration may outlive every destructor here.
State& state() {
  static State* instance = new State;
  return *instance;
}

constexpr std::size_t huge_page = std::size_t(1) << 21;

void* request(std::size_t size) {
  const bool in_huge_pages = size >= huge_page;
  const std::size_t alignment = in_huge_pages ? huge_page : 64;
  void* block = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (block == nullptr) throw std::bad_alloc();
  if (in_huge_pages) madvise(block, size / huge_page * huge_page, MADV_HUGEPAGE);
  return block;
}

void free_blocks_from(State& pool, std::size_t smallest) {
  for (std::size_t number = class_number(size_class(smallest)); number < class_count; ++number) {
    std::vector<void*>& blocks = pool.free_blocks[number];
    for (void* block : blocks) std::free(block);
    pool.statistics.bytes_held -= class_size(number) * blocks.size();
    blocks.clear();
  }
}

/// Counts a block that is handed out.
void note_use(State& pool, std::size_t size) {
  const std::size_t in_use = pool.statistics.bytes_in_use += size;
  pool.statistics.peak_bytes_in_use = std::max(pool.statistics.peak_bytes_in_use, in_use);
  pool.late_peak = std::max(pool.late_peak, in_use);
  if (++pool.acquired % window > 0) return;
  pool.earlier_peak = std::exchange(pool.late_peak, in_use);
  if (pool.holds_too_much()) free_blocks_from(pool, large);
}

}  // namespace

void* acquire(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) throw std::bad_alloc();
  const std::size_t size = size_class(bytes);
  State& pool = state();
  std::lock_guard lock(pool.mutex);
  void* block = nullptr;
  if (auto& blocks = pool.free_blocks[class_number(size)]; !blocks.empty()) {
    block = blocks.back();
    blocks.pop_back();
  } else {
    if (size >= huge) free_blocks_from(pool, huge);
    if (pool.holds_too_much()) free_blocks_from(pool, large);
    block = request(size);
    blocks.reserve(blocks.capacity() + 1);
    ++pool.statistics.blocks_requested;
    pool.statistics.bytes_held += size;
  }
  note_use(pool, size);
  return block;
}

void release(void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return;
  const std::size_t size = size_class(bytes);
  State& pool = state();
  std::lock_guard lock(pool.mutex);
  pool.free_blocks[class_number(size)].push_back(block);
  pool.statistics.bytes_in_use -= size;
}

PoolStatistics statistics() {
  State& pool = state();
  std::lock_guard lock(pool.mutex);
  return pool.statistics;
}

void reset_peak() {
  State& pool = state();
  std::lock_guard lock(pool.mutex);
  pool.statistics.peak_bytes_in_use = pool.statistics.bytes_in_use;
  pool.late_peak = pool.earlier_peak = pool.statistics.bytes_in_use;
}

void trim() {
  State& pool = state();
  std::lock_guard lock(pool.mutex);
  free_blocks_from(pool, 0);
}

}  // namespace bochner::pool
