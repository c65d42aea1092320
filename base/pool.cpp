#include <algorithm>
#include <array>
#include <bit>
#include <bochner/base/ceil_div.hpp>
#include <bochner/base/pool.hpp>
#include <bochner/base/system.hpp>
#include <cstdlib>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bochner::tensor_pool {
namespace {

/// Rounds up to a size class: four per power of two, none below a cache line.
std::size_t size_class(std::size_t bytes) {
  if (bytes <= 64) return 64;
  const std::size_t step = std::max<std::size_t>(64, std::bit_floor(bytes - 1) / 4);
  return round_up(bytes, step);
}
constexpr std::size_t class_count = 256;
/// Maps sizes (4, 5, 6 or 7 times a power of two) to class numbers, and back.
std::size_t class_number(std::size_t size) {
  const auto power = std::size_t(std::bit_width(size) - 3);
  return 4 * power + (size >> power) % 4;
}
std::size_t class_size(std::size_t number) { return (4 + number % 4) << (number / 4); }
std::size_t class_for(std::size_t bytes) { return class_number(size_class(bytes)); }

/// From this size on, a free block is returned before another size is requested: at a million
/// tokens, idle memory matters more than requests.
constexpr std::size_t huge = std::size_t(1) << 27;

/// Batches of different lengths request blocks of every size. From this size on, a free block
/// serves requests down to half its size, and is returned when much more is held than used.
constexpr std::size_t large = std::size_t(1) << 20;
constexpr std::size_t classes_to_half = 4;

/// Requests per window. "Recent" is the current window and the one before: long enough that steady
/// training finds its blocks, short enough to forget a long validation.
constexpr std::size_t window = std::size_t(1) << 16;

struct State {
  std::mutex mutex;
  std::array<std::vector<void*>, class_count> free_blocks;  ///< by class
  std::unordered_map<void*, std::size_t>
      oversized;  ///< classes of larger blocks that serve a smaller request
  PoolStatistics statistics;
  std::size_t acquired = 0, recent_peak = 0, previous_peak = 0;  ///< bytes in use, by window

  bool holds_too_much() const {
    return statistics.bytes_held > 2 * std::max(recent_peak, previous_peak);
  }
};

/// Never destroyed: tensors of static storage duration may outlive it.
State& state() {
  static State* instance = new State;
  return *instance;
}

constexpr std::size_t huge_page = std::size_t(1) << 21;

void* request(std::size_t size) {
  const bool in_huge_pages = size >= huge_page;
  const std::size_t alignment = in_huge_pages ? huge_page : 64;
  void* block = std::aligned_alloc(alignment, round_up(size, alignment));
  if (block == nullptr) throw std::bad_alloc();
  if (in_huge_pages) prefer_huge_pages(block, size / huge_page * huge_page);
  return block;
}

/// Returns free blocks of a class to the system until `left` remain.
void free_down_to(State& pool, std::size_t number, std::size_t left) {
  std::vector<void*>& blocks = pool.free_blocks[number];
  while (blocks.size() > left) {
    allow(blocks.back(), class_size(number));
    std::free(blocks.back());
    blocks.pop_back();
    pool.statistics.bytes_held -= class_size(number);
  }
}

void free_blocks_from(State& pool, std::size_t smallest) {
  for (std::size_t number = class_for(smallest); number < class_count; ++number)
    free_down_to(pool, number, 0);
}

void record_use(State& pool, std::size_t size) {
  const std::size_t in_use = pool.statistics.bytes_in_use += size;
  pool.statistics.peak_bytes_in_use = std::max(pool.statistics.peak_bytes_in_use, in_use);
  pool.recent_peak = std::max(pool.recent_peak, in_use);
  if (++pool.acquired % window > 0) return;
  pool.previous_peak = std::exchange(pool.recent_peak, in_use);
  if (pool.holds_too_much()) free_blocks_from(pool, large);
}

/// Takes the smallest free block that serves a class, or null.
void* take_free(State& pool, std::size_t wanted) {
  const std::size_t last = class_size(wanted) < large ? wanted : wanted + classes_to_half - 1;
  for (std::size_t number = wanted; number <= last; ++number) {
    std::vector<void*>& blocks = pool.free_blocks[number];
    if (blocks.empty()) continue;
    void* block = blocks.back();
    if (number > wanted) pool.oversized.emplace(block, number);
    blocks.pop_back();
    record_use(pool, class_size(number));
    return block;
  }
  return nullptr;
}

/// Returns one free block that a new block of this class will replace, so that the pool holds the
/// blocks of a step's longest sequences and no more.
void make_room(State& pool, std::size_t wanted) {
  if (class_size(wanted) < 2 * large) return;
  for (std::size_t number = wanted - 1; number > wanted - classes_to_half; --number) {
    const std::size_t free = pool.free_blocks[number].size();
    if (free > 0) return free_down_to(pool, number, free - 1);
  }
}

void* take_new(State& pool, std::size_t number) {
  const std::size_t size = class_size(number);
  if (size >= huge) free_blocks_from(pool, huge);
  make_room(pool, number);
  if (pool.holds_too_much()) free_blocks_from(pool, large);
  auto& blocks = pool.free_blocks[number];
  blocks.reserve(blocks.capacity() + 1);
  void* block = request(size);
  forbid(block, size);
  ++pool.statistics.blocks_requested;
  pool.statistics.bytes_held += size;
  record_use(pool, size);
  return block;
}

/// Returns the class of a block in use and forgets its note in `oversized`.
std::size_t class_of(State& pool, void* block, std::size_t bytes) {
  const auto less = pool.oversized.find(block);
  if (less == pool.oversized.end()) return class_for(bytes);
  const std::size_t number = less->second;
  pool.oversized.erase(less);
  return number;
}

}  // namespace

void* acquire(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) throw std::bad_alloc();
  const std::size_t number = class_for(bytes);
  State& pool = state();
  std::lock_guard lock(pool.mutex);
  void* block = take_free(pool, number);
  if (!block) block = take_new(pool, number);
  hand_out(block, bytes);
  return block;
}

void release(void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return;
  State& pool = state();
  std::lock_guard lock(pool.mutex);
  const std::size_t number = class_of(pool, block, bytes);
  forbid(block, class_size(number));
  pool.free_blocks[number].push_back(block);
  pool.statistics.bytes_in_use -= class_size(number);
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
  pool.recent_peak = pool.previous_peak = pool.statistics.bytes_in_use;
}

void trim() {
  State& pool = state();
  std::lock_guard lock(pool.mutex);
  free_blocks_from(pool, 0);
}

}  // namespace bochner::tensor_pool
