/// The library rejects the values that configs reject.

#include <bochner/layers/convolutions/filter.hpp>
#include <bochner/layers/gaussian_processes/gaussian_process.hpp>
#include <bochner/layers/mixers/mixers.hpp>
#include <bochner/layers/models/contrast_model.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <bochner/layers/models/variational_autoencoder.hpp>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace checked_specs_test {

template <class Spec>
std::string error_with(auto change, auto make) {
  Spec spec;
  change(spec);
  return op_check::error_of([&] { make(spec); });
}

TEST(CheckedSpecs, Densities) {
  const auto error_with_density = [](auto change) {
    return error_with<DensitySpec>(change, [](const DensitySpec& spec) { make_density(spec); });
  };
  EXPECT_EQ(error_with_density([](DensitySpec& spec) { spec.posterior = "ful"; }),
            "[density] posterior = \"ful\"; there are: none, mean_field, full");
  EXPECT_EQ(error_with_density([](DensitySpec& spec) { spec.prior = -1; }),
            "[density] prior = -1: must be at least 0");
}

TEST(CheckedSpecs, Mixers) {
  const auto error_with_mixer = [](auto change) {
    return error_with<MixerSpec>(change,
                                 [](const MixerSpec& spec) { mixers().make("linear", spec); });
  };
  EXPECT_EQ(error_with_mixer([](MixerSpec& spec) { spec.normalize = "l1"; }),
            "[mixer] normalize = \"l1\"; there are: none, l2");
  EXPECT_EQ(error_with_mixer([](MixerSpec& spec) { spec.time_kernel.longest = -2; }),
            "[mixer] time_kernel.longest = -2: must be greater than 0");
  EXPECT_EQ(error_with_mixer([](MixerSpec& spec) { spec.features.gates = 0; }),
            "[mixer] features.gates = 0: must be between 1 and 64");
}

TEST(CheckedSpecs, Filters) {
  EXPECT_EQ(
      error_with<FilterSpec>([](FilterSpec& spec) { spec.start = "zero"; },
                             [](const FilterSpec& spec) { filters().make("explicit", spec); }),
      "[filter] start = \"zero\"; there are: random, decay");
}

TEST(CheckedSpecs, Models) {
  const auto language_model = [](const LanguageModelSpec& spec) { LanguageModel{spec}; };
  EXPECT_EQ(error_with<LanguageModelSpec>(
                [](LanguageModelSpec& spec) { spec.noise.kind = "bigram"; }, language_model),
            "[language_model] noise.kind = \"bigram\"; there are: unigram, uniform");
  EXPECT_EQ(
      error_with<LanguageModelSpec>(
          [](LanguageModelSpec& spec) { spec.block.mixer.features.density.posterior = "map"; },
          language_model),
      "[language_model] mixer.density.posterior = \"map\"; there are: none, mean_field, full");
  EXPECT_EQ(
      error_with<ContrastModelSpec>([](ContrastModelSpec& spec) { spec.contrast.kind = "triplet"; },
                                    [](const ContrastModelSpec& spec) { ContrastModel{spec}; }),
      "[contrast] kind = \"triplet\"; there are: info_nce, prototypes");
  EXPECT_EQ(error_with<VaeSpec>([](VaeSpec& spec) { spec.latent.pooling = "max"; },
                                [](const VaeSpec& spec) { VariationalAutoencoder{spec}; }),
            "[vae] vae.pooling = \"max\"; there are: each, mean");
  EXPECT_EQ(error_with<GaussianProcessSpec>(
                [](GaussianProcessSpec& spec) { spec.inputs = 1, spec.combine = "mean"; },
                [](const GaussianProcessSpec& spec) { GaussianProcess{spec}; }),
            "[gaussian_process] combine = \"mean\"; there are: product, sum, both");
}

}  // namespace checked_specs_test
}  // namespace bochner::inline BOCHNER_PRECISION
