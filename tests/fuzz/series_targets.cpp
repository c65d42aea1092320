#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/npy.hpp>
#include <bochner/data/formats/read_series.hpp>
#include <bochner/data/formats/sound_files.hpp>

#include "data/sound_bytes.hpp"
#include "fuzz/targets.hpp"

namespace bochner {
namespace {

using namespace std::string_literals;

const std::string file_name = "input";

/// Throws an error that no reader may throw unless a table of the series has the same series.
void demand_same_table(const RealSeriesSet& set, const RealSeriesColumns& columns = {}) {
  const RealSeriesSet again = series_of_table(table_of_series(set, columns), columns, false);
  demand(set.series.size() == again.series.size() && set.channels == again.channels,
         "series are lost in a table");
  for (std::size_t i = 0; i < set.series.size(); ++i)
    demand(set.rows(i) == again.rows(i), "a series has other rows in a table");
}

void read_series_file(ByteSpan input, Draws&) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  if (!series_format(text).empty()) demand_same_table(parse_series(text, file_name));
}

const std::vector<std::string> series_seeds = {
    "@problemName a\n@classLabel true x y\n@data\n1,2:3,?:x\n4:5:y\n",
    "@problemName b\n@targetLabel true\n@data\n1,2,3:7.5\n",
    "@problemName c\n@timeStamps true\n@classLabel true x y\n@data\n(0,1),(1,2):(0,3),(2.5,?):x\n"
    "(2024-01-01 00:00:00,4),(2024-01-02,5):(2024-01-01,6):y\n",
    "@relation d\n@attribute t0 numeric\n@attribute t1 numeric\n@data\n1,2,x\n'1,2\\n3,4',y\n"};
const std::vector<std::string> series_words = {
    "@", "@data\n", ":",      ",",         "?",   "\n",   "\\n",
    "'", "\"",      "NaN",    "#",         "1e9", "true", "@timestamps true\n",
    "(", ")",       "(0,1),", "2024-01-01"};

// Sound

const char* flac_file =
    "664c6143000000221000100000004f00004f01f400f00000004001066be969e3a56a17c58b824607dea8840000"
    "28200000007265666572656e6365206c6962464c414320312e342e3220323032323130323200000000fff86408"
    "003f5e46000012ea24233222b41cd5709b278e80b647db372525642fd2f31ecb1a171218113449857ead7e564a"
    "4ae53ef070a1f1216163e7082a97f6aecac9c85ea7c65f163a2c282ce9d8";

std::vector<std::string> sound_seeds() {
  const std::string samples = "\0\1\2\3\4\5\6\7\x80\x90\xa0\xff"s;
  std::vector<std::string> seeds = {*from_hex(flac_file)};
  for (const std::size_t bits : {8, 16, 24, 32})
    for (const std::size_t channels : {1, 2})
      seeds.push_back(wav_bytes(samples, {.bits = bits, .channels = channels}));
  seeds.push_back(wav_bytes(samples, {.bits = 32, .is_float = true}));
  seeds.push_back(".snd\0\0\0\x18\0\0\0\x0c\0\0\0\3\0\0\x1f\x40\0\0\0\1"s + samples);
  seeds.push_back(
      "FORM\0\0\0\x3a\x41IFFCOMM\0\0\0\x12\0\1\0\0\0\6\0\x10\x40\x0b\xfa\0\0\0\0\0\0\0"
      "SSND\0\0\0\x14\0\0\0\0\0\0\0\0"s +
      samples);
  return seeds;
}
const std::vector<std::string> sound_words = {
    "fmt ", "data", "LIST",  "fact",  "PEAK",    "RF64",     "ds64",
    "COMM", "SSND", "\1\0"s, "\3\0"s, "\x11\0"s, "\xfe\xff", "\xff\xff\xff\xff"};

/// Makes mutated files, and headers of any sizes before samples.
std::string make_sound(const Target& target, Draws& draws) {
  if (draws.chance(0.5)) return mutated(target, draws);
  std::string samples(draws.below(64), '\0');
  for (char& byte : samples) byte = char(draws.below(256));
  const auto size = [&](std::size_t usual) {
    return draws.chance(0.8) ? 1 + draws.below(usual) : awkward_number(samples.size(), draws);
  };
  return wav_bytes(samples, {.bits = 8 * size(8),
                             .channels = size(3),
                             .rate = size(48000),
                             .is_float = draws.chance(0.3),
                             .claimed = draws.chance(0.5) ? 0 : size(1000)});
}

void read_sound(ByteSpan input, Draws&) {
  if (is_sound(input)) demand_same_table(parse_sound(input, file_name));
}

/// Allocates the samples that the header claims.
void read_claimed_sound(ByteSpan input, Draws&) {
  constexpr std::size_t size_at = 40, samples_at = 44;
  if (!is_sound(input) || input.size() < samples_at) return;
  std::size_t claimed = 0;
  for (std::size_t i = 0; i < 4; ++i) claimed |= std::size_t(input[size_at + i]) << (8 * i);
  Bytes room(claimed);
  if (room.size() > input.size()) throw DataError(file_name, ": is cut off");
}

// All formats of labelled series

std::vector<std::string> labelled_seeds() {
  std::vector<std::string> seeds = {
      "1\t0.5\t1.5\tNaN\n-1\t2\tNaN\t3\n", "id,class,t0,t1,t2\na,x,1,2,3\nb,y,4,,\n",
      "series,label,x,z\n1,up,1,2\n1,up,3,4\n2,down,5,6\n",
      "series,time,label,x\na,2024-01-01,1,2\na,2024-01-02,1,3\nb,2024-01-01,2,4\n"};
  std::string npz;
  write_npz({{"x", xt::xarray<double>{{1, 2, 3}, {4, 5, 6}}}, {"y", {0, 1}}},
            [&](std::string_view piece) { npz += piece; });
  seeds.push_back(npz);
  seeds.push_back(wav_bytes("\1\2\3\4"));
  seeds.push_back(series_seeds[0]);
  return seeds;
}

/// Makes mutated files, and files of which one digit is another.
std::string make_labelled(const Target& target, Draws& draws) {
  if (draws.chance(0.5)) return mutated(target, draws);
  std::string bytes = pick(target.seeds, draws);
  char& byte = bytes[draws.below(bytes.size())];
  if (byte >= '0' && byte <= '9') byte = char('0' + draws.below(10));
  return bytes;
}

void read_labelled(ByteSpan input, Draws& draws) {
  SeriesOptions series{.layout = draws.chance(0.5) ? "wide" : "long",
                       .label_from = draws.chance(0.3) ? "folder" : "file",
                       .labelled = draws.chance(0.2)};
  series.columns.label = pick<std::string>({"label", "class", "1"}, draws);
  series.columns.series = pick<std::string>({"series", "id"}, draws);
  if (draws.chance(0.2)) series.columns.channels = {"x"};
  if (draws.chance(0.2)) series.columns.time = "time";
  ReadOptions options{.csv = {}, .array = "", .series = series};
  options.csv.texts = {series.columns.series, series.columns.label};
  options.csv.labels = {series.columns.label};
  options.csv.missing = "nan";
  const RealSeriesSet set = parse_labelled_series(input, file_name, options);
  for (const RealSeries& one : set.series)
    demand(!one.values.empty() && one.values.size() % set.channels == 0 &&
               (one.times.empty() || one.times.size() * set.channels == one.values.size()),
           "a series of another shape");
  table_of_series(set, series.columns);
}

}  // namespace

Target series_target() {
  return {"series", series_seeds, series_words, mutated, read_series_file, 400};
}
Target sound_target() { return {"sound", sound_seeds(), sound_words, make_sound, read_sound, 400}; }
Target labelled_target() {
  return {"labelled",
          labelled_seeds(),
          {",", "\t", "\n", "NaN", "1", "x", "1e308", "label", "series"},
          make_labelled,
          read_labelled,
          10000};
}
Target trusting_sound_target() {
  return {"too-trusting", sound_seeds(), sound_words, make_sound, read_claimed_sound, 16};
}

}  // namespace bochner
