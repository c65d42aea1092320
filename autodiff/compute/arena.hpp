#pragma once
/// Scratch memory in pieces, whose size is counted by the code that takes them.

#include <bochner/autodiff/real.hpp>
#include <cstddef>

namespace bochner::inline BOCHNER_PRECISION {

/// Cuts scratch memory, which begins where a double may, into pieces. Without memory it only counts
/// them.
class Arena {
 public:
  explicit Arena(real* memory = nullptr) : memory_(memory) {}
  real* take(std::size_t count) {
    taken_ += count;
    return memory_ ? memory_ + (taken_ - count) : nullptr;
  }
  double* take_doubles(std::size_t count) {
    constexpr std::size_t reals = sizeof(double) / sizeof(real);
    take(taken_ % reals);
    return reinterpret_cast<double*>(take(count * reals));
  }
  std::size_t taken() const { return taken_; }

 private:
  real* memory_;
  std::size_t taken_ = 0;
};

/// Elements that the constructor of Part, called with `inputs` and an arena, takes from it.
template <class Part, class... Inputs>
std::size_t scratch_size(Inputs&&... inputs) {
  Arena arena;
  [[maybe_unused]] const Part part(inputs..., arena);
  return arena.taken();
}

}  // namespace bochner::inline BOCHNER_PRECISION
