#pragma once
/// One parallel loop over the elements of many tensors: no launch per tensor, equal chunks.

#include <algorithm>
#include <bochner/autodiff/tape.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <unordered_map>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Throws if a parameter is listed twice: it would be updated twice, perhaps concurrently.
inline void refuse_shared(const std::vector<NamedParameter>& parameters) {
  std::unordered_map<const Parameter*, const std::string*> seen;
  for (const NamedParameter& named : parameters) {
    const auto [first, is_new] = seen.emplace(named.parameter, &named.name);
    require(is_new, "optim", named.name, " is the same parameter as ", *first->second,
            "; list it once");
  }
}

class FlatLoop {
 public:
  FlatLoop() = default;
  explicit FlatLoop(const std::vector<NamedParameter>& parameters) {
    refuse_shared(parameters);
    for (const NamedParameter& named : parameters)
      offsets_.push_back(offsets_.back() + named.parameter->value().size());
  }

  /// Calls body(tensor, begin, end) for pieces that cover the elements of all tensors, in any
  /// order, possibly in parallel. The chunks depend on the sizes only.
  template <class Body>
  void operator()(const Body& body) const {
    within(0, size(), body);
  }

  /// Calls body for the elements first, ..., last - 1 of the concatenated tensors.
  template <class Body>
  void within(std::size_t first, std::size_t last, const Body& body) const {
    const std::size_t count = last - first;
    parallel_for(count, elementwise_grain(count), [&](std::size_t begin, std::size_t end) {
      begin += first, end += first;
      std::size_t tensor =
          std::upper_bound(offsets_.begin(), offsets_.end(), begin) - offsets_.begin() - 1;
      for (; begin < end; ++tensor) {
        const std::size_t stop = std::min(end, offsets_[tensor + 1]);
        if (begin < stop) body(tensor, begin - offsets_[tensor], stop - offsets_[tensor]);
        begin = stop;
      }
    });
  }

  std::size_t size() const { return offsets_.back(); }
  std::size_t offset_of(std::size_t tensor) const { return offsets_[tensor]; }
  std::size_t size_of(std::size_t tensor) const { return offsets_[tensor + 1] - offsets_[tensor]; }

 private:
  std::vector<std::size_t> offsets_ = {0};
};

}  // namespace bochner::inline BOCHNER_PRECISION
