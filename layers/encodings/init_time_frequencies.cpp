#include <algorithm>
#include <bochner/layers/encodings/init_time_frequencies.hpp>
#include <bochner/layers/spectral/initial.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t max_bins = 1024, draws_per_sequence = 64;

}  // namespace

std::vector<double> event_frequencies(const Times& times, const RandomFunction& random) {
  std::vector<double> frequencies;
  const std::size_t T = times.shape()[1];
  for (std::size_t b = 0; b < times.shape()[0]; ++b) {
    const double* first = times.data() + b * T;
    const double* last = std::lower_bound(first, first + T, first[T - 1]);
    const double span = *last - *first;
    if (!(span > 0)) continue;
    const double width = std::max(0.5, span / double(max_bins - 1));
    Tensor counts = zeros({std::size_t(span / width) + 2, 1});
    for (const double* time = first; time <= last; ++time)
      counts.data()[std::size_t((*time - *first) / width)] += 1;
    const RandomFunction own{random.seed, random.purpose, random.stream + b};
    for (const real w : periodogram_frequencies(counts, width, draws_per_sequence, own))
      if (w != 0) frequencies.push_back(double(w));
  }
  return frequencies;
}

void init_time_frequencies(Module& model, const Times& times, std::uint64_t seed) {
  const std::vector<double> frequencies =
      event_frequencies(times, {seed, Purpose::spectral, stream_of("periodogram")});
  require(!frequencies.empty(), "time_encoding", "all events have the same time: no periodogram");
  for (const NamedPart& part : parts_of(model))
    if (auto* encoding = dynamic_cast<TimeEncoding*>(part.part))
      encoding->init_frequencies(frequencies);
}

}  // namespace bochner::inline BOCHNER_PRECISION
