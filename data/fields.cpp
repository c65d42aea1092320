#include <algorithm>
#include <bit>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/data/fields.hpp>
#include <bochner/data/files/errors.hpp>
#include <cmath>
#include <complex>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

using Complex = std::complex<double>;
constexpr double two_pi = 2 * std::numbers::pi;
constexpr std::size_t highest_wave = 3;  // waves across the grid, along each axis

/// The frames of one example, (T + 1, H, W) in double.
struct Film {
  std::size_t frames, height, width;
  std::vector<double> values;
  explicit Film(const FieldSpec& spec)
      : frames(spec.frames + 1),
        height(spec.height),
        width(spec.width),
        values(frames * height * width) {}
  double* row(std::size_t t, std::size_t y) { return values.data() + (t * height + y) * width; }
};

/// Pixels a frame, or radians a pixel.
struct Vector {
  double y, x;
  double dot(const Vector& other) const { return y * other.y + x * other.x; }
};

Vector random_velocity(const FieldSpec& spec, Draws& draws) {
  const double y = draws.between(-spec.speed, spec.speed);
  return {y, draws.between(-spec.speed, spec.speed)};
}

/// A whole number of waves along each axis, not none along both.
Vector random_wave(const FieldSpec& spec, Draws& draws) {
  const auto highest = [](std::size_t n) {
    return std::int64_t(std::min<std::size_t>(highest_wave, (n - 1) / 2));
  };
  const std::int64_t ny = highest(spec.height), nx = highest(spec.width);
  const std::uint64_t choices = std::uint64_t((2 * ny + 1) * (2 * nx + 1));
  std::uint64_t choice = draws.below(choices - 1);
  choice += choice >= choices / 2;  // the middle one is no wave at all
  const std::int64_t ky = std::int64_t(choice) / (2 * nx + 1) - ny;
  const std::int64_t kx = std::int64_t(choice) % (2 * nx + 1) - nx;
  return {two_pi * double(ky) / double(spec.height), two_pi * double(kx) / double(spec.width)};
}

/// e^(i k n) of n = 0 .. size - 1.
std::vector<Complex> phases(double k, std::size_t size) {
  std::vector<Complex> table(size);
  for (std::size_t n = 0; n < size; ++n) table[n] = std::polar(1.0, k * double(n));
  return table;
}

/// Adds amplitude e^(-kappa |k|^2 t) cos(k . (x - v t) + phase) with random amplitude and phase.
void add_wave(Film& film, const FieldSpec& spec, const Vector& velocity, double diffusivity,
              Draws& draws) {
  const Vector k = random_wave(spec, draws);
  const double amplitude = std::sqrt(2 / double(spec.components)) * draws.normal();
  const double phase = draws.between(0, two_pi), turn = k.dot(velocity);
  const double decay = diffusivity * k.dot(k);
  const auto along_y = phases(k.y, film.height), along_x = phases(k.x, film.width);
  for (std::size_t t = 0; t < film.frames; ++t) {
    const Complex frame =
        std::polar(amplitude * std::exp(-decay * double(t)), phase - turn * double(t));
    for (std::size_t y = 0; y < film.height; ++y) {
      const Complex c = frame * along_y[y];
      double* row = film.row(t, y);
      for (std::size_t x = 0; x < film.width; ++x)
        row[x] += c.real() * along_x[x].real() - c.imag() * along_x[x].imag();
    }
  }
}

/// exp(-d^2 / 2 width^2) of the distance from `center` to every pixel, summed over the images
/// that a periodic axis has.
std::vector<double> bump(double center, double width, std::size_t size) {
  std::vector<double> profile(size);
  const double period = double(size), reduced = center - period * std::floor(center / period);
  for (std::size_t n = 0; n < size; ++n) {
    for (int image = -1; image <= 1; ++image) {
      const double d = double(n) - reduced + image * period;
      profile[n] += std::exp(-d * d / (2 * width * width));
    }
  }
  return profile;
}

/// Adds a travelling Gaussian of random place, width and height.
void add_gaussian(Film& film, const FieldSpec& spec, const Vector& velocity, Draws& draws) {
  const double shorter = double(std::min(film.height, film.width));
  const double width = draws.between(shorter / 10, shorter / 5);
  const double pixels = double(film.height * film.width);
  const double mean_square = std::numbers::pi * width * width / pixels;
  const double amplitude = draws.normal() / std::sqrt(mean_square * double(spec.components));
  const double y0 = draws.between(0, double(film.height)),
               x0 = draws.between(0, double(film.width));
  for (std::size_t t = 0; t < film.frames; ++t) {
    const auto along_y = bump(y0 + velocity.y * double(t), width, film.height);
    const auto along_x = bump(x0 + velocity.x * double(t), width, film.width);
    for (std::size_t y = 0; y < film.height; ++y) {
      double* row = film.row(t, y);
      for (std::size_t x = 0; x < film.width; ++x) row[x] += amplitude * along_y[y] * along_x[x];
    }
  }
}

void paint_moving_pattern(Film& film, const FieldSpec& spec, Draws& draws) {
  for (std::size_t i = 0; i < spec.components; ++i) {
    const Vector velocity = random_velocity(spec, draws);
    if (i % 2 == 0) {
      add_gaussian(film, spec, velocity, draws);
    } else {
      add_wave(film, spec, velocity, 0, draws);
    }
  }
}

void paint_advection_diffusion(Film& film, const FieldSpec& spec, Draws& draws) {
  const Vector velocity = random_velocity(spec, draws);
  const double diffusivity = draws.between(0, spec.diffusivity);
  for (std::size_t i = 0; i < spec.components; ++i)
    add_wave(film, spec, velocity, diffusivity, draws);
}

struct Generator {
  const char* kind;
  void (*paint)(Film&, const FieldSpec&, Draws&);
};
constexpr Generator generators[] = {{"moving_pattern", paint_moving_pattern},
                                    {"advection_diffusion", paint_advection_diffusion}};

const Generator& generator_of(const std::string& kind) {
  const auto found = std::ranges::find(generators, kind, &Generator::kind);
  require(found != std::end(generators), "fields", "data.kind = ", kind, ": no such field");
  return *found;
}

}  // namespace

std::vector<std::string> field_kinds() {
  std::vector<std::string> kinds;
  for (const Generator& generator : generators) kinds.push_back(generator.kind);
  return kinds;
}

FieldBatch FieldSource::empty_batch(std::size_t count) const {
  const FieldSize s = size();
  return {uninitialized({count, s.frames, s.height, s.width}),
          uninitialized({count, s.height, s.width})};
}

std::uint64_t FieldSource::tokens_per_example() const {
  const FieldSize s = size();
  return s.frames * (s.height / patch_) * (s.width / patch_);
}

std::string FieldSource::describe() const {
  const FieldSize s = size();
  return in_words(describe_films(), ", ", s.frames, " frames of ", s.height, " x ", s.width);
}

Fields::Fields(const FieldSpec& spec, const ExampleSet& examples)
    : FieldSource(examples, spec.patch), spec_(spec) {
  generator_of(spec.kind);
  require(spec.frames >= 1 && spec.components >= 1 && spec.height >= 3 && spec.width >= 3, "fields",
          "needs a frame, a component and a grid of 3 x 3 pixels, not ", spec.frames, ", ",
          spec.components, " and ", spec.height, " x ", spec.width);
}

FieldBatch Fields::batch(const Examples& examples) const {
  const std::size_t T = spec_.frames, H = spec_.height, W = spec_.width, seen = T * H * W;
  FieldBatch batch = empty_batch(examples.size());
  const Generator& generator = generator_of(spec_.kind);
  parallel_tasks(examples.size(), [&](std::size_t b) {
    Draws draws = draws_of(examples_, examples.split, examples.index(b));
    Film film(spec_);
    generator.paint(film, spec_, draws);
    real* to = batch.frames.data() + b * seen;
    for (std::size_t i = 0; i < seen; ++i)
      to[i] = real(film.values[i] + (spec_.noise > 0 ? spec_.noise * draws.normal() : 0));
    for (std::size_t i = 0; i < H * W; ++i)
      batch.next.data()[b * H * W + i] = real(film.values[seen + i]);
  });
  return batch;
}

std::uint64_t Fields::fingerprint() const {
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  return examples_.fingerprint(
      spec_.kind, {spec_.frames, spec_.height, spec_.width, spec_.components, bits(spec_.speed),
                   bits(spec_.diffusivity), bits(spec_.noise)});
}

}  // namespace bochner::inline BOCHNER_PRECISION
