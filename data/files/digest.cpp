#include <xxhash.h>

#include <bochner/data/files/digest.hpp>
#include <new>

namespace bochner {

Digest::Digest() : state_(XXH64_createState()) {
  if (!state_) throw std::bad_alloc();
  XXH64_reset(state_.get(), 0);
}

void Digest::update(const void* data, std::size_t bytes) {
  XXH64_update(state_.get(), data, bytes);
}

std::uint64_t Digest::value() const { return XXH64_digest(state_.get()); }

void Digest::Free::operator()(XXH64_state_s* state) const { XXH64_freeState(state); }

std::uint64_t digest_of(const void* data, std::size_t bytes, std::uint64_t seed) {
  return XXH64(data, bytes, seed);
}

}  // namespace bochner
