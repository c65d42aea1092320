#include <gmock/gmock.h>

#include <bit>
#include <bochner/layers/attention/mixer.hpp>
#include <bochner/layers/attention/mixer_spec.hpp>
#include <bochner/layers/convolutions/filter.hpp>
#include <map>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace convolution_mixers_test {

using namespace layer_check;

constexpr std::size_t width = 6;

/// A mixer as keys choose it.
struct Chosen {
  std::string kind;
  std::map<std::string, std::string> keys = {};
  std::string name() const {
    std::string text = kind;
    for (const auto& [key, value] : keys) text += ", " + key + " = " + value;
    return text;
  }
};

/// Sets what a test wants.
class SetKeys : public Keys {
 public:
  explicit SetKeys(const std::map<std::string, std::string>& wanted) : wanted_(wanted) {}
  ~SetKeys() override { EXPECT_EQ(found_, wanted_.size()); }

 protected:
  void on_key(const Key& key) override {
    const auto found = wanted_.find(key.name);
    if (found == wanted_.end()) return;
    ++found_;
    if (auto* text = std::get_if<std::string*>(&key.member)) **text = found->second;
    if (auto* flag = std::get_if<bool*>(&key.member)) **flag = found->second == "true";
    if (auto* number = std::get_if<double*>(&key.member)) **number = std::stod(found->second);
    if (auto* whole = std::get_if<std::int64_t*>(&key.member)) **whole = std::stoll(found->second);
  }

 private:
  const std::map<std::string, std::string>& wanted_;
  std::size_t found_ = 0;
};

std::unique_ptr<Mixer> make(const Chosen& which, bool causal = true, std::size_t length = 300) {
  MixerSpec spec;
  spec.kind = which.kind;
  spec.width = width, spec.heads = 2;
  spec.causal = causal;
  spec.features.length = length;
  SetKeys keys(which.keys);
  describe(keys, spec);
  auto mixer = mixers().make(spec.kind, spec);
  initialize(*mixer, 1);  // buffers, too
  return mixer;
}

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

/// Whether the time constants that it starts with are long; random ones are a token or two.
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
    const Tensor x = random_tensor({1, T, width}, 1);
    Tape tape;
    tape.recording = false;
    const Tensor batch = mixer->forward(tape, x).value();
    const auto state = mixer->start();
    for (std::size_t t = 0; t < T; ++t) {
      Tensor token = uninitialized({1, 1, width});
      std::copy_n(x.data() + t * width, width, token.data());
      const Tensor y = mixer->step(tape, token, *state).value();
      for (std::size_t e = 0; e < width; ++e)
        ASSERT_NEAR(y.data()[e], batch.data()[t * width + e],
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

/// To the bit where sums are direct, else to what spectra round.
TEST(ConvolutionMixers, NeverSeeTheFuture) {
  for (const Chosen& which : all_chosen()) {
    for (const std::size_t T : {50, 280}) {
      SCOPED_TRACE(which.name());
      const auto mixer = make(which);
      if (!remembers(which)) randomize(*mixer, 0.2);
      Tensor x = random_tensor({1, T, width}, 1);
      Tape tape;
      tape.recording = false;
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
    Tape tape;
    tape.recording = false;
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
      Tape tape;
      tape.recording = false;
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
      if (step == 2) requested = pool::statistics().blocks_requested;
    }
    EXPECT_EQ(pool::statistics().blocks_requested, requested);
  }
}

TEST(ConvolutionMixers, RefuseWhatTheyCannotDo) {
  const auto mixer = make({"hyena"}, false);
  Tape tape;
  EXPECT_EQ(op_check::error_of([&] {
              mixer->step(tape, zeros({1, 1, width}), *mixer->start());
            }),
            "[hyena] only causal attention can be computed token by token");
  EXPECT_THAT(op_check::error_of([&] {
                mixer->forward(tape, zeros({1, 2, width}), {.gaps = zeros({1, 2})});
              }),
              testing::HasSubstr("[hyena] needs tokens at equal distances"));
  EXPECT_THAT(op_check::error_of([&] {
                make({"hyena", {{"filter.features", "4"}}});
              }),
              testing::HasSubstr("features = 4 must be odd"));
  for (const char* kind : {"hyena", "h3", "sgconv", "long_conv"}) {
    MixerSpec spec;
    spec.kind = kind, spec.width = width;
    spec.time_kernel.kind = "decay";
    EXPECT_THAT(op_check::error_of([&] { mixers().make(kind, spec); }),
                testing::HasSubstr("wants time_kernel = \"none\""));
    spec.time_kernel.kind = "none", spec.rotary = true;
    EXPECT_THAT(op_check::error_of([&] { mixers().make(kind, spec); }),
                testing::HasSubstr("wants positions other than \"rotary\""));
  }
}

void set_parameter(Module& module, const std::string& name, const Tensor& value) {
  for (const NamedParameter& named : parameters_of(module))
    if (named.name == name) return named.parameter->assign(value);
  FAIL() << "no parameter " << name;
}

/// (rows, columns), one where column is row + first.
Tensor identity(std::size_t rows, std::size_t columns) {
  Tensor ones = zeros({rows, columns});
  for (std::size_t i = 0; i < rows; ++i) ones(i, i) = 1;
  return ones;
}

TwoSidedFilter& filter_of(Mixer& mixer, const std::string& name = "filter") {
  for (const NamedPart& part : parts_of(mixer))
    if (part.name == name) return dynamic_cast<TwoSidedFilter&>(*part.part);
  throw std::logic_error("no part " + name);
}

/// Of order 2 with gates of one: the response to an impulse is the second filter after the first.
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
  Tape tape;
  tape.recording = false;
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

/// The parameters of Linear, split among its outputs: x W + b, columns first .. first + width - 1.
Tensor projected(Mixer& mixer, const Tensor& x, std::size_t first) {
  const Tensor *weight = nullptr, *bias = nullptr;
  for (const NamedParameter& named : parameters_of(mixer)) {
    if (named.name == "projections.weight") weight = &named.parameter->value();
    if (named.name == "projections.bias") bias = &named.parameter->value();
  }
  const std::size_t T = x.shape()[1];
  Tensor y = zeros({T, width});
  for (std::size_t t = 0; t < T; ++t) {
    for (std::size_t c = 0; c < width; ++c) {
      double sum = (*bias)(first + c);
      for (std::size_t e = 0; e < width; ++e)
        sum += double(x(0, t, e)) * double((*weight)(e, first + c));
      y(t, c) = real(sum);
    }
  }
  return y;
}

/// y = D_q S_diag D_k' v with k' = S_shift k, state spaces as triangular Toeplitz matrices.
TEST(H3Mixer, IsItsMatrix) {
  const auto mixer = make({"h3", {{"h3.shift", "7"}}});
  initialize(*mixer, 3);
  set_parameter(*mixer, "output.weight", identity(width, width));
  set_parameter(*mixer, "output.bias", zeros({width}));
  const std::size_t T = 150;
  const Tensor x = random_tensor({1, T, width}, 1);
  Tape tape;
  tape.recording = false;
  const Tensor y = mixer->forward(tape, x).value();
  const Tensor q = projected(*mixer, x, 0), k = projected(*mixer, x, width),
               v = projected(*mixer, x, 2 * width);
  const Tensor shift = filter_of(*mixer, "shift").past(T, 0, width);
  const Tensor diagonal = filter_of(*mixer).past(T, 0, width);
  EXPECT_EQ(shift.shape()[0], 7u);
  for (std::size_t c = 0; c < width; ++c) {
    std::vector<double> shifted(T);
    for (std::size_t t = 0; t < T; ++t)
      for (std::size_t j = 0; j < 7 && j <= t; ++j)
        shifted[t] += double(shift(j, c)) * double(k(t - j, c));
    for (std::size_t t = 0; t < T; ++t) {
      double expected = 0;  // row t of the matrix times v
      for (std::size_t s = 0; s <= t; ++s)
        expected += double(q(t, c)) * double(diagonal(t - s, c)) * shifted[s] * double(v(s, c));
      ASSERT_NEAR(y(0, t, c), expected, (is_double ? 1e-12 : 1e-5) * (1 + std::abs(expected))) << t;
    }
  }
}

/// In heads of more channels: y = q^T sum over s of h_(t-s) k'_s v_s^T.
TEST(H3Mixer, RemembersAllProductsOfAHead) {
  const std::size_t T = 120, channels = 3;
  const auto mixer = make({"h3", {{"h3.shift", "7"}, {"h3.channels", "3"}}});
  set_parameter(*mixer, "output.weight", identity(width, width));
  set_parameter(*mixer, "output.bias", zeros({width}));
  const Tensor x = random_tensor({1, T, width}, 1);
  Tape tape;
  tape.recording = false;
  const Tensor y = mixer->forward(tape, x).value();
  const Tensor q = projected(*mixer, x, 0), k = projected(*mixer, x, width),
               v = projected(*mixer, x, 2 * width);
  const Tensor shift = filter_of(*mixer, "shift").past(T, 0, width);
  const Tensor diagonal = filter_of(*mixer).past(T, 0, width / channels);
  ASSERT_EQ(diagonal.shape()[1], width / channels);
  const auto shifted = [&](std::size_t t, std::size_t c) {
    double sum = 0;
    for (std::size_t j = 0; j < 7 && j <= t; ++j) sum += double(shift(j, c)) * double(k(t - j, c));
    return sum;
  };
  for (std::size_t t : {0, 5, 119}) {
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t head = c / channels;
      double expected = 0;
      for (std::size_t s = 0; s <= t; ++s)
        for (std::size_t i = head * channels; i < (head + 1) * channels; ++i)
          expected +=
              double(q(t, i)) * double(diagonal(t - s, head)) * shifted(s, i) * double(v(s, c));
      ASSERT_NEAR(y(0, t, c), expected, (is_double ? 1e-12 : 1e-5) * (1 + std::abs(expected))) << t;
    }
  }
  EXPECT_THAT(op_check::error_of([] {
                make({"h3", {{"h3.channels", "4"}}});
              }),
              testing::HasSubstr("[h3] channels = 4 of a head must divide the width 6"));
}

/// Blocks of 1, 1, 2, 4, 8, 16 lags, each weight half of the last one's.
TEST(SgConvMixer, StartsWithAKernelOfNormOne) {
  for (const bool causal : {true, false}) {
    const auto mixer = make({"sgconv", {{"filter.length", "32"}}}, causal);
    initialize(*mixer, 3);
    const Tensor& weight = parameters_of(*mixer)[0].parameter->value();
    const Tensor& norm = *buffers_of(*mixer)[0].tensor;
    const std::size_t blocks = 6, first = causal ? 0 : blocks;
    ASSERT_EQ(weight.shape()[0], first + blocks);
    for (std::size_t c = 0; c < width; ++c) {
      double square = 0;
      for (std::size_t lag = 0; lag < 32; ++lag) {
        const std::size_t block = std::size_t(std::bit_width(lag));
        square += std::pow(std::exp2(5 - double(block)) * double(weight(first + block, c)), 2);
      }
      EXPECT_NEAR(norm(0, c), std::sqrt(square), 1e-4 * std::sqrt(square));
    }
  }
}

/// Of a gate that is open: gelu of the convolution.
void show_convolution(Mixer& mixer) {
  Tensor bias = zeros({2 * width});
  std::fill_n(bias.data() + width, width, real(100));
  set_parameter(mixer, "output.weight", identity(width, 2 * width));
  set_parameter(mixer, "output.bias", bias);
}

/// What tokens on both sides see of one in the middle: blocks from lag 0 on and from lag -1 on.
TEST(SgConvMixer, WeighsBothSidesByTheirBlocks) {
  const auto mixer = make({"sgconv", {{"filter.length", "32"}}}, false);
  initialize(*mixer, 3);
  show_convolution(*mixer);
  const Tensor &weight = parameters_of(*mixer)[0].parameter->value(),
               &skip = parameters_of(*mixer)[1].parameter->value(),
               &norm = *buffers_of(*mixer)[0].tensor;
  const std::size_t T = 61, middle = 30, blocks = 6;
  Tensor impulse = zeros({1, T, width});
  for (std::size_t c = 0; c < width; ++c) impulse(0, middle, c) = 1;
  Tape tape;
  tape.recording = false;
  const Tensor y = mixer->forward(tape, impulse).value();
  for (std::size_t t = 0; t < T; ++t) {
    const bool ahead = t < middle;  // the token sees what follows
    const std::size_t lag = ahead ? middle - t - 1 : t - middle;
    const std::size_t block = std::size_t(std::bit_width(lag));
    const std::size_t row = ahead ? blocks - 1 - block : blocks + block;
    for (std::size_t c = 0; c < width; ++c) {
      const double kernel =
          std::exp2(5 - double(block)) * double(weight(row, c)) / double(norm(ahead ? 1 : 0, c)) +
          (t == middle ? double(skip(0, c)) : 0);
      EXPECT_NEAR(y(0, t, c), kernel * std::erfc(-kernel / std::sqrt(2.)) / 2, 2e-3) << t;
    }
  }
}

/// Constant pieces by prefix sums are those between whose single numbers there is nothing.
TEST(SgConvMixer, IsTheLongConvolutionByItsPieces) {
  const auto sums = make({"sgconv", {{"filter.length", "32"}}}),
             rows = make({"long_conv", {{"filter.length", "32"}, {"filter.kind", "dyadic"}}});
  initialize(*sums, 3);
  const std::vector<NamedParameter> from = parameters_of(*sums);
  set_parameter(*rows, "filter.past.weight", from[0].parameter->value());
  Tensor skip = from[1].parameter->value();
  set_parameter(*rows, "filter.skip", Tensor(skip.reshape(Shape{width})));
  Tensor& norm = *buffers_of(*rows)[0].tensor;
  const Tensor& start = *buffers_of(*sums)[0].tensor;
  std::copy_n(start.data(), width, norm.data());
  show_convolution(*sums);
  show_convolution(*rows);
  const Tensor x = random_tensor({2, 90, width}, 1);
  Tape tape;
  tape.recording = false;
  const Tensor a = sums->forward(tape, x).value(), b = rows->forward(tape, x).value();
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a.data()[i], b.data()[i], is_double ? 1e-12 : 1e-5) << i;
}

}  // namespace convolution_mixers_test
}  // namespace bochner::inline BOCHNER_PRECISION
