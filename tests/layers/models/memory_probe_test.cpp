#include <gmock/gmock.h>

#include <bochner/layers/mixers/mixer_spec.hpp>
#include <bochner/layers/models/block.hpp>
#include <bochner/layers/models/memory_probe.hpp>
#include <cmath>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace memory_probe_test {

using namespace layer_check;

/// y_e(t) = sum over n and d of kernel(n, e, d) u_d(t - n): the Jacobian is the kernel. A bug may
/// shift it in the backward pass.
class Convolution : public Mixer {
 public:
  explicit Convolution(Tensor kernel, std::size_t bug = 0)
      : kernel_(std::move(kernel)), bug_(bug) {}
  Var forward(Tape&, const Var& x, const Layout&) override {
    const std::size_t T = x.dim(1), E = kernel_.shape()[1], D = kernel_.shape()[2];
    Tensor y = zeros({x.dim(0), T, E});
    each_term(x.dim(0), T, 0, [&](std::size_t to, std::size_t from, const real* k) {
      for (std::size_t i = 0; i < E * D; ++i)
        y.data()[to * E + i / D] += k[i] * x.data()[from * D + i % D];
    });
    return record("convolution", std::move(y), {x}, [=, this](Tensor& g) {
      Tensor& gradient = x.gradient_buffer();
      each_term(g.shape()[0], T, bug_, [&](std::size_t to, std::size_t from, const real* k) {
        for (std::size_t i = 0; i < E * D; ++i)
          gradient.data()[from * D + i % D] += k[i] * g.data()[to * E + i / D];
      });
    });
  }
  std::unique_ptr<MixerState> start() const override { return nullptr; }
  Var step(Tape&, const Var& x, MixerState&) override { return x; }
  void visit(Visitor&) override {}

 private:
  template <class Term>
  void each_term(std::size_t B, std::size_t T, std::size_t shift, const Term& term) const {
    const std::size_t N = kernel_.shape()[0], size = kernel_.size() / N;
    for (std::size_t row = 0; row < B * T; ++row)
      for (std::size_t n = 0; n < N && n + shift <= row % T; ++n)
        term(row, row - n - shift, kernel_.data() + n * size);
  }
  Tensor kernel_;  // (N, E, D)
  std::size_t bug_;
};

/// Returns separate kernels of two channels.
Tensor kernel_of(const std::vector<double>& first, const std::vector<double>& second) {
  Tensor kernel = zeros({first.size(), 2, 2});
  for (std::size_t n = 0; n < first.size(); ++n)
    kernel(n, 0, 0) = real(first[n]), kernel(n, 1, 1) = real(second[n]);
  return kernel;
}

std::vector<ProbeWindow> windows_of(std::size_t T, std::size_t D, std::size_t count = 1) {
  std::vector<ProbeWindow> windows;
  for (std::size_t i = 0; i < count; ++i) windows.push_back({random_tensor({1, T, D}, 10 + i)});
  return windows;
}

/// Returns the largest difference from |kernel(n)|, root mean square over channels.
double distance(const Tensor& kernel, const std::vector<double>& influence) {
  const std::size_t N = kernel.shape()[0], E = kernel.shape()[1], size = kernel.size() / N;
  double largest = 0;
  for (std::size_t n = 0; n < influence.size(); ++n) {
    double square = 0;
    for (std::size_t i = 0; n < N && i < size; ++i)
      square += std::pow(double(kernel.data()[n * size + i]), 2) / double(E);
    largest = std::max(largest, std::abs(influence[n] - std::sqrt(square)));
  }
  return largest;
}

TEST(MemoryProbe, OfAConvolutionIsItsKernel) {
  const Tensor shorter = kernel_of({1, -0.5, 0.25}, {0.2, 0.7, -0.1});
  std::vector<double> first, second;
  for (int n = 0; n < 60; ++n)
    first.push_back(std::cos(n) / (1 + n)), second.push_back(std::sin(n) / (1 + n));
  for (const Tensor& kernel : {shorter, kernel_of(first, second)}) {
    for (std::size_t draws : {0, 1, 3}) {
      Convolution convolution(kernel);
      const Influence influence = probe(convolution, windows_of(60, 2, 2), {.draws = draws});
      EXPECT_EQ(influence.past.square.size(), 60u);
      EXPECT_TRUE(influence.ahead.square.empty());
      EXPECT_LT(distance(kernel, influence.by_distance()), 1e-6);
      EXPECT_LT(*std::ranges::max_element(influence.past.error), 1e-7);
      const auto map = [&](Tape& tape, const Var& u, const ProbeWindow& window) {
        return convolution.forward(tape, u, window.layout);
      };
      EXPECT_LT(distance(kernel, impulse_response(map, windows_of(60, 2, 2), {.draws = draws})),
                is_double ? 1e-9 : 1e-4);
    }
  }
}

/// The comparison above detects an off-by-one lag.
TEST(MemoryProbe, FindsALagThatIsOffByOne) {
  const Tensor kernel = kernel_of({1, -0.5, 0.25}, {0.2, 0.7, -0.1});
  Convolution wrong(kernel, 1);
  EXPECT_GT(distance(kernel, probe(wrong, windows_of(20, 2)).by_distance()), 0.1);
}

TEST(MemoryProbe, OfADecayIsItsExponential) {
  for (const double tau : {3.0, 20.0, 100.0}) {
    std::vector<double> decay;
    for (int n = 0; n < 1000; ++n) decay.push_back(std::exp(-n / tau));
    Convolution convolution(kernel_of(decay, decay));
    const Influence influence = probe(convolution, windows_of(1000, 2), {.draws = 2});
    const auto values = influence.by_distance();
    for (std::size_t n = 0; n < 1000; ++n) EXPECT_NEAR(values[n], decay[n], 1e-6);
    // 1 - exp(-(n + 1) / tau) is half of the total.
    const auto half = std::size_t(std::ceil(tau * std::log(2) - 1));
    EXPECT_EQ(half_life(values), half);
    EXPECT_THAT(influence.half_lives, testing::ElementsAre(half));
    EXPECT_NEAR(share_beyond(values, 64), std::exp(-65 / tau), 1e-4);
  }
}

/// Mixing channels: single draws scatter around the squared norm by their standard error.
TEST(MemoryProbe, IsUnbiasedAndKnowsItsError) {
  const Tensor kernel = random_tensor({3, 5, 4}, 1);
  Convolution convolution(kernel);
  const auto windows = windows_of(3, 4);
  const LagCurve exact = probe(convolution, windows, {.draws = 0}).past;
  EXPECT_LT(distance(kernel, probe(convolution, windows, {.draws = 0}).by_distance()), 1e-6);
  const std::size_t seeds = 400;
  for (std::size_t n = 0; n < 3; ++n) {
    double mean = 0, square = 0, said = 0;
    for (std::size_t seed = 1; seed <= seeds; ++seed) {
      const LagCurve one = probe(convolution, windows, {.draws = 4, .seed = seed}).past;
      mean += one.square[n] / seeds;
      square += std::pow(one.square[n] - exact.square[n], 2) / seeds;
      said += std::pow(one.error[n], 2) / seeds;
    }
    EXPECT_NEAR(mean, exact.square[n], 5 * std::sqrt(square / seeds));
    EXPECT_NEAR(said / square, 1, 0.35);
    EXPECT_GT(square, 0);
  }
}

std::vector<MixerSpec> all_mixers() {
  std::vector<MixerSpec> specs;
  const auto add = [&](const std::string& kind, const std::string& time, bool causal) {
    MixerSpec spec;
    spec.kind = kind;
    spec.width = 4, spec.features.m = 5, spec.chunk = 4;
    spec.heads = kind == "rwkv7" ? 1 : 2;  // its layer norm leaves only signs of two channels
    spec.time_kernel = {time, 2, 30};
    spec.causal = causal;
    specs.push_back(spec);
  };
  for (const bool causal : {true, false})
    for (const std::string& kind : mixers().names()) add(kind, "none", causal);
  for (const char* time : {"decay", "rotation", "spectral", "gate"}) add("linear", time, true);
  for (const bool causal : {true, false}) {
    add("linear", "decay", causal);
    specs.back().update = "delta", specs.back().features.kind = "fourier";
    add("linear", "gate", causal);
    specs.back().time_kernel.per = "channel";
  }
  return specs;
}

/// Returns |dy(t)/du(s)|_F^2 / E for all s by central differences.
std::vector<double> differences(Mixer& mixer, const ProbeWindow& window, std::size_t t) {
  const std::size_t T = window.u.shape()[1], D = window.u.shape()[2];
  const double step = is_double ? 1e-5 : 1e-2;
  std::vector<double> squares(T);
  for (std::size_t i = 0; i < T * D; ++i) {
    Tensor y[2];
    for (int side : {0, 1}) {
      Tensor u = window.u;
      u.data()[i] += real(side == 0 ? step : -step);
      Tape tape({.recording = false});
      y[side] = mixer.forward(tape, tape.constant(std::move(u)), window.layout).value();
    }
    for (std::size_t e = 0; e < D; ++e) {
      const double slope = double(y[0](0, t, e) - y[1](0, t, e)) / (2 * step);
      squares[i / D] += slope * slope / double(D);
    }
  }
  return squares;
}

TEST(MemoryProbe, OfEveryMixerIsAFiniteDifference) {
  for (const MixerSpec& spec : all_mixers()) {
    SCOPED_TRACE(spec.kind + ", " + spec.update + ", " + spec.time_kernel.kind + " per " +
                 spec.time_kernel.per + (spec.causal ? "" : ", both ways"));
    const auto mixer = mixers().make(spec.kind, spec);
    randomize(*mixer);
    const ProbeWindow window = windows_of(12, 4).front();
    const Influence influence = probe(*mixer, {window}, {.draws = 0});
    const std::size_t t = spec.causal ? 11 : 6;
    const std::vector<double> wanted = differences(*mixer, window, t);
    ASSERT_EQ(influence.past.square.size(), t + 1);
    ASSERT_EQ(influence.ahead.square.size(), spec.causal ? 0u : 6u);
    const double bar = is_double ? 1e-6 : 2e-2;
    for (std::size_t n = 0; n <= t; ++n)
      EXPECT_NEAR(std::sqrt(influence.past.square[n]), std::sqrt(wanted[t - n]), bar) << n;
    for (std::size_t n = 1; n < influence.ahead.square.size(); ++n)
      EXPECT_NEAR(std::sqrt(influence.ahead.square[n]), std::sqrt(wanted[t + n]), bar) << n;
    for (const NamedParameter& named : parameters_of(*mixer))
      EXPECT_FALSE(named.parameter->has_gradient()) << named.name;
  }
}

/// The window includes what is added before every block, which changes the derivative.
TEST(MemoryProbe, OfAStackTakesWhatIsAddedInFrontOfEachBlock) {
  StackSpec spec;
  spec.blocks = 2, spec.block.width = 4, spec.block.expansion = 1, spec.block.mixer.heads = 2;
  BlockStack stack(spec);
  randomize(stack);
  const SequenceMap map = [&](Tape& tape, const Var& u, const ProbeWindow& window) {
    const bool has_each = window.each.dimension() > 0;
    return stack.forward(tape, u, window.layout, has_each ? tape.view(window.each) : Var());
  };
  ProbeWindow window = windows_of(6, 4).front();
  const auto plain = probe(map, {window}, {.draws = 3}).by_distance();
  window.each = zeros({1, 6, 4});
  EXPECT_EQ(probe(map, {window}, {.draws = 3}).by_distance(), plain);
  window.each = random_tensor({1, 6, 4}, 7);
  EXPECT_NE(probe(map, {window}, {.draws = 3}).by_distance(), plain);
}

/// Windows of several lengths, one with padding: each lag counts the windows that have it.
TEST(MemoryProbe, SeesRealTokensOnly) {
  const auto mixer = mixers().make("softmax", all_mixers().front());
  randomize(*mixer);
  std::vector<ProbeWindow> windows = windows_of(12, 4);
  windows.push_back({random_tensor({1, 20, 4}, 3), {.lengths = {7}}});
  const Influence influence = probe(*mixer, windows, {.draws = 0});
  EXPECT_EQ(influence.past.windows, std::vector<std::size_t>({2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1}));
  ProbeWindow alone{uninitialized({1, 7, 4})};
  std::copy_n(windows[1].u.data(), 28, alone.u.data());
  const LagCurve one = probe(*mixer, {windows[0]}, {.draws = 0}).past,
                 other = probe(*mixer, {alone}, {.draws = 0}).past;
  for (std::size_t n = 0; n < 12; ++n)
    EXPECT_NEAR(influence.past.square[n],
                n < 7 ? (one.square[n] + other.square[n]) / 2 : one.square[n], 1e-6);
}

/// More draws than fit in a batch.
TEST(MemoryProbe, HasEqualBitsForAllThreads) {
  const auto mixer = mixers().make("linear", all_mixers().back());
  randomize(*mixer);
  const auto squares = [&](std::size_t threads) {
    set_thread_count(threads);
    const Influence influence = probe(*mixer, windows_of(3000, 4), {.draws = 5});
    set_thread_count(0);
    return influence.past.square;
  };
  const auto one = squares(1);
  for (std::size_t threads : {2, 3}) EXPECT_EQ(squares(threads), one);
}

TEST(MemoryProbe, SaysWhatItCannotLookAt) {
  Convolution convolution(kernel_of({1}, {1}));
  EXPECT_EQ(op_check::error_of([&] { probe(convolution, {}); }), "[probe] no windows");
  EXPECT_EQ(op_check::error_of([&] {
              probe(convolution, {{zeros({2, 3, 2})}});
            }),
            "[probe] a window must be (1, T, D) with T > 0, not (2, 3, 2)");
}

}  // namespace memory_probe_test
}  // namespace bochner::inline BOCHNER_PRECISION
