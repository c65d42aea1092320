#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <bochner/layers/recurrences/recurrent_specs.hpp>
#include <set>

#include "layers/layer_check.hpp"
#include "layers/models/random_tokens.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace language_model_test {

using namespace layer_check;

LanguageModelSpec tiny(const std::string& mixer, const std::string& positions) {
  LanguageModelSpec spec;
  spec.vocabulary = 7, spec.length = 12, spec.blocks = 2, spec.positions = positions;
  spec.block.width = 8, spec.block.expansion = 2;
  spec.block.mixer.kind = mixer;
  spec.block.mixer.heads = 2, spec.block.mixer.chunk = 4, spec.block.mixer.features.m = 5;
  spec.block.mixer.time_kernel = {"decay", 2, 30};
  spec.encoding.space.frequencies = 3, spec.encoding.time.frequencies = 2;
  spec.places = {.separator = {3}, .length = 12};
  return spec;
}

std::vector<LanguageModelSpec> all_specs() {
  std::vector<LanguageModelSpec> specs;
  for (const char* mixer : {"softmax", "linear"}) {
    for (const char* positions : {"learned", "sinusoidal", "rotary", "none"})
      specs.push_back(tiny(mixer, positions));
    for (const char* encoding : {"fused", "additive", "multiplicative"}) {
      specs.push_back(tiny(mixer, "encoding"));
      specs.back().encoding.kind = encoding;
    }
    specs.back().every_block = true;
  }
  specs[3].head = {.tied_embeddings = true, .logit_cap = 2};
  return specs;
}

std::string name_of(const LanguageModelSpec& spec) {
  return spec.block.mixer.kind + ", " + spec.positions + ", " + spec.encoding.kind;
}

TEST(Block, IsDifferentiableThroughAllItsParameters) {
  for (const char* norm : {"layer", "rms"}) {
    BlockSpec spec = tiny("linear", "none").block;
    spec.norm = norm;
    spec.mixer.width = spec.width;
    Block block(spec);
    randomize(block, 0.4);
    check_layer(block, random_tensor({2, 5, 8}, 1),
                [&](Tape& tape, const Var& x) { return block.forward(tape, x); });
  }
}

TEST(LanguageModel, IsDifferentiableThroughAllItsParameters) {
  for (const LanguageModelSpec& spec : all_specs()) {
    SCOPED_TRACE(name_of(spec));
    LanguageModel model(spec);
    randomize(model, 0.4);
    check_layer(model, random_tensor({1}, 1), [&](Tape& tape, const Var&) {
      return model.loss(tape, tokens(2, 9, 1), tokens(2, 9, 2));
    });
  }
}

/// Compares `step(token, state, t)` for 12 tokens with the logits of the batch.
template <class Step>
void expect_logits(LanguageModel& model, const Indices& text, const Tensor& logits, double limit,
                   const Step& step) {
  LanguageModel::State state = model.start();
  for (std::size_t t = 0; t < 12; ++t) {
    const Tensor y = step(text.values[t], state, t);
    ASSERT_EQ(to_string(y.shape()), "(7)");
    for (std::size_t i = 0; i < 7; ++i)
      ASSERT_NEAR(y.data()[i], logits.data()[t * 7 + i], limit) << t;
  }
}

TEST(LanguageModel, StepByStepGivesTheLogitsOfTheWholeSequence) {
  for (const LanguageModelSpec& spec : all_specs()) {
    SCOPED_TRACE(name_of(spec));
    LanguageModel model(spec);
    randomize(model, 0.3);
    const Indices text = tokens(1, 12, 1);
    Tape tape({.recording = false});
    const Tensor logits = model.logits(tape, text).value();
    expect_logits(
        model, text, logits, is_double ? 1e-12 : 5e-5,
        [&](std::int32_t token, auto& state, std::size_t) { return model.step(token, state); });
  }
}

/// Returns logits (T, B, V) of texts (B, T), stepped together.
Tensor step_side_by_side(LanguageModel& model, const Indices& text) {
  const std::size_t B = text.shape[0], T = text.shape[1];
  LanguageModel::State state = model.start();
  Tensor logits = uninitialized({T, B, 7});
  for (std::size_t t = 0; t < T; ++t) {
    std::vector<std::int32_t> now(B);
    for (std::size_t b = 0; b < B; ++b) now[b] = text.values[b * T + t];
    const Tensor y = model.step(now, state);
    EXPECT_EQ(y.shape(), Shape({B, 7}));
    std::copy_n(y.data(), y.size(), logits.data() + t * B * 7);
  }
  return logits;
}

TEST(LanguageModel, StepsSeveralSequencesAtOnce) {
  for (const LanguageModelSpec& spec : all_specs()) {
    SCOPED_TRACE(name_of(spec));
    LanguageModel model(spec);
    randomize(model, 0.3);
    for (const std::size_t B : {3, 32, 65}) {
      const Indices text = tokens(B, 12, 1);
      Tape tape({.recording = false});
      const Tensor logits = model.logits(tape, text).value(), y = step_side_by_side(model, text);
      for (std::size_t i = 0; i < y.size(); ++i)
        ASSERT_NEAR(y.data()[i], logits.data()[(i / 7 % B * 12 + i / 7 / B) * 7 + i % 7],
                    is_double ? 1e-12 : 5e-5)
            << i;
    }
  }
}

TEST(LanguageModel, WantsATokenOfEachSequence) {
  LanguageModel model(tiny("linear", "none"));
  for (const std::size_t B : {3, 40}) {
    LanguageModel::State state = model.start();
    model.step(std::vector<std::int32_t>(B), state);
    for (const std::size_t wrong : {std::size_t(0), B - 1, B + 1, 2 * B}) {
      EXPECT_EQ(op_check::error_of([&] { model.step(std::vector<std::int32_t>(wrong), state); }),
                "[language_model] expected a token for each of " + std::to_string(B) +
                    " sequences, got " + std::to_string(wrong));
    }
  }
}

TEST(LanguageModel, MovesNoSequenceOnWhereATokenIsRefused) {
  LanguageModel model(tiny("linear", "none"));
  randomize(model, 0.3);
  std::vector<std::int32_t> tokens(40, 1);
  LanguageModel::State state = model.start(), undisturbed = model.start();
  model.step(tokens, state), model.step(tokens, undisturbed);
  tokens.back() = 7;
  EXPECT_EQ(op_check::error_of([&] { model.step(tokens, state); }),
            "[language_model] token 7 must be below 7");
  tokens.back() = 2;
  op_check::expect_equal_bits(model.step(tokens, state), model.step(tokens, undisturbed));
}

/// Wide enough for each form of packed weights.
TEST(LanguageModel, StepsManySequencesWithEqualBitsForAllThreads) {
  for (const char* mixer : {"softmax", "linear", "hgrn2", "mlstm", "hyena"}) {
    SCOPED_TRACE(mixer);
    LanguageModelSpec spec = tiny(mixer, "none");
    spec.block.width = 64, spec.block.mixer.time_kernel = {};
    LanguageModel model(spec);
    randomize(model, 0.1);
    const Indices text = tokens(70, 5, 1);
    const auto logits = [&](std::size_t threads) {
      set_thread_count(threads);
      return step_side_by_side(model, text);
    };
    const Tensor expected = logits(1);
    for (const std::size_t threads : {2, 3, 8})
      op_check::expect_equal_bits(logits(threads), expected);
    set_thread_count(0);
  }
}

TEST(LanguageModel, NeverSeesTheFutureToTheBit) {
  for (const LanguageModelSpec& spec : all_specs()) {
    SCOPED_TRACE(name_of(spec));
    LanguageModel model(spec);
    randomize(model, 0.3);
    Indices text = tokens(1, 12, 1);
    Tape tape({.recording = false});
    const Tensor before = model.logits(tape, text).value();
    for (std::size_t t = 12; t-- > 0;) {
      text.values[t] = (text.values[t] + 1) % 7;
      const Tensor after = model.logits(tape, text).value();
      ASSERT_EQ(std::memcmp(after.data(), before.data(), t * 7 * sizeof(real)), 0) << t;
      ASSERT_NE(after.data()[t * 7], before.data()[t * 7]);
    }
  }
}

/// With dropout, whose numbers must be equal in the recomputation.
TEST(LanguageModel, CheckpointsGiveEqualBits) {
  for (LanguageModelSpec spec : all_specs()) {
    SCOPED_TRACE(name_of(spec));
    spec.block.dropout = 0.3;
    std::vector<std::vector<Tensor>> gradients;
    for (bool checkpoint : {false, true}) {
      spec.checkpoint = checkpoint;
      LanguageModel model(spec);
      randomize(model, 0.4);
      gradients.push_back(parameter_gradients(
          model, [&](Tape& tape) { return model.logits(tape, tokens(2, 9, 1)); }));
    }
    for (std::size_t i = 0; i < gradients[0].size(); ++i)
      op_check::expect_equal_bits(gradients[0][i], gradients[1][i]);
  }
}

TEST(LanguageModel, HasEqualBitsForAllThreads) {
  for (const char* mixer : {"softmax", "linear"}) {
    LanguageModelSpec spec = tiny(mixer, "rotary");
    spec.block.width = 32, spec.length = 100;
    LanguageModel model(spec);
    randomize(model, 0.2);
    const auto gradients = [&](std::size_t threads) {
      set_thread_count(threads);
      return parameter_gradients(model,
                                 [&](Tape& tape) { return model.logits(tape, tokens(4, 100, 1)); });
    };
    const std::vector<Tensor> one = gradients(1);
    for (std::size_t threads : {2, 3, 4}) {
      const std::vector<Tensor> many = gradients(threads);
      for (std::size_t i = 0; i < one.size(); ++i) op_check::expect_equal_bits(many[i], one[i]);
    }
    set_thread_count(0);
  }
}

TEST(LanguageModel, NamesEveryPartOnce) {
  for (const LanguageModelSpec& spec : all_specs()) {
    LanguageModel model(spec);
    std::set<std::string> names;
    for (const std::string& name : names_of(model)) EXPECT_TRUE(names.insert(name).second) << name;
    for (const NamedTensor& buffer : buffers_of(model))
      EXPECT_TRUE(names.insert(buffer.name).second) << buffer.name;
    EXPECT_TRUE(names.contains("blocks.1.mixer.time_kernel.log_rate"));
    EXPECT_EQ(names.contains("positions.weight"), spec.positions == "learned");
    EXPECT_EQ(names.contains("blocks.1.mixer.features.density.noise"),
              spec.block.mixer.kind == "linear");
  }
}

/// D = 128, four blocks, 256 bytes, 256 learned positions.
TEST(LanguageModel, HasAsManyParametersAsItsPartsSay) {
  const std::size_t D = 128, V = 256, T = 256, H = 4;
  const std::size_t attention = 4 * (D * D + D), mlp = (D * 4 * D + 4 * D) + (4 * D * D + D);
  const std::size_t block = attention + mlp + 2 * 2 * D;
  const std::size_t rest = V * D + T * D + 2 * D + D * V + V;
  LanguageModelSpec spec;
  spec.block.mixer.kind = "softmax";
  LanguageModel softmax(spec);
  EXPECT_EQ(count_parameters(softmax), 4 * block + rest);
  spec.block.mixer.kind = "linear";
  spec.block.mixer.time_kernel.kind = "decay";
  LanguageModel linear(spec);
  EXPECT_EQ(count_parameters(linear), 4 * (block + 2 * D + H) + rest);
}

TEST(LanguageModel, GivesBlocksDifferentFrequencies) {
  LanguageModel model(tiny("linear", "none"));
  const auto buffers = buffers_of(model);
  ASSERT_EQ(buffers.size(), 2u);
  EXPECT_NE(*buffers[0].tensor, *buffers[1].tensor);
}

/// Two texts of the same lines in another order differ by the line number; without time, equal
/// lines agree.
TEST(LanguageModel, SeesLineAndPlaceInIt) {
  const Indices one{{1, 6}, {1, 2, 3, 1, 2, 3}};  // two equal lines of three
  const auto logits = [&](const std::string& encoding) {
    LanguageModelSpec spec = tiny("softmax", "encoding");
    spec.encoding.kind = encoding;
    spec.blocks = 0;
    LanguageModel model(spec);
    randomize(model, 0.5);
    Tape tape;
    return model.logits(tape, one).value();
  };
  const auto alike = [](const Tensor& y) {
    double apart = 0;
    for (std::size_t i = 0; i < 21; ++i)
      apart = std::max(apart, std::abs(double(y.data()[i]) - double(y.data()[21 + i])));
    return apart < 1e-6;
  };
  EXPECT_TRUE(alike(logits("space")));
  EXPECT_FALSE(alike(logits("time")));
  EXPECT_FALSE(alike(logits("fused")));
}

TEST(LanguageModel, KnowsItsLimit) {
  EXPECT_EQ(LanguageModel(tiny("linear", "learned")).position_limit(), 12u);
  EXPECT_GT(LanguageModel(tiny("linear", "rotary")).position_limit(), 1u << 30);
  EXPECT_GT(LanguageModel(tiny("linear", "encoding")).position_limit(), 1u << 30);
  LanguageModel model(tiny("linear", "none"));
  Tape tape;
  EXPECT_EQ(op_check::error_of([&] {
              model.logits(tape, Indices{{3}, {0, 1, 2}});
            }),
            "[language_model] tokens must be (B, T), not (3)");
}

/// Returns ascending, irregular times in units of 60 from an origin of 1000. (B, T)
Times stamps(std::size_t B, std::size_t T) {
  Times times(std::vector<std::size_t>{B, T});
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double t = double(i % T);
    times.data()[i] = 1000 + 60 * (t + 0.4 * std::sin(3 * t + double(i / T)) + (t > 4 ? 3 : 0));
  }
  return times;
}

std::vector<LanguageModelSpec> timed_specs() {
  std::vector<LanguageModelSpec> specs;
  for (LanguageModelSpec spec : {tiny("softmax", "none"), tiny("linear", "learned")}) {
    spec.timed = true, spec.time.m = 2, spec.time.longest = 20;
    for (const char* use : {"none", "concatenate", "add", "attend", "rotate"}) {
      spec.time.kind = std::string(use) == "none" ? "none" : "free";
      if (spec.time.kind == "free") spec.time.use = use;
      specs.push_back(spec);
    }
    spec.block.mixer.kind = "linear", spec.block.mixer.time_kernel = {"spectral", 2, 30};
    specs.push_back(spec);
  }
  LanguageModelSpec held = tiny("ssm", "none");
  held.timed = true, held.block.mixer.time_kernel.kind = "none";
  SsmSpec& own = held.block.mixer.own.of<SsmSpec>();
  own.form = "s5", own.states = 4, own.blocks = 2;
  specs.push_back(held);
  return specs;
}

std::string timed_name(const LanguageModelSpec& spec) {
  return name_of(spec) + ", " + spec.time.kind + " " + spec.time.use + ", " +
         spec.block.mixer.time_kernel.kind;
}

TEST(LanguageModel, OfTimedTokensIsDifferentiableThroughAllItsParameters) {
  for (const LanguageModelSpec& spec : timed_specs()) {
    SCOPED_TRACE(timed_name(spec));
    LanguageModel model(spec);
    randomize(model, 0.4);
    model.time_scale().fit(stamps(2, 7));
    check_layer(model, random_tensor({1}, 1), [&](Tape& tape, const Var&) {
      return model.loss(tape, tokens(2, 7, 1), tokens(2, 7, 2), stamps(2, 7));
    });
  }
}

TEST(LanguageModel, OfTimedTokensStepsThroughRealTime) {
  for (const LanguageModelSpec& spec : timed_specs()) {
    SCOPED_TRACE(timed_name(spec));
    LanguageModel model(spec);
    randomize(model, 0.3);
    const Indices text = tokens(1, 12, 1);
    Times times = stamps(1, 12);
    model.time_scale().fit(times);
    for (double& time : times) time += 500;  // the first token is not at the origin
    Tape tape({.recording = false});
    const Tensor logits = model.logits(tape, text, times).value();
    expect_logits(model, text, logits, is_double ? 1e-11 : 1e-4,
                  [&](std::int32_t token, auto& state, std::size_t t) {
                    return model.step(token, state, times(0, t));
                  });
  }
}

/// A later time of one token changes the logits from there on, and no earlier bit.
TEST(LanguageModel, OfTimedTokensSeesWhenTheyAre) {
  for (const LanguageModelSpec& spec : timed_specs()) {
    SCOPED_TRACE(timed_name(spec));
    LanguageModel model(spec);
    randomize(model, 0.3);
    const Indices text = tokens(1, 12, 1);
    const Times times = stamps(1, 12);
    Times later = times;
    for (std::size_t t = 6; t < 12; ++t) later(0, t) += 45;
    model.time_scale().fit(times);
    Tape tape({.recording = false});
    const Tensor before = model.logits(tape, text, times).value(),
                 after = model.logits(tape, text, later).value();
    for (std::size_t i = 0; i < before.size(); ++i)
      EXPECT_EQ(before.data()[i] != after.data()[i], i >= 6 * 7) << i;
  }
}

TEST(LanguageModel, OfTimedTokensNeedsTheirTimes) {
  LanguageModel model(timed_specs().front());
  Tape tape;
  EXPECT_EQ(op_check::error_of([&] { model.logits(tape, tokens(1, 3, 1)); }),
            "[trunk] times must have the shape of the tokens (1, 3)");
}

}  // namespace language_model_test
}  // namespace bochner::inline BOCHNER_PRECISION
