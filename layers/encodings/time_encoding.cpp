#include <bochner/layers/encodings/time_encodings.hpp>

namespace bochner::inline BOCHNER_PRECISION {

std::vector<double> estimated_time_kernel(TimeEncoding& encoding, const std::vector<double>& lags,
                                          double at) {
  Times times(std::vector<std::size_t>{lags.size() + 1});
  times(0) = at;
  for (std::size_t i = 0; i < lags.size(); ++i) times(i + 1) = at + lags[i];
  Tape tape;
  tape.recording = false;
  const Var phi = encoding.forward(tape, times);
  std::vector<double> kernel(lags.size());
  const std::size_t F = encoding.features();
  for (std::size_t i = 0; i < lags.size(); ++i)
    for (std::size_t f = 0; f < F; ++f)
      kernel[i] += double(phi.data()[f]) * double(phi.data()[(i + 1) * F + f]);
  return kernel;
}

Registry<TimeEncoding, TimeEncodingSpec>& time_encodings() {
  static Registry<TimeEncoding, TimeEncodingSpec> registry = [] {
    Registry<TimeEncoding, TimeEncodingSpec> all("time encoding", {});
    for (const std::string& density : densities().names()) all.add(density, make<BochnerTime>);
    all.add("free", make<FreeTime>);  // geometrically spaced, not drawn
    all.add("mercer", make<MercerTime>);
    all.add("mercer_summed", make<SummedMercerTime>);
    all.add("sinusoidal", make<SinusoidalTime>);
    return all;
  }();
  return registry;
}

std::unique_ptr<TimeEncoding> make_time_encoding(const TimeEncodingSpec& spec) {
  if (spec.kind == "none") return nullptr;
  return time_encodings().make(spec.kind, spec);
}

std::vector<std::string> time_uses() { return {"concatenate", "add", "attend", "rotate"}; }

}  // namespace bochner::inline BOCHNER_PRECISION
