#pragma once
#include <bochner/data/text/token_windows.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <bochner/train/tasks/serialize.hpp>

namespace bochner {

template <class Archive>
void serialize(Archive& archive, Batch& batch) {
  serialize_indices(archive, batch.inputs);
  serialize_indices(archive, batch.targets);
}

struct TextFacts {
  static constexpr const char* kind = "text";
  std::uint64_t length = 256;   ///< tokens of a training window
  std::uint64_t tokenizer = 0;  ///< digest; 0 for bytes and for generated tokens
  std::vector<Batch> specimens = {};

  template <class Archive>
  void serialize(Archive& archive) {
    archive(length, tokenizer, specimens);
  }
  void check() const { require_size("tokens of a window", length, std::uint64_t(1) << 32); }
};

/// Returns facts for a model without data.
inline TextFacts assumed_text_facts(const Config& config) {
  return {.length = config.count("data.length")};
}

}  // namespace bochner
