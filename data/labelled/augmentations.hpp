#pragma once
/// Views: examples changed at random in ways that leave what they are, for contrastive learning.
/// What is drawn is a function of integers: seed, step, example and view.

#include <bochner/data/labelled/labelled.hpp>

namespace bochner {

/// How much is changed; 0 changes nothing.
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

/// As configs have it.
struct AugmentationKeys {
  ViewsSpec views;
};
inline void describe(Keys& keys, AugmentationKeys& spec) { keys.section("views", spec.views); }

/// Which views of which examples.
struct ViewPass {
  std::uint64_t seed = 1, step = 0;
  bool held_out = false;  ///< of another split: other numbers
  std::size_t view = 0;   ///< 0 or 1
};
/// The random numbers of one view of one example.
Draws view_draws(const ViewPass& pass, std::uint64_t example);

/// Brightness from 0 to 1 after an affine map around the middle (bilinear; the border is repeated
/// outside), with an erased rectangle and noise; still from 0 to 1. (rows columns channels) -> the
/// same
std::vector<float> image_view(const std::vector<float>& pixels, const ImageShape& shape,
                              const ViewsSpec& spec, Draws draws);

/// A window of rows whose part is stretched, at a pace that changes smoothly, to its length, each
/// variate times a factor, with noise. (V, L) -> (V, L)
std::vector<float> series_view(const std::vector<float>& window, std::size_t variates,
                               const ViewsSpec& spec, Draws draws);

/// Some of the events of a part of a sequence, at least one, in their order, with other gaps from
/// the first one's time on.
LabelledExample event_view(const LabelledExample& events, const ViewsSpec& spec, Draws draws);

}  // namespace bochner
