#include <sndfile.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/sound_files.hpp>
#include <cmath>
#include <cstring>
#include <memory>

namespace bochner {
namespace {

constexpr int most_channels = 256;
constexpr std::size_t samples_at_once = 1 << 12;
constexpr std::uint64_t most_samples_a_byte = 4096;

/// Bytes in memory as libsndfile reads a file.
struct SoundBytes {
  ByteSpan bytes;
  sf_count_t at = 0;

  sf_count_t size() const { return sf_count_t(bytes.size()); }

  static SoundBytes& of(void* user) { return *static_cast<SoundBytes*>(user); }
  static sf_count_t length(void* user) { return of(user).size(); }
  static sf_count_t tell(void* user) { return of(user).at; }
  static sf_count_t write(const void*, sf_count_t, void*) { return 0; }
  static sf_count_t seek(sf_count_t offset, int whence, void* user) {
    SoundBytes& file = of(user);
    const sf_count_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file.at : file.size();
    if (offset > file.size() || offset < -file.size()) return -1;
    if (from + offset < 0 || from + offset > file.size()) return -1;
    return file.at = from + offset;
  }
  static sf_count_t read(void* out, sf_count_t count, void* user) {
    SoundBytes& file = of(user);
    const sf_count_t some = std::clamp<sf_count_t>(count, 0, file.size() - file.at);
    if (some > 0) std::memcpy(out, file.bytes.data() + file.at, std::size_t(some));
    file.at += some;
    return some;
  }
};

struct CloseSound {
  void operator()(SNDFILE* sound) const { ::sf_close(sound); }
};

/// Decodes all frames, the channels of each together.
std::vector<float> frames_of(SNDFILE* sound, std::size_t channels, std::uint64_t most,
                             const std::string& name) {
  const std::size_t frames_at_once = samples_at_once / channels;
  std::vector<float> all, some(frames_at_once * channels);
  while (const sf_count_t frames =
             ::sf_readf_float(sound, some.data(), sf_count_t(frames_at_once))) {
    if (frames < 0) throw DataError(name, ": its samples cannot be decoded");
    const auto count = std::size_t(frames) * channels;
    if (all.size() + count > most)
      throw DataError(name, ": has more than ", most, " samples; cut it into shorter recordings");
    all.insert(all.end(), some.begin(), some.begin() + std::ptrdiff_t(count));
  }
  return all;
}

}  // namespace

bool is_sound(ByteSpan front) {
  const auto has = [&](std::size_t at, std::string_view mark) {
    return front.size() >= at + mark.size() &&
           std::memcmp(front.data() + at, mark.data(), mark.size()) == 0;
  };
  const bool is_wav = (has(0, "RIFF") || has(0, "RIFX") || has(0, "RF64")) && has(8, "WAVE");
  const bool is_aiff = has(0, "FORM") && has(8, "AIF");
  return is_wav || is_aiff || has(0, "fLaC") || has(0, "OggS") || has(0, ".snd") || has(0, "caff");
}

RealSeriesSet parse_sound(ByteSpan file, const std::string& name) {
  SF_VIRTUAL_IO calls{SoundBytes::length, SoundBytes::seek, SoundBytes::read, SoundBytes::write,
                      SoundBytes::tell};
  SoundBytes bytes{file};
  SF_INFO info{};
  const std::unique_ptr<SNDFILE, CloseSound> sound(
      ::sf_open_virtual(&calls, SFM_READ, &info, &bytes));
  if (!sound)
    throw DataError(name, ": is not a recording that libsndfile reads: ",
                    printable(trimmed(::sf_strerror(nullptr))));
  if (info.channels < 1 || info.channels > most_channels)
    throw DataError(name, ": has ", info.channels, " channels; 1 to ", most_channels,
                    " are allowed");
  const auto channels = std::size_t(info.channels);
  const std::uint64_t most = std::min(most_samples, most_samples_a_byte * file.size());
  const std::vector<float> frames = frames_of(sound.get(), channels, most, name);
  if (frames.empty()) throw DataError(name, ": has no samples");
  if (std::ranges::any_of(frames, [](float x) { return std::isinf(x); }))
    throw DataError(name, ": has an infinite sample");
  RealSeries series;
  series.values.resize(frames.size());
  const std::size_t rows = frames.size() / channels;
  for (std::size_t t = 0; t < rows; ++t)
    for (std::size_t c = 0; c < channels; ++c)
      series.values[c * rows + t] = frames[t * channels + c];
  RealSeriesSet set{.channels = channels, .rate = std::uint64_t(std::max(0, info.samplerate))};
  set.series.push_back(std::move(series));
  return set;
}

}  // namespace bochner
