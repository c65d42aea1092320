#include <gmock/gmock.h>

#include <bochner/layers/convolutions/filter.hpp>
#include <bochner/layers/recurrences/diagonal_system.hpp>
#include <bochner/train/studies/learned_pages.hpp>
#include <cmath>
#include <complex>

#include "train/well_formed.hpp"

namespace bochner {
namespace linear_parts_test {

/// Channel c answers exp(-rate_c lag) cos(omega_c lag).
class Waves : public ImpulseResponse {
 public:
  std::vector<double> rate, omega;
  Tensor response(std::size_t count) override {
    Tensor h = zeros({count, rate.size()});
    for (std::size_t l = 0; l < count; ++l)
      for (std::size_t c = 0; c < rate.size(); ++c)
        h(l, c) = real(std::exp(-rate[c] * double(l)) * std::cos(omega[c] * double(l)));
    return h;
  }
};

/// |1 / (1 - e^(-rate + i omega - i w)) + 1 / (1 - e^(-rate - i omega - i w))| / 2
double gain_of(double rate, double omega, double w) {
  const auto half = [&](double sign) {
    return 1.0 / (1.0 - std::exp(std::complex<double>(-rate, sign * omega - w)));
  };
  return std::abs(half(1) + half(-1)) / 2;
}

TEST(LinearParts, HaveTheTransferFunctionOfTheirResponse) {
  Waves waves;
  waves.rate = {0.3, 0.1, 0.8, 0.5, 1, 0.9}, waves.omega = {0.5, 0, 2, 1, 0.1, 3};
  const LinearPart part = study_linear_part("waves", waves);
  ASSERT_EQ(part.groups.size(), 4u);
  std::size_t seen = 0;
  for (const ChannelGroup& group : part.groups) {
    EXPECT_EQ(group.first, seen);
    seen += group.count;
    for (std::size_t i = 0; i < group.gain.x.size(); i += 7) {
      double square = 0;
      for (std::size_t c = group.first; c < seen; ++c) {
        const double gain = gain_of(waves.rate[c], waves.omega[c], group.gain.x[i]);
        square += gain * gain / double(group.count);
      }
      const double error = i < 15 ? 1e-4 : 0.1;  // bins grow, and are not their middles
      EXPECT_NEAR(group.gain.y[i] / std::sqrt(square), 1, error) << group.gain.x[i];
    }
    EXPECT_NEAR(group.impulse.y[0], 1, 1e-6);
  }
  EXPECT_EQ(seen, 6u);
  EXPECT_TRUE(part.groups[0].density.x.empty());
  waves.rate = {std::log(2.)}, waves.omega = {0};
  EXPECT_EQ(study_linear_part("halves", waves).groups[0].half_life, 0u);
}

FilterSpec spectral(double tau) {
  FilterSpec spec;
  spec.kind = "spectral", spec.width = 2, spec.states = 512;
  spec.shortest = spec.longest = tau;
  return spec;
}

/// Draws of a normal distribution, in radians per token.
TEST(LinearParts, ShowTheDensityThatAFilterIsTheTransformOf) {
  FilterSpec spec = spectral(400);
  spec.density.log_scale = std::log(60);
  TwoSidedFilter filter(spec, true);
  initialize(filter, 1);
  const ChannelGroup group = study_linear_part("filter", filter).groups[0];
  ASSERT_FALSE(group.density.x.empty());
  double area = 0, mean = 0;
  for (std::size_t i = 1; i < group.density.x.size(); ++i) {
    const double part = group.density.y[i] * std::log(group.density.x[i] / group.density.x[i - 1]);
    area += part, mean += part * std::log(group.density.x[i]);
  }
  EXPECT_NEAR(area, 1, 0.02);
  // E ln |x| of a normal distribution is -(gamma + ln 2) / 2
  EXPECT_NEAR(mean, std::log(60 * 3.14159265 / 400) - 0.6352, 0.1);
}

/// Few draws: the density of ln |x| of a normal distribution is highest at its deviation, 2 phi(1).
TEST(LinearParts, ShowTheClosedFormOfTheDensityWhateverTheDraws) {
  FilterSpec spec = spectral(400);
  spec.states = 4;
  TwoSidedFilter filter(spec, true);
  initialize(filter, 1);
  const LinearPart part = study_linear_part("filter", filter);
  const ChannelGroup& group = part.groups[0];
  EXPECT_TRUE(group.closed_form);
  EXPECT_EQ(group.draws.size(), 4u);
  EXPECT_NEAR(std::ranges::max(group.density.y), 0.4839, 1e-3);
  EXPECT_THAT(linear_json(part), testing::HasSubstr("\"spectrum\""));
  spec.density.kind = "free";
  TwoSidedFilter free(spec, true);
  initialize(free, 1);
  const LinearPart drawn = study_linear_part("filter", free);
  EXPECT_FALSE(drawn.groups[0].closed_form);
  EXPECT_THAT(linear_json(drawn), testing::HasSubstr("\"smoothed_draws\""));
}

/// Filters and state spaces of all forms are found and drawn.
TEST(LinearParts, AreShownForFiltersAndStateSpaces) {
  std::vector<LinearPart> parts;
  for (const char* form : {"s4d", "ema", "s5", "lru"}) {
    SsmSpec spec;
    spec.form = form, spec.states = 8;
    const bool shared = spec.form == "s5" || spec.form == "lru";
    const auto system =
        shared ? make_shared_states(spec, 6, true) : make_channel_states(spec, 6, true);
    initialize(*system, 1);
    parts.push_back(study_linear_part(form, *system));
    const ChannelGroup& last = parts.back().groups.back();
    EXPECT_EQ(last.first + last.count, shared ? 8u : 6u) << form;
  }
  TwoSidedFilter filter(spectral(20), true);
  initialize(filter, 1);
  parts.push_back(study_linear_part("spectral", filter));
  Page page("filters", "");
  add_linear_parts(page, parts, parts);
  const std::string html = page.html();
  EXPECT_EQ(XmlReader(html).problem(), "");
  EXPECT_THAT(html, testing::HasSubstr("spectral: spectrum p(ω)"));
  EXPECT_THAT(html, testing::HasSubstr("s5: transfer function"));
  EXPECT_THAT(linear_text(parts[0]), testing::HasSubstr("channels 1 to 2"));
  EXPECT_THAT(linear_json(parts.back()), testing::HasSubstr("density_of_log"));
}

}  // namespace linear_parts_test
}  // namespace bochner
