#pragma once
/// xxhash64 (XXH64): detects accidents, not attacks.

#include <cstddef>
#include <cstdint>
#include <memory>

struct XXH64_state_s;

namespace bochner {

/// Hash of bytes that arrive in pieces.
class Digest {
 public:
  Digest();
  void update(const void* data, std::size_t bytes);
  std::uint64_t value() const;

 private:
  struct Free {
    void operator()(XXH64_state_s* state) const;
  };
  std::unique_ptr<XXH64_state_s, Free> state_;
};

std::uint64_t digest_of(const void* data, std::size_t bytes, std::uint64_t seed = 0);

/// Hashes the elements of a container. To hash several, pass the previous digest as the seed.
template <class Elements>
std::uint64_t digest_of_elements(const Elements& elements, std::uint64_t seed = 0) {
  return digest_of(elements.data(), elements.size() * sizeof(*elements.data()), seed);
}

}  // namespace bochner
