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
  keys("shift", spec.shift, between(0, 1),
       "views of images: largest shift along each axis, in its side");
  keys("rotate", spec.rotate, between(0, 180), "views of images: largest angle, in degrees");
  keys("scale", spec.scale, below(0, 1),
       "views of images: each side is changed by at most this part; of series: deviation of the "
       "logarithm of a factor of each variate");
  keys("shear", spec.shear, between(0, 1), "views of images: largest shear, columns for each row");
  keys("erase", spec.erase, between(0, 1),
       "views of images: longest side of a rectangle that is set to the mean, in the image's");
  keys("noise", spec.noise, between(0, 10),
       "views of images and series: deviation of the noise that is added to each value, in the "
       "whole range of brightness, and in the deviation of the training rows");
  keys("crop", spec.crop, below(0, 1),
       "views of series and events: largest part of a window, or of the events, that is cut off "
       "at its ends; what is left of a window is stretched to its length");
  keys("warp", spec.warp, below(0, 1),
       "views of series: how much the pace of time changes in a window: by this part at most");
  keys("drop", spec.drop, below(0, 1), "views of events: probability that an event is left out");
  keys("gaps", spec.gaps, between(0, 10),
       "views of events: deviation of the logarithm of a factor of each gap");
}

struct AugmentationKeys {
  ViewsSpec views;
};
inline void describe(Keys& keys, AugmentationKeys& spec) { keys.section("views", spec.views); }

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
/// variate times a factor, plus noise. (V, L) -> (V, L)
std::vector<float> series_view(const std::vector<float>& window, std::size_t variates,
                               const ViewsSpec& spec, Draws draws);

/// Returns a view of a sequence: at least one of the events of a part, in order, with gaps scaled
/// from the first event on.
LabelledExample event_view(const LabelledExample& events, const ViewsSpec& spec, Draws draws);

}  // namespace bochner
