#include <sys/mman.h>
#include <unistd.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/events/event_files.hpp>
#include <bochner/data/fields/field_files.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/data/text/encoded_text.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/run/checkpoint/safetensors.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <cstring>

#include "data/small_tokenizer.hpp"
#include "faults/crashing_storage.hpp"
#include "faults/sample_run.hpp"
#include "fuzz/targets.hpp"

namespace bochner {
namespace {

using namespace std::string_literals;

const std::string input_name = "input";

/// Changes at most a byte in half of the cases, which is often accepted.
std::string changed_a_little(const Target& target, Draws& draws) {
  if (draws.chance(0.5)) return mutated(target, draws);
  std::string bytes = pick(target.seeds, draws);
  const std::size_t at = draws.below(bytes.size());
  if (draws.chance(0.4))
    bytes[at] = char(draws.chance(0.5) ? draws.below(256) : '0' + draws.below(10));
  if (draws.chance(0.2)) bytes.erase(at, 1);
  return bytes;
}

std::string text_of(ByteSpan input) {
  return {reinterpret_cast<const char*>(input.data()), input.size()};
}

/// The input as a named file, for readers that open it themselves.
class NamedInput {
 public:
  explicit NamedInput(ByteSpan input) : file_(::memfd_create("input", MFD_CLOEXEC)) {
    demand(file_.value() >= 0 &&
               ::write(file_.value(), input.data(), input.size()) == ssize_t(input.size()),
           "no file in memory");
  }
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(file_.value()); }

 private:
  Descriptor file_;
};

// Configs

/// Reads a config, prints it and reads it again, to the same values.
void read_config_file(ByteSpan input, Draws&) try {
  static const ParameterTable table = registered_parameters();
  const Config config = parse_config(text_of(input), input_name, table);
  validate(config);
  demand(parse_config(print_config(config), input_name, table) == config, "another config");
} catch (const ConfigError& error) {
  throw DataError(error.what());
}

// Checkpoints

namespace format = checkpoint_format;

template <class Part>
Part part_of(const std::string& bytes, std::size_t at) {
  Part part{};
  if (at + sizeof(Part) <= bytes.size()) std::memcpy(&part, bytes.data() + at, sizeof(Part));
  return part;
}

/// Corrects the digests in the file, so that the contents they protect are read.
void sign(std::string& bytes) {
  constexpr std::size_t end = format::header_bytes - format::digest_bytes;
  if (bytes.size() < format::header_bytes) return;
  for (std::size_t i = 0; i < format::section_count; ++i) {
    const std::size_t at = sizeof(format::FileHeader) + i * sizeof(format::SectionEntry);
    auto entry = part_of<format::SectionEntry>(bytes, at);
    const std::uint64_t length = format::padded(entry.bytes);
    if (entry.offset > bytes.size() || length > bytes.size() - entry.offset) continue;
    entry.digest = digest_of(bytes.data() + entry.offset, length);
    std::memcpy(bytes.data() + at, &entry, sizeof(entry));
  }
  const std::uint64_t digest = digest_of(bytes.data(), end);
  std::memcpy(bytes.data() + end, &digest, sizeof(digest));
}

/// Makes a checkpoint, usually with the size in its header.
std::string make_checkpoint(const Target& target, Draws& draws) {
  std::string bytes = pick(target.seeds, draws);
  const std::size_t size = bytes.size();
  mutate(bytes, pick(target.seeds, draws), target.words, draws);
  if (draws.chance(0.7)) bytes.resize(size);
  if (draws.chance(0.8)) sign(bytes);
  return bytes;
}

const Path checkpoint_path = "step-000000000010.ckpt";

void read_checkpoint(ByteSpan input, Draws&) {
  faults::CrashingStorage storage;
  storage.create_exclusive(checkpoint_path);
  storage.bytes_of(checkpoint_path) = text_of(input);
  const CheckpointReader reader(storage, checkpoint_path);
  for (const StoredTensor& stored : reader.tensors()) {
    demand(is_valid_tensor_name(stored.name), "a tensor of this name");
    if (stored.dtype != Dtype::f64) reader.load(stored.name);
  }
}

std::vector<std::string> checkpoint_seeds() {
  std::vector<std::string> seeds;
  for (const std::uint64_t step : {10, 20}) {
    faults::Sample sample(step);
    sample.content.state.metrics_digests = {21, 22};
    sample.content.state.metrics_waiting = "{}\n";
    if (step == 20) sample.content.tensors.pop_back();
    faults::CrashingStorage storage;
    write_checkpoint(*storage.create_exclusive(checkpoint_path), sample.content);
    seeds.push_back(storage.bytes_of(checkpoint_path));
  }
  return seeds;
}

// Weights

/// Makes weights with a corrected length in front.
std::string make_weights(const Target& target, Draws& draws) {
  std::string bytes = mutated(target, draws);
  const std::size_t end = bytes.rfind('}');
  if (draws.chance(0.2) || end == bytes.npos || end < 8) return bytes;
  const std::uint64_t length = end + 1 - 8;
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes;
}

void read_weights(ByteSpan input, Draws&) {
  const Safetensors weights(input, input_name);
  weights.text("config");
  Tensor tensor = zeros({4, 4}), none = zeros({0, 3});
  weights.copy_into("weight", tensor);
  weights.copy_into("empty", none);
}

std::vector<std::string> weights_seeds() {
  const faults::Sample sample(10);
  std::string bytes;
  write_safetensors([&](std::string_view piece) { bytes += piece; },
                    {{"weight", {4, 4}, sample.weight.data()}, {"empty", {0, 3}, nullptr}},
                    {{"config", "[model]\n"}, {"step", "10"}});
  const std::string header = R"({"weight":{"dtype":"F16","shape":[4,4],"data_offsets":[0,32]}})";
  const std::uint64_t length = header.size();
  const std::string half = std::string(reinterpret_cast<const char*>(&length), sizeof length) +
                           header + std::string(32, '\x7c');
  return {bytes, half};
}

// Events and films

void read_events(ByteSpan input, Draws& draws) {
  EventColumns columns;
  if (draws.chance(0.5)) columns.sequence = "user";
  if (draws.chance(0.3)) columns.label = "label";
  if (draws.chance(0.3)) columns.places = {"x"};
  CsvOptions csv;
  csv.texts = {columns.type, columns.sequence, columns.label};
  NamedArray table = parse_csv(text_of(input), input_name, csv);
  TableShape shape;
  number_texts(table, columns, shape, NewTypes::append);
  const std::size_t types = shape.types.empty() ? most_event_types : shape.types.size();
  std::vector<EventTable> sequences = event_tables(table, types, columns);
  const EventFiles events(std::move(sequences), {.length = 4, .validation = 0.25});
  demand(events.examples(Split::train) > 0, "events without an example");
  events.batch(events.in_order(Split::train, 0, 1));
}

void read_films(ByteSpan input, Draws& draws) {
  const NamedInput file(input);
  const FieldFiles films({file.path()}, {.frames = 1 + draws.below(3),
                                         .dimensions = 1 + draws.below(3),
                                         .validation = draws.chance(0.5) ? 0.3 : 0});
  films.moments();
  films.batch(films.in_order(Split::train, 0, 1));
}

std::vector<std::string> film_seeds() {
  std::vector<std::string> seeds;
  for (const std::vector<std::size_t>& shape :
       {std::vector<std::size_t>{6, 3, 4}, {3, 5, 4, 3}, {8, 5}})
    for (const char* type : {"float32", "float64"}) {
      const xt::xarray<double> values(shape, 0.5);
      std::string bytes;
      write_npy(
          values, [&](std::string_view piece) { bytes += piece; }, element_type(type));
      seeds.push_back(bytes);
    }
  return seeds;
}

// SentencePiece models

void read_pieces(ByteSpan input, Draws& draws) {
  const auto tokenizer = make_piece_tokenizer(input, input_name);
  std::string text = pick<std::string>({text_of_words(3), "a\n", "\xe2\x96\x81 \xff A", ""}, draws);
  mutate(text, text, {" ", "\n", "\xe2\x96\x81"}, draws);
  for (const std::int32_t token : tokenizer->encode(text))
    demand(std::size_t(token) < tokenizer->vocabulary(), "a token outside the vocabulary");
  decode(*tokenizer, tokenizer->encode(text));
}

/// Returns a model that replaces "A" by "a", with a table as the library compiles it.
std::string replacing_model() {
  std::vector<std::uint32_t> units(256, 0);
  units['A'] = 'A' | 1u << 8 | 1u << 10;  // its value is in the unit with one other bit
  units['A' ^ 1] = 1u << 31;
  const auto size = std::uint32_t(units.size() * sizeof(units[0]));
  std::string table(reinterpret_cast<const char*>(&size), sizeof(size));
  table.append(reinterpret_cast<const char*>(units.data()), size);
  table += "a\0"s;
  const std::string field =
      "\x12"s + char(0x80 | (table.size() & 0x7f)) + char(table.size() >> 7) + table;
  const std::string normalizer =
      "\x1a"s + char(0x80 | (field.size() & 0x7f)) + char(field.size() >> 7) + field;
  return "\x0a\x0e\x0a\x05<unk>\x15\0\0\0\0\x18\2"s +
         "\x0a\x08\x0a\x01"
         "a\x15\0\0\x80\xbf"s +
         "\x0a\x0a\x0a\x03\xe2\x96\x81\x15\0\0\0\xc0"s + normalizer;
}

/// Reads tokens. Digests of whole files are not corrected: a changed file is refused.
void read_tokens(ByteSpan input, Draws&) {
  const NamedInput file(input);
  const EncodedText tokens(file.path(), 7);
  std::vector<std::int32_t> all(tokens.size());
  tokens.read(0, all);
}

/// Makes tokens with a corrected digest in the footer.
std::string make_tokens(const Target& target, Draws& draws) {
  std::string bytes = mutated(target, draws);
  constexpr std::size_t end = 56, digest_at = 48;
  if (bytes.size() < end || draws.chance(0.1)) return bytes;
  const std::size_t held = bytes.size() - end;
  Digest digest;
  digest.update(bytes.data(), held);
  const std::uint64_t tokens_digest = digest.value();
  std::memcpy(bytes.data() + held + digest_at, &tokens_digest, sizeof(tokens_digest));
  const std::uint64_t all = digest_of(bytes.data() + held, end);
  std::memcpy(bytes.data() + held + digest_at, &all, sizeof(all));
  return bytes;
}

std::vector<std::string> token_seeds() {
  const auto number = [](std::uint64_t value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  return {"abcdef"s + "BOCHTOK1" + number(7) + number(3) + number(2) + number(9) + number(9) +
              number(0),
          "abcdefgh"s + "BOCHTOK1" + number(7) + number(2) + number(4) + number(9) + number(8) +
              number(0)};
}

const std::vector<std::string> config_seeds = {
    "[model]\nkind = \"lm\"\nblocks = 4\nwidth = 128\n[model.mixer]\nkind = \"linear\"\nheads = 4\n"
    "features = \"wpff\"\nm = 64\ndensity = { kind = \"flow\", knots = 16 }\n[data]\nkind = "
    "\"bytes\"\n"
    "files = [\"texts/*.txt\"]\nlength = 256\n[optim]\nlr = 1e-3\n"
    "schedule = { kind = \"cosine\", warmup = 100, floor = 1e-4 }\n"
    "groups = [{ match = \"*.density.*\", lr_factor = 0.3 }]\n[train]\nsteps = \"2e\"\n"
    "checkpoint = { every = \"5min\" }\n",
    "data.kind = \"series\"\ndata.files = \"a.csv\"\nmodel.kind = \"forecaster\"\ndata.splits = "
    "[0.7, 0.1, "
    "0.2]\n",
    "data = { files = [\"a\"], tokenizer = { kind = \"sentencepiece\", model = \"m\" } }\n"};
const std::vector<std::string> config_words = {"[",
                                               "]",
                                               "{",
                                               "}",
                                               "=",
                                               "\"",
                                               ".",
                                               ",",
                                               "\n",
                                               "kind",
                                               "model",
                                               "data",
                                               "mixer",
                                               "true",
                                               "1e400",
                                               "nan",
                                               "inf",
                                               "-1",
                                               "9223372036854775808",
                                               "\"\"\"",
                                               "'''",
                                               "softmax",
                                               "#"};
const std::vector<std::string> event_seeds = {
    "time,type,user,label,x\n0,a,1,u,0.5\n1,b,1,u,1\n1.5,a,2,v,2\n2,b,2,v,0\n3,a,1,u,1\n4,b,2,v,"
    "1\n",
    "time,type\n0,1\n1,0\n2,2\n3,1\n4,1\n",
    "date;what\n2016-07-01;in\n2016-07-02;out\n2016-07-03;in\n2016-07-04;in\n"};

}  // namespace

const std::vector<Target>& run_targets() {
  static const std::vector<Target> all = {
      {"config", config_seeds, config_words, changed_a_little, read_config_file, 10000},
      {"checkpoint",
       checkpoint_seeds(),
       {"config", "\xff\xff\xff\xff"},
       make_checkpoint,
       read_checkpoint,
       200},
      {"safetensors",
       weights_seeds(),
       {"\"F16\"", "\"BF16\"", "\"F32\"", "\"F64\"", "[0, 64]", "data_offsets", "__metadata__",
        "[]"},
       make_weights,
       read_weights,
       400},
      {"events",
       event_seeds,
       {",", ";", "\n", "time", "type", "a", "NA", "65536", "-1", "1e308"},
       changed_a_little,
       read_events,
       1000},
      {"films",
       film_seeds(),
       {"'<f4'", "'<f8'", "True", "nan", "(6, 3, 4)"},
       changed_a_little,
       read_films,
       400},
      {"pieces",
       {small_model("unigram", 300), small_model("bpe", 300), replacing_model()},
       {"<0x0A>", "\x0a\x06\x0a\x01", "\x18\x06", "\x1a\x02", "\xe2\x96\x81"},
       changed_a_little,
       read_pieces,
       2000},
      {"tokens", token_seeds(), {"BOCHTOK1", "\xff\xff"}, make_tokens, read_tokens, 400},
      facts_target()};
  return all;
}

}  // namespace bochner
