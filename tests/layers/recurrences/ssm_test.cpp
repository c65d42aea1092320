#include <gmock/gmock.h>

#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>
#include <bochner/layers/models/token_inputs.hpp>
#include <bochner/layers/recurrences/eigenvalues.hpp>
#include <complex>
#include <map>

#include "layers/mixer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ssm_test {

using namespace layer_check;
using Complex = std::complex<double>;

constexpr std::size_t D = 6;

/// Returns the spec of the system alone: no gate, and with zero_skip() no skip.
MixerSpec spec_of(const std::string& form, bool causal = true, std::size_t states = 4) {
  MixerSpec spec;
  spec.kind = "ssm", spec.width = D, spec.causal = causal;
  SsmSpec& own = spec.own.of<SsmSpec>();
  own.form = form, own.states = states, own.blocks = 2, own.output = "none";
  return spec;
}

std::map<std::string, Tensor*> values_of(Module& module) {
  std::map<std::string, Tensor*> values;
  for (const NamedParameter& named : parameters_of(module))
    values[named.name] = &named.parameter->value();
  return values;
}

/// Makes an initialized mixer without the skip.
std::unique_ptr<Mixer> started(const MixerSpec& spec) {
  auto mixer = mixers().make(spec.kind, spec);
  initialize(*mixer, 1);
  values_of(*mixer).at("skip")->fill(0);
  return mixer;
}

/// Returns 1 in channel c of the first of T tokens.
Tensor impulse(std::size_t c, std::size_t T) {
  Tensor x = zeros({1, T, D});
  x(0, 0, c) = 1;
  return x;
}

/// Returns decay and gain of an eigenvalue by zero-order hold, or by the bilinear rule.
std::pair<Complex, Complex> discrete_of(double log_rate, double frequency, double log_step,
                                        bool bilinear) {
  const double step = std::exp(log_step);
  const Complex a(-std::exp(log_rate), frequency), z = step * a;
  if (bilinear) return {(1 - 1e-6) * (1.0 + z / 2.0) / (1.0 - z / 2.0), step / (1.0 - z / 2.0)};
  return {std::exp(z), (std::exp(z) - 1.0) / a};
}

constexpr double limit = is_double ? 1e-12 : 1e-5;

TEST(Ssm, OfChannelsAnswersAnImpulseWithPowersOfItsEigenvalues) {
  for (const auto& [form, bilinear] :
       {std::pair{"s4d", false}, std::pair{"dss", false}, std::pair{"s4d", true}}) {
    SCOPED_TRACE(form);
    MixerSpec spec = spec_of(form);
    if (bilinear) spec.own.of<SsmSpec>().discretisation = "bilinear";
    const auto mixer = started(spec);
    auto values = values_of(*mixer);
    const Tensor &rate = *values["system.spectrum.log_rate"],
                 &frequency = *values["system.spectrum.frequencies"],
                 &step = *values["system.spectrum.log_step"], &output = *values["system.output"];
    for (std::size_t c = 0; c < D; ++c) {
      const Tensor y = output_of(*mixer, impulse(c, 40));
      for (std::size_t t = 0; t < 40; ++t) {
        double sum = 0;
        for (std::size_t n = 0; n < 4; ++n) {
          const auto [decay, gain] = discrete_of(rate(n, c), frequency(n, c), step(c), bilinear);
          const Complex weight(output(0, n, c), output(1, n, c));
          sum += (weight * gain * std::pow(decay, double(t))).real();
        }
        ASSERT_NEAR(y(0, t, c), spec.own.of<SsmSpec>().form == "s4d" ? 2 * sum : sum, limit) << t;
        ASSERT_EQ(y(0, t, (c + 1) % D), 0) << t;
      }
    }
  }
}

TEST(Ssm, OfMegaIsItsDampedAverage) {
  const auto mixer = started(spec_of("ema"));
  auto values = values_of(*mixer);
  const auto sigmoid_of = [](double x) { return 1 / (1 + std::exp(-x)); };
  const Tensor y = output_of(*mixer, impulse(2, 40));
  for (std::size_t t = 0; t < 40; ++t) {
    double sum = 0;
    for (std::size_t n = 0; n < 4; ++n) {
      const double p = sigmoid_of((*values["system.directions.0.spectrum.delta"])(n, 2));
      const double q = 1 - p * sigmoid_of((*values["system.directions.0.spectrum.alpha"])(n, 2));
      sum += p * (*values["system.directions.0.beta"])(n, 2) *
             (*values["system.directions.0.gamma"])(n, 2) * std::pow(q, double(t)) / std::sqrt(4.0);
    }
    ASSERT_NEAR(y(0, t, 2), sum, limit) << t;
  }
}

/// Returns decay and gain of the states of s5 and lru.
std::pair<Complex, Complex> shared_of(const std::string& form,
                                      std::map<std::string, Tensor*>& values, std::size_t p) {
  const auto at = [&](const char* name) {
    return double(values.at("system.spectrum." + std::string(name))->data()[p]);
  };
  if (form == "s5") return discrete_of(at("log_rate"), at("frequencies"), at("log_step"), false);
  return {std::exp(Complex(-std::exp(at("log_rate")), std::exp(at("log_phase")))),
          std::exp(at("log_gain"))};
}

TEST(Ssm, OfTheLayerAnswersAnImpulseWithPowersOfItsEigenvalues) {
  for (const std::string form : {"s5", "lru"}) {
    SCOPED_TRACE(form);
    const auto mixer = started(spec_of(form));
    auto values = values_of(*mixer);
    const Tensor &input = *values["system.input"], &output = *values["system.output"];
    for (std::size_t from = 0; from < D; ++from) {
      const Tensor y = output_of(*mixer, impulse(from, 40));
      for (std::size_t t = 0; t < 40; ++t) {
        for (std::size_t to = 0; to < D; ++to) {
          double sum = 0;
          for (std::size_t p = 0; p < 4; ++p) {
            const auto [decay, gain] = shared_of(form, values, p);
            const Complex b(input(from, p), input(from, 4 + p)),
                c(output(p, to), -output(4 + p, to));
            sum += (c * std::pow(decay, double(t)) * gain * b).real();
          }
          ASSERT_NEAR(y(0, t, to), form == "s5" ? 2 * sum : sum, limit) << t;
        }
      }
    }
  }
}

/// The second direction runs the system from the last token to the first.
TEST(Ssm, InBothDirectionsIsTheSumOfTwoSystems) {
  for (const char* form : {"s4d", "s5", "lru"}) {
    SCOPED_TRACE(form);
    const auto both = started(spec_of(form, false)), forth = started(spec_of(form)),
               back = started(spec_of(form));
    auto values = values_of(*both);
    for (auto& [name, value] : values_of(*forth)) *value = *values.at(name);
    for (auto& [name, value] : values_of(*back))
      *value = *values.at(name == "system.output" ? "system.reverse_output" : name);
    const std::size_t T = 20;
    const Tensor x = random_tensor({1, T, D}, 1), y = output_of(*both, x);
    Tensor turned = x;
    for (std::size_t t = 0; t < T; ++t)
      for (std::size_t c = 0; c < D; ++c) turned(0, t, c) = x(0, T - 1 - t, c);
    const Tensor first = output_of(*forth, x), second = output_of(*back, turned);
    for (std::size_t t = 0; t < T; ++t)
      for (std::size_t c = 0; c < D; ++c)
        ASSERT_NEAR(y(0, t, c), first(0, t, c) + second(0, T - 1 - t, c), limit);
  }
}

/// A token held for two units of time equals two tokens.
TEST(Ssm, TakesStepsOfAnyLengthInS5) {
  for (const bool causal : {true, false}) {
    const auto mixer = started(spec_of("s5", causal));
    const std::size_t T = 9;
    Tensor x = random_tensor({2, T, D}, 1), ones = filled({2, T}, real(1));
    const Tensor regular = output_of(*mixer, x);
    op_check::expect_near(output_of(*mixer, x, {.gaps = ones}), regular, limit);
    if (!causal) continue;
    Tensor held = x, gaps = ones;
    for (std::size_t c = 0; c < D; ++c) x(0, 4, c) = x(0, 5, c), held(0, 5, c) = x(0, 5, c);
    const Tensor twice = output_of(*mixer, x);
    gaps(0, 4) = 2;
    Tensor shorter = uninitialized({1, T - 1, D}), of_shorter = filled({1, T - 1}, real(1));
    for (std::size_t t = 0; t + 1 < T; ++t)
      for (std::size_t c = 0; c < D; ++c) shorter(0, t, c) = x(0, t < 5 ? t : t + 1, c);
    of_shorter(0, 4) = 2;
    const Tensor once = output_of(*mixer, shorter, {.gaps = of_shorter});
    for (std::size_t t = 4; t + 1 < T; ++t)
      for (std::size_t c = 0; c < D; ++c) ASSERT_NEAR(once(0, t, c), twice(0, t + 1, c), limit);
  }
}

/// In reverse, a token's gap is that to the next token.
TEST(Ssm, MeetsIrregularTimeFromBothEndsAlike) {
  const auto both = started(spec_of("s5", false)), forth = started(spec_of("s5")),
             back = started(spec_of("s5"));
  auto values = values_of(*both);
  for (auto& [name, value] : values_of(*forth)) *value = *values.at(name);
  for (auto& [name, value] : values_of(*back))
    *value = *values.at(name == "system.output" ? "system.reverse_output" : name);
  const std::size_t T = 12, length = 9;
  const Tensor x = random_tensor({1, T, D}, 1);
  Tensor gaps = filled({1, T}, real(1)), turned = x, turned_gaps = gaps;
  for (std::size_t t = 0; t < length; ++t) gaps(0, t) = real(0.5 + 0.25 * double(t));
  for (std::size_t t = 0; t < length; ++t) {
    if (t > 0) turned_gaps(0, t) = gaps(0, length - t);
    for (std::size_t c = 0; c < D; ++c) turned(0, t, c) = x(0, length - 1 - t, c);
  }
  const Layout layout{.lengths = {length}, .gaps = gaps};
  const Tensor y = output_of(*both, x, layout), first = output_of(*forth, x, layout),
               second = output_of(*back, turned, {.lengths = {length}, .gaps = turned_gaps});
  for (std::size_t t = 0; t < length; ++t)
    for (std::size_t c = 0; c < D; ++c)
      ASSERT_NEAR(y(0, t, c), first(0, t, c) + second(0, length - 1 - t, c), limit) << t;
}

/// A late first token equals one at distance 1.
TEST(Ssm, HearsTheFirstTokenOfIrregularTimes) {
  for (const bool causal : {true, false}) {
    const auto mixer = started(spec_of("s5", causal));
    const Tensor x = random_tensor({1, 3, D}, 1);
    const Tensor wanted = output_of(*mixer, x);
    for (const double first : {0.0, 1.0, 1000.0}) {
      Times times(std::vector<std::size_t>{1, 3});
      for (std::size_t t = 0; t < 3; ++t) times(0, t) = first + double(t);
      const Tensor y = output_of(*mixer, x, layout_of(times));
      for (std::size_t i = 0; i < y.size(); ++i)
        ASSERT_NEAR(y.data()[i], wanted.data()[i], limit) << first;
    }
  }
}

TEST(Ssm, StepsThroughIrregularTimeAsTheBatchDoes) {
  const auto mixer = started(spec_of("s5"));
  const std::size_t T = 30;
  Tensor gaps = uninitialized({1, T});
  const RandomFunction random{2, Purpose::test, 0};
  for (std::size_t t = 0; t < T; ++t) gaps(0, t) = t == 7 ? 0 : real(3 * random.uniform(t));
  expect_stream_equals_batch(*mixer, random_tensor({1, T, D}, 1), limit, {.gaps = gaps});
}

TEST(Ssm, SaysWhichFormsNeedEqualSteps) {
  for (const std::string form : {"s4d", "dss", "ema", "lru"}) {
    const auto mixer = started(spec_of(form));
    const Layout layout{.gaps = filled({1, 3}, real(2))};
    EXPECT_EQ(op_check::error_of([&] {
                output_of(*mixer, zeros({1, 3, D}), layout);
              }),
              "[ssm] form \"" + form +
                  "\" requires tokens at equal distances; use s5 for irregular times");
  }
}

/// States decay for any parameters.
TEST(Ssm, HasEigenvaluesBelowOneForAnyParameters) {
  SsmSpec spec;
  for (const char* rule : {"zoh", "bilinear"}) {
    spec.discretisation = rule;
    ContinuousEigenvalues stepped(spec, hippo_eigenvalues(100), Shape{100});
    RingEigenvalues ring(spec, 100);
    for (const double deviation : {0.1, 3.0, 30.0, 1000.0}) {
      for (EigenvalueParameters* spectrum :
           std::initializer_list<EigenvalueParameters*>{&stepped, &ring}) {
        randomize(*spectrum, deviation);
        Tape tape;
        for (const real gap : {real(1e-6), real(1e-3), real(1e-2), real(0.1), real(1)}) {
          const bool steps = spectrum == &stepped;
          const Discrete of = spectrum->discrete(tape, steps ? Var(filled({}, gap)) : Var());
          for (std::size_t i = 0; i < 100; ++i) {
            const double re = of.decay.re.data()[i], im = of.decay.im.data()[i];
            ASSERT_LT(re * re + im * im, 1) << rule << " " << deviation << " " << gap;
          }
        }
      }
    }
  }
}

TEST(Ssm, StartsWithTheEigenvaluesOfThePapers) {
  const Eigenvalues one = hippo_eigenvalues(1);
  EXPECT_NEAR(one.im[0], std::sqrt(0.75), 1e-12);
  EXPECT_NEAR(initial_eigenvalues("lin", 5).im[3], 3 * 3.14159265358979, 1e-12);
  const double size = 10;
  EXPECT_NEAR(initial_eigenvalues("inv", 5).im[1], size / 3.14159265358979 * (size / 3 - 1), 1e-12);
  // The squares of the eigenvalues of an antisymmetric matrix sum to those of its elements.
  const Eigenvalues all = hippo_eigenvalues(32);
  double squares = 0, elements = 0;
  for (const double mu : all.im) squares += 2 * mu * mu;
  for (std::size_t i = 0; i < 64; ++i)
    for (std::size_t j = 0; j < i; ++j) elements += 0.5 * (2 * double(i) + 1) * (2 * double(j) + 1);
  EXPECT_NEAR(squares, elements, 1e-9 * elements);
  EXPECT_TRUE(std::is_sorted(all.im.begin(), all.im.end()));
  EXPECT_GT(all.im[0], 0);
}

TEST(Ssm, StartsWithStepsAndRadiiInTheirRanges) {
  const auto mixer = started(spec_of("s4d"));
  for (const real step : *values_of(*mixer)["system.spectrum.log_step"]) {
    EXPECT_GE(step, std::log(0.001) - 1e-5);
    EXPECT_LE(step, std::log(0.1) + 1e-5);
  }
  MixerSpec spec = spec_of("lru", true, 300);
  SsmSpec& own = spec.own.of<SsmSpec>();
  own.radius_min = 0.5, own.radius_max = 0.9, own.phase = 0.3;
  const auto ring = started(spec);
  auto values = values_of(*ring);
  double mean_square = 0;
  for (std::size_t p = 0; p < 300; ++p) {
    const auto [decay, gain] = shared_of("lru", values, p);
    EXPECT_GE(std::abs(decay), 0.5 - 1e-6);
    EXPECT_LE(std::abs(decay), 0.9 + 1e-6);
    EXPECT_GE(std::arg(decay), 0);
    EXPECT_LE(std::arg(decay), 0.3 + 1e-6);
    EXPECT_NEAR(std::norm(gain), 1 - std::norm(decay), 1e-5);
    mean_square += std::norm(decay) / 300;
  }
  const double spread = (0.81 - 0.25) / std::sqrt(12 * 300.0);
  EXPECT_NEAR(mean_square, (0.81 + 0.25) / 2, 5 * spread);
}

TEST(Ssm, HasEqualBitsForAnyThreads) {
  for (const char* form : {"s4d", "dss", "s5", "lru", "ema"}) {
    SCOPED_TRACE(form);
    MixerSpec spec = spec_of(form, false);
    spec.own.of<SsmSpec>().output = "form";
    const auto mixer = mixers().make("ssm", spec);
    initialize(*mixer, 1);
    const Tensor x = random_tensor({3, 130, D}, 1);
    const auto gradients = [&] {
      return parameter_gradients(*mixer, [&](Tape& tape) {
        return mixer->forward(tape, tape.constant(x), {.lengths = {130, 7, 64}});
      });
    };
    set_thread_count(1);
    const std::vector<Tensor> one = gradients();
    for (const std::size_t count : {2, 3, 8}) {
      set_thread_count(count);
      const std::vector<Tensor> many = gradients();
      for (std::size_t i = 0; i < one.size(); ++i) op_check::expect_equal_bits(many[i], one[i]);
    }
    set_thread_count(0);
  }
}

TEST(Ssm, RefusesWhatOnlyAttentionHas) {
  MixerSpec spec = spec_of("s4d");
  spec.time_kernel.kind = "decay";
  EXPECT_EQ(op_check::error_of([&] { mixers().make("ssm", spec); }),
            "[ssm] does not support time_kernel; set it to \"none\"");
  spec = spec_of("s5");
  spec.own.of<SsmSpec>().states = 5;
  EXPECT_EQ(op_check::error_of([&] { mixers().make("ssm", spec); }),
            "[ssm] blocks = 2 must divide states = 5");
  spec.own.of<SsmSpec>().blocks = 0;
  EXPECT_EQ(op_check::error_of([&] { mixers().make("ssm", spec); }),
            "[mixer] ssm.blocks = 0: must be between 1 and 4096");
}

}  // namespace ssm_test
}  // namespace bochner::inline BOCHNER_PRECISION
