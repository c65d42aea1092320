#pragma once
/// Scratch memory in pieces, sized by the code that takes them.

#include <bochner/autodiff/real.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/pool.hpp>
#include <cstddef>

namespace bochner::inline BOCHNER_PRECISION {

/// Cuts scratch memory, aligned for double, into pieces; only counts them if it has no memory.
class Arena {
 public:
  explicit Arena(real* memory = nullptr) : memory_(memory) {}
  /// Takes pieces of `count` reals or doubles each.
  template <class... Numbers>
  void take(std::size_t count, Numbers*&... pieces) {
    ((pieces = piece<Numbers>(count)), ...);
  }
  std::size_t taken() const { return taken_; }

 private:
  template <class Number>
  Number* piece(std::size_t count) {
    constexpr std::size_t reals = sizeof(Number) / sizeof(real);
    const std::size_t begin = round_up(taken_, reals), end = begin + count * reals;
    taken_ = end + redzone();
    if (!memory_) return nullptr;
    hand_out(memory_ + begin, count * sizeof(Number));
    forbid(memory_ + end, redzone() * sizeof(real));
    return reinterpret_cast<Number*>(memory_ + begin);
  }

  real* memory_;
  std::size_t taken_ = 0;
};

/// Returns the elements that Part(inputs, arena) takes from its arena.
template <class Part, class... Inputs>
std::size_t scratch_size(Inputs&&... inputs) {
  Arena arena;
  [[maybe_unused]] const Part part(inputs..., arena);
  return arena.taken();
}

/// Runs task(part) for Part(in, index, arena) of each index below `count`, in parallel.
template <class Part, class Inputs, class Task>
void each_part(const Inputs& in, std::size_t count, const Task& task) {
  const Scratch<real> scratch(scratch_size<Part>(in, 0));
  parallel_tasks(count, [&](std::size_t index) {
    Arena arena(scratch.local());
    Part part(in, index, arena);
    task(part);
  });
}

}  // namespace bochner::inline BOCHNER_PRECISION
