#include <algorithm>
#include <bochner/layers/encodings/time_encoding.hpp>
#include <bochner/train/tasks/fit_time_scale.hpp>

namespace bochner {

Examples scale_examples(const Dataset& data) {
  constexpr std::uint64_t most = 64;
  return data.training(0, std::size_t(std::min(most, data.examples(Split::train))));
}

void fit_times(Module& model, TimeScale& scale, const TimeEncodingSpec& time, const Times& times,
               std::uint64_t seed) {
  scale.fit(times);
  if (time.density.start != "none") init_time_frequencies(model, scale.scaled(times), seed);
}

}  // namespace bochner
