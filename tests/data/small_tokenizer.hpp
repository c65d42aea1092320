#pragma once
/// Tokenizer models that train quickly.

#include <bochner/data/text/token_windows.hpp>
#include <bochner/data/text/tokenizer.hpp>

#include "data/temporary_folder.hpp"

namespace bochner {

/// Returns repeated words, with characters of more than a byte.
inline std::string text_of_words(unsigned lines = 400) {
  const char* words[] = {"the ",          "kernel ",    "learns ", "a ",
                         "na\xc3\xafve ", "spectrum, ", "while "};
  std::string text;
  for (unsigned i = 0; i < lines; ++i) {
    for (unsigned j = 0; j < 5; ++j) text += words[(i * i + 3 * j * i + j) % 7];
    text += std::to_string(i * 7919u % 1000u) + (i % 9 == 0 ? "\n\n" : ".\n");
  }
  return text;
}

inline std::string small_model(const std::string& kind = "unigram", std::size_t vocabulary = 330) {
  const TemporaryFolder folder;
  return train_tokenizer(ByteCorpus({folder.write("words", text_of_words())}),
                         {.model = kind, .vocabulary = vocabulary});
}

inline std::shared_ptr<const Tokenizer> small_tokenizer(const std::string& kind = "unigram") {
  return make_piece_tokenizer(bytes_of(small_model(kind)), "small.model");
}

}  // namespace bochner
