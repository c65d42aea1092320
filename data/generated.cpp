#include <bochner/data/generated.hpp>

namespace bochner {

Draws draws_of(const ExampleSet& set, Split split, std::uint64_t index) {
  return Draws({set.seed, Purpose::examples, 2 * index + (split == Split::train ? 0 : 1)});
}

}  // namespace bochner
