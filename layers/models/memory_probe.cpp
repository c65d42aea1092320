#include <bochner/layers/models/memory_probe.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t max_batch_tokens = 8192;  // in copies of a window per pass

/// Repeats row 0 of an array. (1, ..) -> (rows, ..)
template <class Array>
Array copies(const Array& row, std::size_t rows) {
  if (row.dimension() == 0) return row;
  auto shape = row.shape();
  shape[0] = rows;
  Array all(shape);
  for (std::size_t i = 0; i < rows; ++i)
    std::copy_n(row.data(), row.size(), all.data() + i * row.size());
  return all;
}

ProbeWindow copies(const ProbeWindow& window, std::size_t rows) {
  const Layout& one = window.layout;
  Layout layout{{}, copies(one.gaps, rows), copies(one.times, rows)};
  if (!one.lengths.empty()) layout.lengths.assign(rows, one.lengths.front());
  if (one.first_values)
    layout.first_values = std::make_shared<FirstValues>(copies(one.first_values->v.value(), rows));
  return {copies(window.u, rows), std::move(layout), copies(window.each, rows)};
}

std::size_t tokens_of(const ProbeWindow& window) {
  return length_of(window.layout.lengths, 0, window.u.shape()[1]);
}

void require_windows(const std::vector<ProbeWindow>& windows) {
  require(!windows.empty(), "probe", "no windows");
  for (const ProbeWindow& window : windows)
    require(window.u.dimension() == 3 && window.u.shape()[0] == 1 && tokens_of(window) > 0, "probe",
            "a window must be (1, T, D) with T > 0, not ", window.u.shape());
}

/// Directions v of the channels at a position, mean v v^T = I: signs or scaled unit vectors.
struct Directions {
  RandomFunction random;
  bool exact;
  std::size_t position, channels, count;

  Directions(const ProbeOptions& options, std::size_t window, std::size_t at, std::size_t C)
      : random{options.seed, Purpose::sampling, stream_of("memory probe") + window},
        exact(options.draws == 0),
        position(at),
        channels(C),
        count(exact ? C : options.draws) {}

  double operator()(std::size_t draw, std::size_t channel) const {
    if (exact) return draw == channel ? std::sqrt(double(channels)) : 0;
    const std::uint64_t element = (std::uint64_t(draw) << 32) + position * channels + channel;
    return random.bits(element)[0] & 1 ? 1 : -1;
  }
};

/// Calls part(first, rows) for batches of draws that fit in memory.
template <class Part>
void in_batches(std::size_t draws, std::size_t T, const Part& part) {
  const std::size_t most = std::max<std::size_t>(1, max_batch_tokens / T);
  for (std::size_t first = 0; first < draws; first += most)
    part(first, std::min(most, draws - first));
}

/// Squared lengths of J^T v or J v over the channels of y; their mean over v is |J|_F^2 / E.
struct Products {
  std::size_t draws, T;
  std::vector<double> squares;  // (draws, T)

  Products(std::size_t count, std::size_t tokens)
      : draws(count), T(tokens), squares(count * tokens) {}
  double& at(std::size_t draw, std::size_t token) { return squares[draw * T + token]; }
  double at(std::size_t draw, std::size_t token) const { return squares[draw * T + token]; }
  double mean(std::size_t token) const {
    double sum = 0;
    for (std::size_t k = 0; k < draws; ++k) sum += at(k, token);
    return sum / double(draws);
  }
  /// Returns the variance of the mean; 0 for a single draw.
  double variance(std::size_t token) const {
    const double middle = mean(token), K = double(draws);
    double sum = 0;
    for (std::size_t k = 0; k < draws; ++k) sum += std::pow(at(k, token) - middle, 2);
    return draws > 1 ? sum / (K - 1) / K : 0;
  }
};

/// Adds squared gradients of v . y(t) for some of the draws v.
void add_products(const SequenceMap& map, const ProbeWindow& window, const Directions& directions,
                  std::size_t first, std::size_t rows, Products& products) {
  Tape tape({.recording = false});  // records the input, not the parameters
  const ProbeWindow all = copies(window, rows);
  const Var u = tape.input(all.u);
  const Var y = map(tape, u, all);
  const std::size_t T = u.dim(1), D = u.dim(2), E = y.dim(2), t = directions.position;
  require(y.dim(0) == rows && y.dim(1) == T, "probe", "the map must keep tokens: input ", u.shape(),
          ", output ", y.shape());
  if (!y.needs_gradient()) return;
  Tensor cotangent = zeros(y.shape());
  for (std::size_t i = 0; i < rows * E; ++i)
    cotangent(i / E, t, i % E) = real(directions(first + i / E, i % E));
  tape.backward(y, std::move(cotangent));
  const Tensor gradient = gradient_of(u);
  for (std::size_t i = 0; i < gradient.size(); ++i)
    products.at(first + i / (T * D), i / D % T) +=
        double(gradient.data()[i]) * double(gradient.data()[i]) / double(E);
}

std::size_t output_width(const SequenceMap& map, const ProbeWindow& window) {
  Tape tape({.recording = false});
  return map(tape, tape.view(window.u), window).dim(-1);
}

/// Returns the products of dy(t)/du(s), by s.
Products products_at(const SequenceMap& map, const ProbeWindow& window, std::size_t number,
                     std::size_t t, const ProbeOptions& options) {
  const Directions directions(options, number, t, output_width(map, window));
  Products products(directions.count, window.u.shape()[1]);
  in_batches(products.draws, products.T, [&](std::size_t first, std::size_t rows) {
    add_products(map, window, directions, first, rows, products);
  });
  return products;
}

/// Returns the step of a central difference, relative to the root mean square of the window.
double step_of(const Tensor& u) {
  double square = 0;
  for (std::size_t i = 0; i < u.size(); ++i) square += double(u.data()[i]) * double(u.data()[i]);
  const double size = std::sqrt(square / double(u.size()));
  return std::cbrt(double(std::numeric_limits<real>::epsilon())) * (size > 0 ? size : 1);
}

/// Returns y with u(s) moved along some of the draws.
Tensor perturbed(const SequenceMap& map, const ProbeWindow& window, const Directions& directions,
                 double by, std::size_t first, std::size_t rows) {
  ProbeWindow all = copies(window, rows);
  const std::size_t D = directions.channels;
  for (std::size_t i = 0; i < rows * D; ++i)
    all.u(i / D, directions.position, i % D) += real(by * directions(first + i / D, i % D));
  Tape tape({.recording = false});
  return map(tape, tape.view(all.u), all).value();
}

/// Returns the products of dy(t)/du(s), by t.
Products responses_to(const SequenceMap& map, const ProbeWindow& window, std::size_t number,
                      std::size_t s, const ProbeOptions& options) {
  const std::size_t T = window.u.shape()[1];
  const Directions directions(options, number, s, window.u.shape()[2]);
  Products responses(directions.count, T);
  const double step = step_of(window.u);
  in_batches(responses.draws, T, [&](std::size_t first, std::size_t rows) {
    const Tensor up = perturbed(map, window, directions, step, first, rows);
    const Tensor down = perturbed(map, window, directions, -step, first, rows);
    const std::size_t E = up.shape()[2];
    for (std::size_t i = 0; i < up.size(); ++i) {
      const double slope = (double(up.data()[i]) - double(down.data()[i])) / (2 * step);
      responses.at(first + i / (T * E), i / E % T) += slope * slope / double(E);
    }
  });
  return responses;
}

/// Returns whether y depends on later tokens by more than rounding in Fourier transforms.
bool depends_on_future(const SequenceMap& map, const std::vector<ProbeWindow>& windows,
                       const ProbeOptions& options) {
  const auto longest = std::ranges::max_element(windows, {}, tokens_of);
  const std::size_t T = tokens_of(*longest), t = T / 2;
  const Products products = products_at(map, *longest, 0, t, {.draws = 1, .seed = options.seed});
  double past = 0, ahead = 0;
  for (std::size_t s = 0; s < T; ++s) (s > t ? ahead : past) += products.at(0, s);
  return std::sqrt(ahead) > 1e3 * double(std::numeric_limits<real>::epsilon()) * std::sqrt(past);
}

void add_lag(LagCurve& curve, std::size_t n, const Products& products, std::size_t s, bool exact) {
  if (curve.square.size() <= n) {
    curve.square.resize(n + 1);
    curve.error.resize(n + 1);
    curve.windows.resize(n + 1);
  }
  curve.square[n] += products.mean(s);
  if (!exact) curve.error[n] += products.variance(s);
  ++curve.windows[n];
}

/// Turns sums into means over windows and standard errors.
void finish(LagCurve& curve) {
  for (std::size_t n = 0; n < curve.square.size(); ++n) {
    const double count = double(std::max<std::size_t>(1, curve.windows[n]));
    curve.square[n] /= count;
    curve.error[n] = std::sqrt(curve.error[n]) / count;
  }
}

void add_window(Influence& influence, const Products& products, std::size_t t, std::size_t T,
                bool ahead, bool exact) {
  for (std::size_t n = 0; n <= t; ++n) add_lag(influence.past, n, products, t - n, exact);
  for (std::size_t n = 1; ahead && t + n < T; ++n)
    add_lag(influence.ahead, n, products, t + n, exact);
}

}  // namespace

std::vector<double> Influence::by_distance() const {
  std::vector<double> sums(std::max(past.square.size(), ahead.square.size()));
  for (const LagCurve* curve : {&past, &ahead})
    for (std::size_t n = 0; n < curve->square.size(); ++n) sums[n] += std::sqrt(curve->square[n]);
  return sums;
}

Influence probe(const SequenceMap& map, const std::vector<ProbeWindow>& windows,
                const ProbeOptions& options) {
  require_windows(windows);
  const bool ahead = depends_on_future(map, windows, options), exact = options.draws == 0;
  Influence all;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const std::size_t T = tokens_of(windows[i]), t = ahead ? T / 2 : T - 1;
    const Products products = products_at(map, windows[i], i, t, options);
    Influence one;
    for (Influence* to : {&one, &all}) add_window(*to, products, t, T, ahead, exact);
    all.half_lives.push_back(half_life(one.by_distance()));
  }
  finish(all.past);
  finish(all.ahead);
  return all;
}

Influence probe(Mixer& mixer, const std::vector<ProbeWindow>& windows,
                const ProbeOptions& options) {
  const SequenceMap map = [&mixer](Tape& tape, const Var& u, const ProbeWindow& window) {
    return mixer.forward(tape, u, window.layout);
  };
  return probe(map, windows, options);
}

std::vector<double> impulse_response(const SequenceMap& map,
                                     const std::vector<ProbeWindow>& windows,
                                     const ProbeOptions& options) {
  require_windows(windows);
  const bool ahead = depends_on_future(map, windows, options);
  LagCurve mean;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const std::size_t T = tokens_of(windows[i]), s = ahead ? T / 2 : 0;
    const Products responses = responses_to(map, windows[i], i, s, options);
    for (std::size_t n = 0; s + n < T; ++n) add_lag(mean, n, responses, s + n, true);
  }
  finish(mean);
  for (double& square : mean.square) square = std::sqrt(square);
  return mean.square;
}

std::size_t half_life(const std::vector<double>& influence) {
  double total = 0, sum = 0;
  for (const double one : influence) total += one;
  for (std::size_t n = 0; n < influence.size(); ++n)
    if ((sum += influence[n]) >= total / 2) return n;
  return 0;
}

double share_beyond(const std::vector<double>& influence, std::size_t n) {
  double total = 0, beyond = 0;
  for (std::size_t i = 0; i < influence.size(); ++i) {
    total += influence[i];
    if (i > n) beyond += influence[i];
  }
  return total > 0 ? beyond / total : 0;
}

}  // namespace bochner::inline BOCHNER_PRECISION
