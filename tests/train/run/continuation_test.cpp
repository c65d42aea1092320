#include <bochner/train/run/sampling.hpp>

#include "data/small_tokenizer.hpp"
#include "layers/layer_check.hpp"

namespace bochner {
namespace continuation_test {

using layer_check::randomize;

const std::vector<std::string> prompts = {"ab", "a prompt of some length", "x"};

LanguageModelSpec small_model(const std::string& positions) {
  LanguageModelSpec spec;
  spec.vocabulary = 256, spec.length = 16, spec.blocks = 1, spec.positions = positions;
  spec.block.width = 8;
  spec.block.mixer.kind = "linear", spec.block.mixer.heads = 2, spec.block.mixer.features.m = 4;
  return spec;
}

std::vector<std::string> continued(LanguageModel& model, std::span<const std::string> from,
                                   std::uint64_t first, const ContinuationOptions& options) {
  std::vector<std::string> texts(from.size());
  continue_texts(model, *make_byte_tokenizer(), from, first, options,
                 [&](std::size_t b, std::string_view bytes) { texts[b] += bytes; });
  return texts;
}

TEST(ContinueTexts, GivesEachTextWhatItHasAlone) {
  LanguageModel model(small_model("none"));
  randomize(model, 0.5);
  const ContinuationOptions options{.sampling = {}, .bytes = 40, .seed = 7};
  const std::vector<std::string> together = continued(model, prompts, 5, options);
  for (std::size_t b = 0; b < prompts.size(); ++b) {
    const std::vector<std::string> alone = continued(model, {&prompts[b], 1}, 5 + b, options);
    EXPECT_EQ(together[b], alone[0]) << b;
    EXPECT_EQ(together[b].size(), 40) << b;
  }
  EXPECT_NE(together[0], together[2]);
}

TEST(ContinueTexts, StartsAgainWherePositionsEnd) {
  LanguageModel model(small_model("learned"));
  randomize(model, 0.5);
  const std::vector<std::string> same = {"ab", "ab"};
  const ContinuationOptions options{.sampling = {.temperature = 0}, .bytes = 50};
  const std::vector<std::string> texts = continued(model, same, 0, options);
  EXPECT_EQ(texts[0].size(), 50);
  EXPECT_EQ(texts[0], texts[1]);
}

TEST(ContinueTexts, MayHaveOnePosition) {
  LanguageModelSpec spec = small_model("learned");
  spec.length = 1;
  LanguageModel model(spec);
  randomize(model, 0.5);
  const std::vector<std::string> prompt = {"ab"};
  EXPECT_EQ(continued(model, prompt, 0, {.sampling = {}, .bytes = 9})[0].size(), 9);
}

TEST(ContinueTexts, OfNoBytesSaysNothing) {
  LanguageModel model(small_model("none"));
  randomize(model, 0.5);
  EXPECT_EQ(continued(model, prompts, 0, {.sampling = {}, .bytes = 0}),
            (std::vector<std::string>(3)));
}

/// As many bytes as there may be: the first of them is the one that follows the whole prompt.
TEST(ContinueTexts, ReadsThePromptFirst) {
  LanguageModel model(small_model("none"));
  randomize(model, 0.5);
  ContinuationOptions options{.sampling = {}, .bytes = 1, .seed = 7};
  const std::string expected = continued(model, {&prompts[1], 1}, 0, options)[0];
  options.bytes = std::numeric_limits<std::uint64_t>::max();
  std::string first;
  const auto stop = [&](std::size_t, std::string_view bytes) {
    first = bytes;
    throw std::runtime_error("enough");
  };
  EXPECT_THROW(continue_texts(model, *make_byte_tokenizer(), {&prompts[1], 1}, 0, options, stop),
               std::runtime_error);
  EXPECT_EQ(first, expected);
}

/// Those of words end with the piece that reaches the bytes.
TEST(ContinueTexts, CountsBytesOfPieces) {
  const auto pieces = small_tokenizer();
  LanguageModelSpec spec = small_model("none");
  spec.vocabulary = pieces->vocabulary();
  LanguageModel model(spec);
  randomize(model, 0.5);
  const ContinuationOptions options{.sampling = {}, .bytes = 40, .seed = 7};
  const auto continued_words = [&](std::span<const std::string> from, std::uint64_t first) {
    std::vector<std::string> texts(from.size());
    continue_texts(model, *pieces, from, first, options,
                   [&](std::size_t b, std::string_view bytes) { texts[b] += bytes; });
    return texts;
  };
  const std::vector<std::string> together = continued_words(prompts, 0);
  for (std::size_t b = 0; b < prompts.size(); ++b) {
    EXPECT_GE(together[b].size(), 40u);
    EXPECT_LT(together[b].size(), 40 + pieces->longest());
    EXPECT_EQ(continued_words({&prompts[b], 1}, b)[0], together[b]);
  }
  const std::string nothing;
  EXPECT_THROW(continued_words({&nothing, 1}, 0), std::invalid_argument);
}

}  // namespace continuation_test
}  // namespace bochner
