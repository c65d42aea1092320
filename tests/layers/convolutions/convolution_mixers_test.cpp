#include "layers/convolutions/chosen_mixer.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace convolution_mixers_test {

using namespace chosen_mixer;

std::vector<Chosen> all_chosen() {
  return {{"hyena"},
          {"hyena", {{"hyena.order", "3"}, {"hyena.convolution", "0"}}},
          {"hyena", {{"hyena.form", "code"}, {"filter.learn_positions", "true"}}},
          {"hyena", {{"hyena.order", "3"}, {"hyena.form", "code"}, {"filter.shift", "0.1"}}},
          {"hyena", {{"filter.kind", "explicit"}, {"filter.length", "20"}}},
          {"hyena", {{"filter.kind", "spectral"}, {"filter.states", "5"}}},
          {"h3"},
          {"h3", {{"h3.shifted", "value"}, {"h3.shift", "5"}, {"h3.convolution", "2"}}},
          {"h3", {{"filter.kind", "spectral"}, {"filter.density.kind", "flow"}}},
          {"h3", {{"h3.channels", "3"}, {"h3.shift", "5"}}},
          {"h3", {{"h3.channels", "2"}, {"h3.shifted", "value"}, {"filter.eigenvalues", "legs"}}},
          {"sgconv"},
          {"sgconv", {{"filter.length", "40"}}},
          {"sgconv", {{"filter.piece", "4"}}},
          {"long_conv"},
          {"long_conv", {{"filter.smooth", "2"}, {"filter.start", "decay"}}},
          {"long_conv", {{"filter.kind", "implicit"}, {"filter.length", "40"}}}};
}

/// Returns whether the initial time constants are long; random ones are a token or two.
bool remembers(const Chosen& which) {
  const auto kind = which.keys.find("filter.kind");
  return which.kind == "h3" || (kind != which.keys.end() && kind->second == "spectral");
}

TEST(ConvolutionMixers, AreDifferentiableThroughAllTheirParameters) {
  for (const Chosen& which : all_chosen()) {
    for (const bool causal : {true, false}) {
      SCOPED_TRACE(which.name());
      Chosen small = which;
      small.keys.insert({{"filter.hidden", "5"}, {"filter.states", "3"}});
      const auto mixer = make(small, causal, 8);
      randomize(*mixer, 0.4);
      check_layer(*mixer, random_tensor({2, 7, width}, 1),
                  [&](Tape& tape, const Var& x) { return mixer->forward(tape, x); });
    }
  }
}

TEST(ConvolutionMixers, StepByStepEqualTheBatch) {
  for (const Chosen& which : all_chosen()) {
    SCOPED_TRACE(which.name());
    const auto mixer = make(which);
    if (!remembers(which)) randomize(*mixer, 0.2);
    const std::size_t T = 290;
    const Tensor x = random_tensor({2, T, width}, 1);
    Tape tape({.recording = false});
    const Tensor batch = mixer->forward(tape, x).value();
    const auto state = mixer->start();
    for (std::size_t t = 0; t < T; ++t) {
      const Tensor y = mixer->step(tape, layer_check::tokens_at(x, t), *state).value();
      const Tensor wanted = layer_check::tokens_at(batch, t);
      for (std::size_t e = 0; e < y.size(); ++e)
        ASSERT_NEAR(y.data()[e], wanted.data()[e],
                    (is_double ? 1e-11 : 1e-4) * std::max(1.0, std::abs(double(y.data()[e]))))
            << t;
    }
    EXPECT_EQ(state->position, T);
  }
}

double size_of(const Tensor& x) {
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    largest = std::max(largest, std::abs(double(x.data()[i])));
  return largest;
}

/// Bit-equal for direct sums, else to the rounding of spectra.
TEST(ConvolutionMixers, NeverSeeTheFuture) {
  for (const Chosen& which : all_chosen()) {
    for (const std::size_t T : {50, 280}) {
      SCOPED_TRACE(which.name());
      const auto mixer = make(which);
      if (!remembers(which)) randomize(*mixer, 0.2);
      Tensor x = random_tensor({1, T, width}, 1);
      Tape tape({.recording = false});
      const Tensor before = mixer->forward(tape, x).value();
      const std::size_t seen = T / 2 * width;
      for (std::size_t i = seen; i < x.size(); ++i) x.data()[i] += real(0.5);
      const Tensor after = mixer->forward(tape, x).value();
      const double limit = T == 50 ? 0 : (is_double ? 1e-13 : 1e-6) * size_of(after);
      for (std::size_t i = 0; i < seen; ++i)
        ASSERT_LE(std::abs(double(after.data()[i]) - double(before.data()[i])), limit) << i;
      EXPECT_NE(after.data()[seen], before.data()[seen]);
    }
  }
}

TEST(ConvolutionMixers, SeeTheFutureWhereTheyAreNotCausal) {
  for (const Chosen& which : all_chosen()) {
    SCOPED_TRACE(which.name());
    const auto mixer = make(which, false);
    randomize(*mixer, 0.4);
    Tensor x = random_tensor({1, 30, width}, 1);
    Tape tape({.recording = false});
    const Tensor before = mixer->forward(tape, x).value();
    x(0, 29, 0) += real(0.5);
    const Tensor after = mixer->forward(tape, x).value();
    EXPECT_NE(after(0, 28, 0), before(0, 28, 0));
    if (is_double && which.name().find("length") == std::string::npos) {
      EXPECT_NE(after(0, 0, 0), before(0, 0, 0));
    }
  }
}

TEST(ConvolutionMixers, SeePaddedSequencesAsTheyAreAlone) {
  const std::vector<std::size_t> lengths = {0, 3, 150, 199};
  const std::size_t T = 200, row = T * width;
  for (const Chosen& which : all_chosen()) {
    for (const bool causal : {true, false}) {
      SCOPED_TRACE(which.name());
      const auto mixer = make(which, causal);
      if (!remembers(which)) randomize(*mixer, 0.2);
      const Tensor x = random_tensor({lengths.size(), T, width}, 1);
      Tape tape({.recording = false});
      const Tensor padded = mixer->forward(tape, x, {.lengths = lengths}).value();
      for (std::size_t b = 1; b < lengths.size(); ++b) {
        Tensor alone = uninitialized({1, lengths[b], width});
        std::copy_n(x.data() + b * row, alone.size(), alone.data());
        const Tensor y = mixer->forward(tape, alone).value();
        for (std::size_t i = 0; i < y.size(); ++i)
          ASSERT_NEAR(padded.data()[b * row + i], y.data()[i],
                      (is_double ? 1e-12 : 1e-5) * std::max(1.0, size_of(y)))
              << b;
      }
    }
  }
}

TEST(ConvolutionMixers, HaveBitsThatDoNotDependOnThreads) {
  for (const Chosen& which : all_chosen()) {
    SCOPED_TRACE(which.name());
    const auto mixer = make(which, false);
    randomize(*mixer, 0.2);
    const Tensor x = random_tensor({5, 200, width}, 1);
    const auto all = [&](Tape& tape) { return mixer->forward(tape, tape.constant(x)); };
    set_thread_count(1);
    const std::vector<Tensor> one = parameter_gradients(*mixer, all);
    for (const std::size_t threads : {2, 3, 4, 8}) {
      set_thread_count(threads);
      const std::vector<Tensor> many = parameter_gradients(*mixer, all);
      for (std::size_t i = 0; i < one.size(); ++i) op_check::expect_equal_bits(many[i], one[i]);
    }
    set_thread_count(0);
  }
}

TEST(ConvolutionMixers, RequestNoMemoryFromTheThirdStepOn) {
  for (const Chosen& which : all_chosen()) {
    SCOPED_TRACE(which.name());
    const auto mixer = make(which, false);
    initialize(*mixer, 1);
    Parameter x{random_tensor({3, 150, width}, 1)};
    std::size_t requested = 0;
    for (int step = 0; step < 5; ++step) {
      Tape tape;
      const Var y = mixer->forward(tape, tape(x));
      tape.backward(y, random_tensor(y.shape(), 99));
      if (step == 2) requested = tensor_pool::statistics().blocks_requested;
    }
    EXPECT_EQ(tensor_pool::statistics().blocks_requested, requested);
  }
}

TEST(ConvolutionMixers, RefuseWhatTheyCannotDo) {
  const auto mixer = make({"hyena"}, false);
  Tape tape;
  EXPECT_EQ(op_check::error_of([&] {
              mixer->step(tape, zeros({1, 1, width}), *mixer->start());
            }),
            "[hyena] step() requires a causal mixer");
  EXPECT_THAT(op_check::error_of([&] {
                mixer->forward(tape, zeros({1, 2, width}), {.gaps = zeros({1, 2})});
              }),
              testing::HasSubstr("[hyena] requires tokens at equal distances"));
  EXPECT_THAT(op_check::error_of([&] {
                make({"hyena", {{"filter.features", "4"}}});
              }),
              testing::HasSubstr("features = 4 must be odd"));
  for (const char* kind : {"hyena", "h3", "sgconv", "long_conv"}) {
    MixerSpec spec;
    spec.kind = kind, spec.width = width;
    spec.time_kernel.kind = "decay";
    EXPECT_THAT(op_check::error_of([&] { mixers().make(kind, spec); }),
                testing::HasSubstr("does not support time_kernel; set it to \"none\""));
    spec.time_kernel.kind = "none", spec.rotary = true;
    EXPECT_THAT(op_check::error_of([&] { mixers().make(kind, spec); }),
                testing::HasSubstr("positions must not be \"rotary\""));
  }
}

/// Order 2 with gates of 1: the impulse response is the convolution of both filters.
TEST(HyenaMixer, RespondsToAnImpulseByItsFilters) {
  const auto mixer = make({"hyena", {{"hyena.convolution", "0"}}});
  initialize(*mixer, 3);
  Tensor bias = zeros({3 * width});
  for (std::size_t c = width; c < 3 * width; ++c) bias(c) = 1;
  set_parameter(*mixer, "projections.weight", identity(width, 3 * width));
  set_parameter(*mixer, "projections.bias", bias);
  set_parameter(*mixer, "output.weight", identity(width, width));
  set_parameter(*mixer, "output.bias", zeros({width}));
  const std::size_t T = 250;
  Tensor impulse = zeros({1, T, width});
  for (std::size_t c = 0; c < width; ++c) impulse(0, 0, c) = 1;
  Tape tape({.recording = false});
  const Tensor y = mixer->forward(tape, impulse).value();
  const Tensor h1 = filter_of(*mixer).past(T, 0, width),
               h2 = filter_of(*mixer).past(T, width, width);
  for (std::size_t t = 0; t < T; ++t) {
    for (std::size_t c = 0; c < width; ++c) {
      double expected = 0;
      for (std::size_t s = 0; s <= t; ++s) expected += double(h2(t - s, c)) * double(h1(s, c));
      ASSERT_NEAR(y(0, t, c), expected, is_double ? 1e-12 : 1e-5) << t;
    }
  }
}

}  // namespace convolution_mixers_test
}  // namespace bochner::inline BOCHNER_PRECISION
