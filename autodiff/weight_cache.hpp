#pragma once

#include <bochner/autodiff/tape.hpp>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <tuple>
#include <typeindex>
#include <utility>

namespace bochner::inline BOCHNER_PRECISION {

/// Cache of values derived from parameters alone, for passes without gradients during which no
/// parameter changes, such as token-by-token generation. Thread-safe.
class WeightCache {
 public:
  /// Registers parameters that outlive the cache.
  void add(std::span<const NamedParameter> parameters) {
    const std::lock_guard lock(mutex_);
    for (const NamedParameter& named : parameters) addresses_.insert(&named.parameter->value());
  }
  /// Returns the cached compute() of this owner; `detail` distinguishes values of one owner.
  template <class T>
  std::shared_ptr<const T> of(const void* owner, double detail,
                              const std::function<std::shared_ptr<const T>()>& compute) {
    const Key key{owner, detail, typeid(T)};
    std::shared_ptr<const void> value = find(key);
    if (!value) value = keep(key, compute());
    return std::static_pointer_cast<const T>(value);
  }
  /// Returns whether this tensor is cached or a parameter, so that its address is an owner.
  bool holds(const Tensor& value) const {
    const std::lock_guard lock(mutex_);
    return addresses_.contains(&value);
  }

 private:
  using Key = std::tuple<const void*, double, std::type_index>;
  std::shared_ptr<const void> find(const Key& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : found->second;
  }
  /// Stores the value, or returns the one that another thread stored first.
  std::shared_ptr<const void> keep(const Key& key, std::shared_ptr<const void> value);

  mutable std::mutex mutex_;
  std::map<Key, std::shared_ptr<const void>> values_;
  std::set<const void*> addresses_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
