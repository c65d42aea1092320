#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>
#include <bochner/layers/recurrences/recurrent_specs.hpp>
#include <map>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace min_gru_test {

using namespace layer_check;

constexpr std::size_t D = 4;

/// Computes x W + b of a token, in double.
double affine_of(const Tensor& x, std::size_t t, const Tensor& w, const Tensor& b, std::size_t j) {
  double sum = b.data()[j];
  for (std::size_t i = 0; i < D; ++i) sum += double(x(0, t, i)) * double(w(i, j));
  return sum;
}

TEST(MinGru, IsItsRecurrenceInDouble) {
  for (const std::string candidate : {"positive", "linear"}) {
    MixerSpec spec;
    spec.kind = "min_gru", spec.width = D;
    spec.own.of<MinGruSpec>().candidate = candidate;
    const auto mixer = mixers().make("min_gru", spec);
    randomize(*mixer, 1);
    std::map<std::string, Tensor> p;
    for (const NamedParameter& named : parameters_of(*mixer))
      p[named.name] = named.parameter->value();
    const Tensor x = random_tensor({1, 50, D}, 1);
    Tape tape;
    const Tensor y = mixer->forward(tape, x).value();
    std::vector<double> h(D);
    for (std::size_t t = 0; t < 50; ++t) {
      for (std::size_t j = 0; j < D; ++j) {
        const double z = 1 / (1 + std::exp(-affine_of(x, t, p["directions.0.gate.weight"],
                                                      p["directions.0.gate.bias"], j)));
        double c = affine_of(x, t, p["directions.0.candidate.weight"],
                             p["directions.0.candidate.bias"], j);
        if (candidate == "positive") c = c >= 0 ? c + 0.5 : 1 / (1 + std::exp(-c));
        h[j] = (1 - z) * h[j] + z * c;
      }
      for (std::size_t j = 0; j < D; ++j) {
        double sum = p["output.bias"].data()[j];
        for (std::size_t i = 0; i < D; ++i) sum += h[i] * double(p["output.weight"](i, j));
        ASSERT_NEAR(y(0, t, j), sum, is_double ? 1e-12 : 1e-5) << candidate << " " << t;
      }
    }
  }
}

}  // namespace min_gru_test
}  // namespace bochner::inline BOCHNER_PRECISION
