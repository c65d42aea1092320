#include <bit>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/data/fields/fields.hpp>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>

namespace bochner {
namespace {

using Complex = std::complex<double>;
constexpr double two_pi = 2 * std::numbers::pi;
constexpr std::size_t highest_wave = 3;  // waves across the grid, along each axis

/// Pixels along each axis, the slowest axis first.
using Sides = std::vector<std::size_t>;

std::size_t product_of(Sides::const_iterator first, Sides::const_iterator last) {
  return std::accumulate(first, last, std::size_t(1), std::multiplies<>());
}

/// Frames of one example, (T + 1, sides) in double; a row is along the last axis.
struct Film {
  Sides sides;
  std::size_t frames, rows, width;
  std::vector<double> values;
  explicit Film(const FieldSpec& spec)
      : sides(spec.sides()),
        frames(spec.frames + 1),
        rows(product_of(sides.begin(), sides.end() - 1)),
        width(sides.back()),
        values(frames * rows * width) {}
  double* row(std::size_t t, std::size_t r) { return values.data() + (t * rows + r) * width; }
  /// Returns `factor` times the entries of row r in the tables of the slower axes.
  template <class Number>
  Number along(const std::vector<std::vector<Number>>& tables, std::size_t r, Number factor) const {
    for (std::size_t j = sides.size() - 1; j-- > 0; r /= sides[j])
      factor *= tables[j][r % sides[j]];
    return factor;
  }
};

/// Vector along the axes: pixels per frame, or radians per pixel.
using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

Vector random_velocity(const FieldSpec& spec, Draws& draws) {
  Vector velocity(spec.dimensions);
  for (double& v : velocity) v = draws.between(-spec.speed, spec.speed);
  return velocity;
}

/// Returns a wave vector with a whole number of periods along each axis, not all 0.
Vector random_wave(const FieldSpec& spec, Draws& draws) {
  const Sides sides = spec.sides();
  const auto highest = [](std::size_t n) {
    return std::min<std::size_t>(highest_wave, (n - 1) / 2);
  };
  std::uint64_t choices = 1;
  for (const std::size_t n : sides) choices *= 2 * highest(n) + 1;
  std::uint64_t choice = draws.below(choices - 1);
  choice += choice >= choices / 2;  // skips the zero vector in the middle
  Vector wave(sides.size());
  for (std::size_t j = sides.size(); j-- > 0;) {
    const std::uint64_t most = highest(sides[j]), all = 2 * most + 1;
    wave[j] = two_pi * (double(choice % all) - double(most)) / double(sides[j]);
    choice /= all;
  }
  return wave;
}

/// Tabulates e^(i k n).
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
  const double phase = draws.between(0, two_pi), turn = dot(k, velocity);
  const double decay = diffusivity * dot(k, k);
  std::vector<std::vector<Complex>> along;
  for (std::size_t j = 0; j < k.size(); ++j) along.push_back(phases(k[j], film.sides[j]));
  for (std::size_t t = 0; t < film.frames; ++t) {
    const Complex frame =
        std::polar(amplitude * std::exp(-decay * double(t)), phase - turn * double(t));
    for (std::size_t r = 0; r < film.rows; ++r) {
      const Complex c = film.along(along, r, frame);
      double* row = film.row(t, r);
      for (std::size_t x = 0; x < film.width; ++x)
        row[x] += c.real() * along.back()[x].real() - c.imag() * along.back()[x].imag();
    }
  }
}

/// Sums exp(-d^2 / 2 width^2) over the images of `center` on a periodic axis, for every pixel.
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

void add_gaussian(Film& film, const FieldSpec& spec, const Vector& velocity, Draws& draws) {
  const std::size_t d = film.sides.size();
  const double shorter = double(std::ranges::min(film.sides));
  const double width = draws.between(shorter / 10, shorter / 5);
  const double pixels = double(film.rows * film.width);
  const double mean_square = std::pow(std::numbers::pi * width * width, double(d) / 2) / pixels;
  const double amplitude = draws.normal() / std::sqrt(mean_square * double(spec.components));
  Vector start(d);
  for (std::size_t j = 0; j < d; ++j) start[j] = draws.between(0, double(film.sides[j]));
  for (std::size_t t = 0; t < film.frames; ++t) {
    std::vector<std::vector<double>> along;
    for (std::size_t j = 0; j < d; ++j)
      along.push_back(bump(start[j] + velocity[j] * double(t), width, film.sides[j]));
    for (std::size_t r = 0; r < film.rows; ++r) {
      const double factor = film.along(along, r, amplitude);
      double* row = film.row(t, r);
      for (std::size_t x = 0; x < film.width; ++x) row[x] += factor * along.back()[x];
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
  require(found != std::end(generators), "fields", "data.kind = ", kind, ": unknown kind of field");
  return *found;
}

}  // namespace

std::vector<std::string> field_kinds() {
  std::vector<std::string> kinds;
  for (const Generator& generator : generators) kinds.push_back(generator.kind);
  return kinds;
}

std::vector<std::size_t> FieldSpec::sides() const {
  std::vector<std::size_t> all{planes, height, width};
  all.erase(all.begin(), all.end() - std::ptrdiff_t(dimensions));
  return all;
}

std::size_t FieldSize::pixels() const { return product_of(sides.begin(), sides.end()); }

std::size_t FieldSize::patches(std::size_t side) const {
  std::size_t count = 1;
  for (const std::size_t pixels : sides) count *= pixels / side;
  return count;
}

std::string FieldSize::text() const { return joined(sides, " x "); }

FieldBatch FieldSource::empty_batch(std::size_t count) const {
  const FieldSize s = size();
  Shape next{count}, frames{count, s.frames};
  for (Shape* shape : {&next, &frames}) shape->insert(shape->end(), s.sides.begin(), s.sides.end());
  return {uninitialized(frames), uninitialized(next)};
}

std::string FieldSource::describe() const {
  return in_words(describe_films(), ", ", size().frames, " frames of ", size().text());
}

Fields::Fields(const FieldSpec& spec, const ExampleSet& examples)
    : FieldSource(examples, spec.patch), spec_(spec) {
  generator_of(spec.kind);
  require(spec.dimensions >= 1 && spec.dimensions <= 3, "fields",
          "space has 1 to 3 dimensions, not ", spec.dimensions);
  require(spec.frames >= 1 && spec.components >= 1 && std::ranges::min(spec.sides()) >= 3, "fields",
          "needs a frame, a component and 3 pixels along each axis, not ", spec.frames, ", ",
          spec.components, " and ", size().text());
}

FieldBatch Fields::batch(const Examples& examples) const {
  const std::size_t pixels = size().pixels(), seen = spec_.frames * pixels;
  FieldBatch batch = empty_batch(examples.size());
  const Generator& generator = generator_of(spec_.kind);
  parallel_tasks(examples.size(), [&](std::size_t b) {
    Draws draws = draws_of(examples_, examples.split, examples.index(b));
    Film film(spec_);
    generator.paint(film, spec_, draws);
    real* to = batch.frames.data() + b * seen;
    for (std::size_t i = 0; i < seen; ++i)
      to[i] = real(film.values[i] + (spec_.noise > 0 ? spec_.noise * draws.normal() : 0));
    for (std::size_t i = 0; i < pixels; ++i)
      batch.next.data()[b * pixels + i] = real(film.values[seen + i]);
  });
  return batch;
}

std::uint64_t Fields::fingerprint() const {
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  std::vector<std::uint64_t> parameters{spec_.frames};
  for (const std::size_t side : spec_.sides()) parameters.push_back(side);
  parameters.insert(parameters.end(), {spec_.components, bits(spec_.speed), bits(spec_.diffusivity),
                                       bits(spec_.noise)});
  return examples_.fingerprint(spec_.kind, parameters);
}

}  // namespace bochner
