#include <algorithm>
#include <bochner/data/labelled/augmentations.hpp>
#include <cmath>
#include <numbers>
#include <numeric>

namespace bochner {
namespace {

/// Affine map from a position in the view to one in the image, both relative to the centre.
struct AffineMap {
  double xx, xy, yx, yy, x, y;
};

AffineMap drawn_map(const ImageShape& shape, const ViewsSpec& spec, Draws& draws) {
  const auto at_most = [&](double most) { return draws.between(-most, most); };
  const double angle = at_most(spec.rotate) * std::numbers::pi / 180, shear = at_most(spec.shear);
  const double width = 1 / (1 + at_most(spec.scale)), height = 1 / (1 + at_most(spec.scale));
  const double c = std::cos(angle), s = std::sin(angle);
  AffineMap map{width * c, width * (shear * c - s), height * s, height * (shear * s + c), 0, 0};
  map.x = at_most(spec.shift) * double(shape.columns);
  map.y = at_most(spec.shift) * double(shape.rows);
  return map;
}

/// Position between two elements of an axis, clamped to its ends.
struct Between {
  std::size_t first, second;
  float share;  ///< weight of the second
};

Between between_elements(double place, std::size_t size) {
  place = std::clamp(place, 0.0, double(size - 1));
  const auto first = std::size_t(place);
  return {first, std::min(first + 1, size - 1), float(place - double(first))};
}

float mixed(float a, float b, float share) {
  if (std::isnan(a) || std::isnan(b)) return share < 0.5f ? a : b;
  return a + share * (b - a);
}

std::vector<float> moved(const std::vector<float>& pixels, const ImageShape& shape,
                         const AffineMap& map) {
  const std::size_t C = shape.channels;
  const double middle_x = double(shape.columns - 1) / 2, middle_y = double(shape.rows - 1) / 2;
  std::vector<float> view(pixels.size());
  for (std::size_t i = 0; i < shape.rows * shape.columns; ++i) {
    const double x = double(i % shape.columns) - middle_x, y = double(i / shape.columns) - middle_y;
    const Between across =
        between_elements(map.xx * x + map.xy * y + map.x + middle_x, shape.columns);
    const Between down = between_elements(map.yx * x + map.yy * y + map.y + middle_y, shape.rows);
    for (std::size_t c = 0; c < C; ++c) {
      const auto at = [&](std::size_t row, std::size_t column) {
        return pixels[(row * shape.columns + column) * C + c];
      };
      const float upper =
          mixed(at(down.first, across.first), at(down.first, across.second), across.share);
      const float lower =
          mixed(at(down.second, across.first), at(down.second, across.second), across.share);
      view[i * C + c] = mixed(upper, lower, down.share);
    }
  }
  return view;
}

void erase_rectangle(std::vector<float>& pixels, const ImageShape& shape, double longest,
                     Draws& draws) {
  const auto side = [&](std::size_t whole) {
    return std::size_t(draws.uniform() * longest * double(whole) + 0.5);
  };
  const std::size_t height = side(shape.rows), width = side(shape.columns), C = shape.channels;
  const std::size_t top = draws.below(shape.rows - height + 1),
                    left = draws.below(shape.columns - width + 1);
  const float mean = std::accumulate(pixels.begin(), pixels.end(), 0.0f) / float(pixels.size());
  for (std::size_t row = top; row < top + height; ++row)
    std::fill_n(pixels.begin() + std::ptrdiff_t((row * shape.columns + left) * C), width * C, mean);
}

void add_noise(std::vector<float>& values, double deviation, Draws& draws) {
  if (deviation == 0) return;
  for (float& value : values) value += float(deviation * draws.normal());
}

}  // namespace

Draws view_draws(const ViewPass& pass, std::uint64_t example) {
  // One stream for each of 2^32 examples in each of 2^30 steps.
  const std::uint64_t number = 4 * pass.step + 2 * pass.held_out + pass.view;
  return Draws(
      {pass.seed, Purpose::sampling, stream_of("views") + (number << 32 | (example & 0xffffffff))});
}

std::vector<float> image_view(const std::vector<float>& pixels, const ImageShape& shape,
                              const ViewsSpec& spec, Draws draws) {
  const AffineMap map = drawn_map(shape, spec, draws);
  std::vector<float> view = moved(pixels, shape, map);
  erase_rectangle(view, shape, spec.erase, draws);
  add_noise(view, spec.noise, draws);
  for (float& value : view) value = std::clamp(value, 0.0f, 1.0f);
  return view;
}

std::vector<float> series_view(const std::vector<float>& window, std::size_t variates,
                               const ViewsSpec& spec, Draws draws) {
  const std::size_t L = window.size() / variates;
  const double span = double(L - 1), kept = span * (1 - spec.crop * draws.uniform());
  const double begin = (span - kept) * draws.uniform();
  const double share = draws.uniform(), first = spec.warp * share * draws.between(-1, 1),
               second = spec.warp * (1 - share) * draws.between(-1, 1);
  std::vector<double> factors(variates);
  for (double& factor : factors) factor = std::exp(spec.scale * draws.normal());
  std::vector<float> view(window.size());
  for (std::size_t t = 0; t < L; ++t) {
    const double u = span > 0 ? double(t) / span : 0, turn = std::numbers::pi * u;
    // The slope is 1 + first cos + second cos(2 ..) > 0: time never runs backwards.
    const double place = u + first * std::sin(turn) / std::numbers::pi +
                         second * std::sin(2 * turn) / (2 * std::numbers::pi);
    const Between rows = between_elements(begin + kept * place, L);
    for (std::size_t v = 0; v < variates; ++v) {
      const float* row = window.data() + v * L;
      view[v * L + t] = float(factors[v]) * mixed(row[rows.first], row[rows.second], rows.share);
    }
  }
  add_noise(view, spec.noise, draws);
  return view;
}

std::vector<float> augmented_series(const std::vector<float>& series, std::size_t channels,
                                    const SeriesAugmentation& spec, ViewPass pass,
                                    std::uint64_t example) {
  if (series.empty()) return series;
  ViewsSpec views;
  views.crop = spec.crop, views.warp = spec.warp, views.scale = spec.scale;
  views.noise = spec.noise;
  pass.view = 0;
  std::vector<float> view = series_view(series, channels, views, view_draws(pass, example));
  pass.view = 1;
  Draws draws = view_draws(pass, example);
  for (float& value : view)
    if (spec.missing > 0 && draws.chance(spec.missing)) value = std::nanf("");
  return view;
}

LabelledExample event_view(const LabelledExample& events, const ViewsSpec& spec, Draws draws) {
  const std::size_t n = events.tokens.size();
  const auto cut = std::size_t(spec.crop * draws.uniform() * double(n));
  const std::size_t begin = draws.below(cut + 1), end = begin + n - cut;
  const std::size_t kept_anyway = begin + draws.below(end - begin);
  LabelledExample view{{}, events.label};
  double before = events.times[begin], time = before;
  for (std::size_t i = begin; i < end; ++i) {
    time += (events.times[i] - before) * std::exp(spec.gaps * draws.normal());
    before = events.times[i];
    if (draws.chance(spec.drop) && i != kept_anyway) continue;
    view.tokens.push_back(events.tokens[i]);
    view.times.push_back(time);
  }
  return view;
}

}  // namespace bochner
