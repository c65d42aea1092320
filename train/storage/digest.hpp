#pragma once
/// xxhash64 over bytes that come in pieces. It protects against accidents, not against attackers.

#include <xxhash.h>

#include <cstdint>
#include <memory>
#include <new>

namespace bochner {

class Digest {
 public:
  Digest() : state_(XXH64_createState()) {
    if (!state_) throw std::bad_alloc();
    XXH64_reset(state_.get(), 0);
  }
  void update(const void* data, std::size_t bytes) { XXH64_update(state_.get(), data, bytes); }
  std::uint64_t value() const { return XXH64_digest(state_.get()); }

 private:
  struct Free {
    void operator()(XXH64_state_t* state) const { XXH64_freeState(state); }
  };
  std::unique_ptr<XXH64_state_t, Free> state_;
};

inline std::uint64_t digest_of(const void* data, std::size_t bytes) {
  return XXH64(data, bytes, 0);
}

}  // namespace bochner
