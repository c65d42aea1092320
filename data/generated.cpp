#include <algorithm>
#include <bochner/autodiff/shape.hpp>
#include <bochner/data/generated.hpp>
#include <bochner/data/sampler.hpp>

namespace bochner {

std::uint64_t ExampleSet::training_index(std::uint64_t number) const {
  return permuted_index(seed, number / train, number % train, train);
}

Draws ExampleSet::training(std::uint64_t number) const {
  return Draws({seed, Purpose::examples, 2 * training_index(number)});
}

Draws ExampleSet::held_out(std::uint64_t index) const {
  return Draws({seed, Purpose::examples, 2 * index + 1});
}

std::uint64_t ExampleSet::validation_batches(std::size_t size) const {
  require(size >= 1, "examples", "a batch needs at least one example");
  return (validation + size - 1) / size;
}

std::size_t ExampleSet::validation_count(std::uint64_t batch, std::size_t size) const {
  require(batch < validation_batches(size), "examples", "validation batch ", batch, " of ",
          validation_batches(size), " does not exist");
  return std::size_t(std::min<std::uint64_t>(size, validation - batch * size));
}

std::uint64_t ExampleSet::fingerprint(const std::string& generator,
                                      const std::vector<std::uint64_t>& parameters) const {
  std::string text = generator;
  const auto append = [&](std::uint64_t number) {
    text += ',';
    text += std::to_string(number);
  };
  for (const std::uint64_t number : parameters) append(number);
  for (const std::uint64_t number : {seed, train, validation}) append(number);
  return stream_of(text.c_str());
}

}  // namespace bochner
