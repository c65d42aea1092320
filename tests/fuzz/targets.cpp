#include "fuzz/targets.hpp"

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/data/formats/images.hpp>
#include <bochner/data/formats/npy.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/formats/stored_array.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <cmath>
#include <numeric>

#include "data/gzip_file.hpp"
#include "data/image_files.hpp"

namespace bochner {

void demand(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

std::string mutated(const Target& target, Draws& draws) {
  std::string bytes = pick(target.seeds, draws);
  mutate(bytes, pick(target.seeds, draws), target.words, draws);
  return bytes;
}

namespace {

using namespace std::string_literals;

const std::string name = "input";

double total(const xt::xarray<double>& values) {
  return std::accumulate(values.data(), values.data() + values.size(), 0.0);
}

template <class Write>
std::string written(const Write& write) {
  std::string file;
  write([&](std::string_view piece) { file += piece; });
  return file;
}

// CSV

const std::vector<std::string> formats = {"", "%Y%m%d", "%d.%m.%Y %H:%M", "%s", "%b %d %y%z%%"};

CsvOptions csv_options(Draws& draws) {
  CsvOptions options;
  options.delimiter = pick<std::string>({"auto", ",", ";", "tab"}, draws);
  options.decimal = pick<std::string>({"auto", "auto", ".", ","}, draws);
  options.quote = pick<std::string>({"auto", "double", "single", "none"}, draws);
  options.header = pick<std::string>({"auto", "auto", "yes", "no"}, draws);
  options.missing = pick(missing_policies(), draws);
  options.time_format = pick(formats, draws);
  if (draws.chance(0.2)) options.columns = {pick<std::string>({"1", "b", "0", "x"}, draws), "2"};
  if (draws.chance(0.2)) options.time = pick<std::string>({"1", "date"}, draws);
  return options;
}

/// Reads a table, writes it and reads it again, to the same numbers.
void read_text(ByteSpan input, Draws& draws) {
  const NamedArray table = parse_csv({reinterpret_cast<const char*>(input.data()), input.size()},
                                     name, csv_options(draws));
  demand(table.values.size() > 0, "a table without values");
  const std::string text = written([&](const Sink& sink) { write_csv({table.values, {}}, sink); });
  const NamedArray again = parse_csv(text, name, {.header = "no", .missing = "nan"});
  demand(again.values.size() == table.values.size(), "another size when read again");
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    const double before = table.values.data()[i], after = again.values.data()[i];
    demand(before == after || (std::isnan(before) && std::isnan(after)), "another number");
  }
}

void read_time(ByteSpan input, Draws& draws) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  const auto seconds = parse_time(text, pick(formats, draws));
  if (!seconds) return;
  const std::string stamp = format_time(*seconds);
  demand(stamp.find(':') == stamp.npos || parse_time(stamp) == seconds, "another time");
}

// NPY and NPZ

/// Makes a header with numbers that cause trouble, and about as many bytes as it claims.
std::string make_npy(const Target& target, Draws& draws) {
  if (draws.chance(0.5)) return mutated(target, draws);
  StoredLayout layout;
  layout.type = pick<ElementType>({{'f', 8}, {'f', 4}, {'i', 1}, {'u', 8}, {'b', 1}}, draws);
  std::string shape;
  for (std::uint64_t axes = draws.below(4); axes > 0; --axes) {
    const std::size_t size = draws.chance(0.9) ? draws.below(5) : awkward_number(64, draws);
    if (layout.add_axis(size) || draws.chance(0.5)) shape += std::to_string(size) + ", ";
  }
  const std::string type = pick<std::string>({"<", ">", "|"}, draws) + layout.type.kind +
                           std::to_string(layout.type.size);
  std::string text = "{'descr': '" + type +
                     "', 'fortran_order': " + (draws.chance(0.5) ? "True" : "False") +
                     ", 'shape': (" + shape + "), }\n";
  if (draws.chance(0.3)) mutate(text, pick(target.seeds, draws), target.words, draws);
  std::string file(npy_magic);
  file += "\1\0"s + char(text.size() & 0xff) + char(text.size() >> 8) + text;
  std::size_t bytes = std::min<std::uint64_t>(layout.file_size(), 1000);
  if (draws.chance(0.2)) bytes += draws.below(9);
  for (; bytes > 0; --bytes) file += char(draws.below(256));
  return file;
}

void read_numbers(ByteSpan input, Draws&) {
  const StoredArray array = parse_npy(input, name);
  if (const auto doubles = array.elements<double>())
    demand(doubles->size() == array.size(), "another size in place");
  total(array.values());
}

/// Makes mutated members with a correct directory.
std::string make_npz(const Target& target, Draws& draws) {
  if (draws.chance(0.5)) return mutated(target, draws);
  std::string file;
  std::vector<ZipMember> members;
  std::vector<std::uint64_t> offsets;
  std::vector<Bytes> held(draws.below(4));
  const Target& npy_target =
      *std::ranges::find(targets(), "npy"s, [](const Target& each) { return each.name; });
  for (Bytes& packed : held) {
    const std::string npy = make_npy(npy_target, draws);
    const bool deflated = draws.chance(0.5);
    packed = deflated ? deflate(bytes_of(npy)) : Bytes(npy.begin(), npy.end());
    members.push_back({"a.npy", deflated, crc32_of(bytes_of(npy)), npy.size(), packed});
    if (draws.chance(0.1)) members.back().size = awkward_number(npy.size(), draws);
    offsets.push_back(draws.chance(0.9) ? file.size() : awkward_number(file.size(), draws));
    file += zip_member_header(members.back()) + std::string(packed.begin(), packed.end());
  }
  return file + zip_directory_bytes(members, offsets, file.size());
}

void read_members(ByteSpan input, Draws&) {
  const Npz npz(input, name);
  for (const std::string& array : npz.names()) total(npz.values(array));
}

// Images, gzip, and any of them

void read_images_of(ByteSpan input, Draws&) {
  Images images;
  add_images(images, input, name);
  to_grey(images);
}

std::string make_gzip(const Target& target, Draws& draws) {
  if (draws.chance(0.5)) return mutated(target, draws);
  std::string text = pick(target.seeds, draws);
  mutate(text, text, target.words, draws);
  return gzip(text) + (draws.chance(0.3) ? gzip(text) : "");
}

void read_packed(ByteSpan input, Draws& draws) {
  const std::uint64_t limit = draws.below(3000);
  demand(gunzip_front(input, name, 100).size() <= 100, "more than the front");
  demand(gunzip(input, name, limit).size() <= limit, "more than the limit");
}

std::string make_any(const Target&, Draws& draws) {
  const std::size_t others = targets().size() - 1;  // all except this one, the last
  const Target& target = targets()[draws.below(others)];
  return target.make(target, draws);
}

void read_any(ByteSpan input, Draws& draws) {
  ReadOptions options{csv_options(draws)};
  if (draws.chance(0.1)) options.array = "a";
  total(parse_array(input, name, options).values);
}

// Readers with a bug, which must be found

/// Reads as many elements as the header claims.
void read_too_far(ByteSpan input, Draws&) {
  const StoredLayout layout = parse_idx_header(input, name);
  std::size_t sum = 0;
  for (std::size_t at = layout.data_begin; at < layout.file_size(); ++at) sum += input.data()[at];
  demand(sum < std::size_t(-1), "never");
}

/// Allocates what the header claims, before checking it.
void read_too_much(ByteSpan input, Draws&) {
  const StoredLayout layout = parse_npy_header(input, name);
  Bytes room(layout.file_size());
  if (room.size() != input.size()) throw DataError(name + ": another size");
}

/// Throws an error of two lines.
void read_too_loud(ByteSpan input, Draws&) {
  if (!is_idx(input)) throw DataError(name + ": is not an IDX file\nat all");
}

const std::vector<std::string> csv_seeds = {
    "a,b\n1,2\n3,4\n", "\"date\",\"b \"\"c\"\"\"\r\n2016-07-01 00:00:00,1.5\r\n2016-07-02,-2e9\r\n",
    "1;2;3\nNA;;nan\n4;5;6\n",
    "\xef\xbb\xbf"
    "date\tb\n20160701\t1\n20160702\t\"2\"\n",
    "1\n\n2\n"};
const std::vector<std::string> csv_words = {",",
                                            ";",
                                            "\t",
                                            "\"",
                                            "\"\"",
                                            "\n",
                                            "\r\n",
                                            "\r",
                                            "NA",
                                            "nan",
                                            "1e308",
                                            "-",
                                            "+",
                                            "0",
                                            "2016-07-01T00:00Z",
                                            "\xef\xbb\xbf",
                                            "a",
                                            " "};
const std::vector<std::string> time_seeds = {
    "2016-07-01",       "2016-07-01 00:15:00.25", "20160701",       "2016-07-01T00:00+02:00",
    "01.07.2016 10:20", "-1467332100.5",          "Jul 01 16+0200%"};
const std::vector<std::string> time_words = {"-", ":", "Z", "+", ".", "0", "9", "T", "Feb", "29"};
const std::vector<std::string> npy_words = {
    "(",   ")",    ",",     "'",     "descr", "<f8", ">i2",
    "|b1", "True", "False", "shape", "{",     "}",   "1152921504606846976",
    "L"};
const std::vector<std::string> zip_words = {"PK\x01\x02",  "PK\x03\x04", "PK\x05\x06",
                                            "PK\x06\x06",  "PK\x06\x07", "\xff\xff\xff\xff",
                                            "\1\0\x18\0"s, ".npy"};

std::vector<std::string> npy_seeds() {
  const xt::xarray<double> values{{1, 2, 3}, {0, 1, 0}};
  std::vector<std::string> seeds;
  for (const char* type : {"float64", "float32", "int16", "uint64"})
    seeds.push_back(
        written([&](const Sink& sink) { write_npy(values, sink, element_type(type)); }));
  return seeds;
}

std::vector<std::string> npz_seeds() {
  const NamedArrays arrays = {{"a", {1, 2, 3}}, {"b", {4, 5, 6}}};
  std::vector<std::string> seeds;
  for (const bool compressed : {false, true})
    seeds.push_back(written([&](const Sink& sink) { write_npz(arrays, sink, {{}, compressed}); }));
  return seeds;
}

const std::vector<std::string> image_seeds = {
    idx_file({2, 2, 2}, "abcdefgh"),   idx_file({3}, "\0\1\2"s), idx_file({1, 2, 1, 3}, "abcdef"),
    "\0\0\x0d\1\0\0\0\1\x3f\xc0\0\0"s, cifar_record_of("\3"),    cifar_record_of("\3\x20")};
const std::vector<std::string> gzip_seeds = {
    gzip("hello, hello, hello"), gzip(std::string(5000, 'x')), gzip("a") + gzip("") + gzip("b")};

}  // namespace

const std::vector<Target>& targets() {
  static const std::vector<Target> all = {
      {"csv", csv_seeds, csv_words, mutated, read_text, 400},
      series_target(),
      sound_target(),
      labelled_target(),
      {"time", time_seeds, time_words, mutated, read_time, 0},
      {"npy", npy_seeds(), npy_words, make_npy, read_numbers, 16},
      {"npz", npz_seeds(), zip_words, make_npz, read_members, 10000},
      {"images", image_seeds, {"\0\0\x08\3"s, "\0\0\x08\1"s}, mutated, read_images_of, 16},
      {"gzip", gzip_seeds, {"\x1f\x8b\x08"s, "\xff"s}, make_gzip, read_packed, 0},
      {"any", {}, {}, make_any, read_any, 10000}};
  return all;
}

const std::vector<Target>& broken_targets() {
  static const std::vector<Target> all = {
      {"too-far", image_seeds, {"\0\0\x08\1"s}, mutated, read_too_far, 16},
      {"too-much", npy_seeds(), npy_words, make_npy, read_too_much, 16},
      trusting_sound_target(),
      {"too-loud", image_seeds, {"\1"}, mutated, read_too_loud, 16}};
  return all;
}

}  // namespace bochner
