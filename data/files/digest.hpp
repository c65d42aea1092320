#pragma once
/// xxhash64 (XXH64). It protects against accidents, not against attackers.

#include <cstddef>
#include <cstdint>
#include <memory>

struct XXH64_state_s;

namespace bochner {

/// Of bytes that come in pieces.
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

/// Of bytes that are all there.
std::uint64_t digest_of(const void* data, std::size_t bytes, std::uint64_t seed = 0);

/// Of the elements of a vector, a string, a span, an array; to chain several, the digest before
/// serves as the seed.
template <class Elements>
std::uint64_t digest_of_elements(const Elements& elements, std::uint64_t seed = 0) {
  return digest_of(elements.data(), elements.size() * sizeof(*elements.data()), seed);
}

}  // namespace bochner
