#pragma once
/// Augmentations: random views of examples for contrastive learning. They are a function of the
/// integers seed, step, example and view.

#include <bochner/data/labelled/labelled.hpp>

namespace bochner {

/// Strength of each augmentation; 0 disables it.
struct ViewsSpec {
  double shift = 0.1, rotate = 15, scale = 0.2, shear = 0.2, erase = 0.3, noise = 0.05;
  double crop = 0.3, warp = 0.3;
  double drop = 0.1, gaps = 0.3;
};
inline void describe(Keys& keys, ViewsSpec& spec) {
  const auto of = [&](std::vector<std::string> kinds, const auto& describe_some) {
    keys.when(when("data.kind", std::move(kinds)), describe_some);
  };
  of({"images", "shapes"}, [&] {
    keys("shift", spec.shift, between(0, 1), "largest shift along each axis, in units of the side");
    keys("rotate", spec.rotate, between(0, 180), "largest angle, in degrees");
    keys("shear", spec.shear, between(0, 1), "largest shear, in columns per row");
    keys("erase", spec.erase, between(0, 1),
         "longest side of a rectangle set to the mean, in units of the side");
  });
  of({"images", "shapes", "series"}, [&] {
    keys("scale", spec.scale, below(0, 1),
         "largest relative change of each side of an image; for a series, deviation of the log "
         "factor of each variate");
    keys("noise", spec.noise, between(0, 10),
         "deviation of added noise, relative to the range of brightness or to the deviation of the "
         "training rows");
  });
  of({"series", "event_files"}, [&] {
    keys("crop", spec.crop, below(0, 1),
         "largest part of a window or of the events cut off at the ends; the rest of a window is "
         "stretched to its length");
  });
  of({"series"},
     [&] { keys("warp", spec.warp, below(0, 1), "largest relative change of the pace of time"); });
  of({"event_files"}, [&] {
    keys("drop", spec.drop, below(0, 1), "probability that an event is dropped");
    keys("gaps", spec.gaps, between(0, 10), "deviation of the log factor of each gap");
  });
}

struct AugmentationKeys {
  ViewsSpec views;
};
inline void describe(Keys& keys, AugmentationKeys& spec) { keys.section("views", spec.views); }

/// Strength of each augmentation of training series; 0 disables it.
struct SeriesAugmentation {
  double crop = 0, warp = 0, scale = 0, noise = 0, missing = 0;
};
inline void describe(Keys& keys, SeriesAugmentation& spec) {
  keys(
      "crop", spec.crop, below(0, 1),
      "largest part of a training series cut off at the ends; the rest is stretched to its length");
  keys("warp", spec.warp, below(0, 1), "largest relative change of the pace of time");
  keys("scale", spec.scale, below(0, 1), "deviation of the log factor of each channel");
  keys("noise", spec.noise, between(0, 10), "deviation of added noise, in standardized units");
  keys("missing", spec.missing, below(0, 1), "probability that a value is removed");
}
struct SeriesAugmentationKeys {
  SeriesAugmentation augment;
};
inline void describe(Keys& keys, SeriesAugmentationKeys& spec) {
  keys.section("augment", spec.augment);
}

struct ViewPass {
  std::uint64_t seed = 1, step = 0;
  bool held_out = false;  ///< examples of another split, with other random numbers
  std::size_t view = 0;   ///< 0 or 1
};
/// Returns the random numbers of one view of one example.
Draws view_draws(const ViewPass& pass, std::uint64_t example);

/// Returns a view of an image with brightness from 0 to 1: an affine map around the centre
/// (bilinear, borders repeated), an erased rectangle and noise, clamped to 0 to 1. (rows columns
/// channels) -> the same
std::vector<float> image_view(const std::vector<float>& pixels, const ImageShape& shape,
                              const ViewsSpec& spec, Draws draws);

/// Returns a view of a window: a part stretched to its length at a smoothly changing pace, each
/// variate times a factor, plus noise. Beside a missing value (NaN) the nearest row counts. (V, L)
/// -> (V, L)
std::vector<float> series_view(const std::vector<float>& window, std::size_t variates,
                               const ViewsSpec& spec, Draws draws);

/// Returns series_view() of a series with values removed (NaN), a function of the integers of the
/// pass and the example. (channels, rows) -> the same
std::vector<float> augmented_series(const std::vector<float>& series, std::size_t channels,
                                    const SeriesAugmentation& spec, ViewPass pass,
                                    std::uint64_t example);

/// Returns a view of a sequence: at least one of the events of a part, in order, with gaps scaled
/// from the first event on.
LabelledExample event_view(const LabelledExample& events, const ViewsSpec& spec, Draws draws);

}  // namespace bochner
