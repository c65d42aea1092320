#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/data/formats/stored_array.hpp>
#include <bochner/data/labelled/pathfinder.hpp>
#include <bochner/train/tasks/events/event_data.hpp>
#include <bochner/train/tasks/labels/label_data.hpp>
#include <bochner/train/tasks/specimens.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/text/tokenizers.hpp>
#include <cmath>

namespace bochner {
namespace {

bool needs_labels(const Config& config) { return config.text("model.kind") == "classifier"; }

Images images_of(const Config& config, const std::vector<std::string>& files) {
  return read_images(expand_files(files, std::filesystem::current_path()), needs_labels(config));
}

void require_classes(const Config& config, const Images& images) {
  if (!needs_labels(config)) return;
  const auto differs = [&](std::uint8_t label) { return label != images.labels[0]; };
  if (images.size() > 0 && std::ranges::none_of(images.labels, differs))
    throw DataError("data.files: all images have the label ", int(images.labels[0]),
                    "; a classifier needs at least two labels");
}

std::unique_ptr<LabelledSequences> images_in_files(const Config& config, bool class_token) {
  const auto data = read_spec<DataSpec>(config, "data");
  const auto spec = read_spec<ImagesSpec>(config, "data");
  Images images = images_of(config, data.files);
  std::uint64_t train = images.size();
  if (spec.validation_files.empty())
    train -= held_out(train, data.validation);
  else
    append_images(images, images_of(config, spec.validation_files), "data.validation_files");
  require_classes(config, images);
  if (spec.grey) images = to_grey(images);
  return std::make_unique<ImageSequences>(std::move(images), train, config.count("train.seed"),
                                          class_token);
}

/// Opens the images of data.kind "images", in files, or "shapes" or "pathfinder", generated.
std::unique_ptr<LabelledSequences> image_sequences(const Config& config, bool class_token) {
  if (config.text("data.kind") == "images") return images_in_files(config, class_token);
  auto spec = read_spec<ShapesSpec>(config, "data");
  spec.class_token = class_token;
  if (config.text("data.kind") == "shapes")
    return std::make_unique<Shapes>(spec, example_set(config));
  return std::make_unique<Pathfinder>(spec, example_set(config));
}

std::unique_ptr<LabelledEvents> event_sequences(const Config& config, TableShape& shape) {
  std::vector<EventTable> sequences = read_events(config, shape);
  LabelledEventsSpec spec = labelled_events_spec(config);
  spec.types = std::max(shape.types.size(), shape.known_types);
  spec.labels = shape.labels.size();
  return std::make_unique<LabelledEvents>(std::move(sequences), spec);
}

std::unique_ptr<LabelledSequences> sequences_of_kind(const Config& config, TableShape& shape,
                                                     const LabelFacts& known) {
  const std::string& kind = config.text("data.kind");
  if (kind == "listops")
    return std::make_unique<ListOps>(list_ops_spec(config), example_set(config));
  if (kind == "images" || kind == "shapes" || kind == "pathfinder")
    return image_sequences(config, has_class_token(config));
  if (kind == "event_files") return event_sequences(config, shape);
  if (kind == "texts")
    return labelled_texts(config, labelled_texts_spec(config, known.tokenizer), known.labels);
  throw std::invalid_argument("data.kind = \"" + kind + "\" has no labels");
}

LabelFacts facts_of(const Config& config, const LabelData& data) {
  const LabelledSequences& sequences = *data.sequences;
  const ImageShape image = sequences.image();
  LabelFacts facts{.vocabulary = sequences.vocabulary(),
                   .classes = sequences.classes(),
                   .length = sequences.length(),
                   .rows = image.rows,
                   .columns = image.columns,
                   .channels = image.channels,
                   .types = data.shape.types,
                   .labels = data.shape.labels,
                   .table_width = data.shape.width,
                   .table_columns = data.shape.names,
                   .examples = sequences.examples(Split::train),
                   .specimens = take_specimens(sequences, sequences.tokens_per_example())};
  if (config.text("data.kind") != "texts") return facts;
  const auto& texts = static_cast<const LabelledTexts&>(sequences);
  facts.labels = texts.class_names();
  facts.tokenizer = texts.spec().tokenizer->digest();
  return facts;
}

/// Throws DataError if the data hold names or sizes that the model has not learned.
void require_known(const LabelFacts& known, const LabelFacts& found) {
  require_known_names("type", known.types, found.types);
  require_known_names("label", known.labels, found.labels);
  if (found.vocabulary > known.vocabulary || found.classes > known.classes ||
      found.length > known.length)
    throw DataError("data.files: holds ", found.vocabulary, " tokens and ", found.classes,
                    " labels in sequences of up to ", found.length, "; the model was trained on ",
                    known.vocabulary, ", ", known.classes, " and ", known.length);
}

/// Throws DataError for other axes, even if they hold as many numbers: pixels would be permuted.
void require_images(const NamedArray& input, const ImageShape& shape) {
  const std::vector<std::size_t> given(input.values.shape().begin(), input.values.shape().end());
  const std::size_t n = given.empty() ? 0 : given[0];
  const auto is = [&](std::vector<std::size_t> axes) {
    axes.insert(axes.begin(), n);
    return n > 0 && given == axes;
  };
  const bool grey = shape.channels == 1;
  if (is({shape.rows, shape.columns, shape.channels})) return;
  if (grey && (is({shape.rows, shape.columns}) || is({shape.rows * shape.columns}))) return;
  const bool channels_first = is({shape.channels, shape.rows, shape.columns});
  throw DataError("the input has the shape ", shape_text(given), ", not that of images of ",
                  shape.rows, " x ", shape.columns, " x ", shape.channels, " numbers; ",
                  channels_first ? "transpose it to (n, height, width, channels)"
                                 : "give an array (n, height, width, channels)");
}

}  // namespace

void LabelFacts::check() const {
  constexpr std::uint64_t most = std::uint64_t(1) << 24;
  require_size("tokens in the vocabulary", vocabulary, most);
  require_size("classes", classes, most);
  require_size("tokens of a sequence", length, std::uint64_t(1) << 32);
  require_size("channels", channels, 4);
  require_size("training sequences", examples, std::uint64_t(1) << 40);
  if (rows > most || columns > most || rows * columns * channels > length)
    throw DataError("facts claim images of ", rows, " x ", columns, " pixels in sequences of ",
                    length, " tokens");
  if (types.size() > vocabulary || labels.size() > classes)
    throw DataError("facts name more types or labels than they count");
}

bool has_class_token(const Config& config) { return config.text("model.pooling") == "cls"; }

LabelledEventsSpec labelled_events_spec(const Config& config) {
  return {config.count("data.length"), config.number("data.validation"), config.count("train.seed"),
          has_class_token(config), config.text("model.kind") == "classifier"};
}

LabelledTextsSpec labelled_texts_spec(const Config& config, std::uint64_t tokenizer) {
  return {config.count("data.length"), config.number("data.validation"), config.count("train.seed"),
          has_class_token(config), tokenizer_of(config, tokenizer)};
}

std::unique_ptr<LabelledTexts> labelled_texts(const Config& config, const LabelledTextsSpec& spec,
                                              const std::vector<std::string>& known) {
  const std::string& label = config.text("data.label_column");
  LabelledRows rows;
  if (label.empty())
    rows = rows_of_folders(data_files(config), spec.bytes());
  else
    for_each_table(config, [&](const std::filesystem::path&, const NamedArray& table) {
      append_rows(rows, table, config.text("data.text_column"), label);
    });
  return std::make_unique<LabelledTexts>(number_labels(std::move(rows), known), spec);
}

ReadOptions text_options(const Config& config) {
  CsvOptions csv =
      only_columns(config, "", {config.text("data.text_column"), config.text("data.label_column")});
  csv.texts = {config.text("data.text_column"), config.text("data.label_column")};
  csv.labels = {config.text("data.label_column")};
  csv.missing = "nan";
  return {csv, ""};
}

LabelData::LabelData(const Config& config, const KnownFacts& known) {
  auto facts = known.of<LabelFacts>();
  if (!known.are_exact()) facts.tokenizer = 0;
  const std::size_t known_types = facts.vocabulary - (has_class_token(config) ? 1 : 0);
  shape = {0, {}, facts.types, facts.labels, known_types};
  sequences = sequences_of_kind(config, shape, facts);
  auto buckets = read_spec<LengthBuckets>(config, "data");
  buckets.batch = config.count("train.batch");
  sequences->bucket(buckets);
}

LabelFacts label_facts(const Config& config, const LabelData& data, const KnownFacts& known) {
  LabelFacts found = facts_of(config, data);
  if (!known.are_exact()) return found;
  LabelFacts learned = known.of<LabelFacts>();
  require_known(learned, found);
  return learned;
}

LabelFacts image_facts(const Config& config, const LabelData& data, const KnownFacts& known) {
  LabelFacts facts = label_facts(config, data, known);
  const auto [rows, columns, channels] = data.sequences->image();
  if (rows != facts.rows || columns != facts.columns || channels != facts.channels)
    throw DataError("data.files: holds images of ", rows, " x ", columns, " x ", channels,
                    " numbers; the model was trained on ", facts.rows, " x ", facts.columns, " x ",
                    facts.channels);
  return facts;
}

LabelFacts smallest_image_facts(const Config& config) {
  const std::uint64_t side = config.count("model.patch.pixels");
  return {.length = side * side, .rows = side, .columns = side, .examples = 0};
}

std::vector<std::vector<std::int32_t>> pixels_of(const NamedArray& input, const ImageShape& shape) {
  require_images(input, shape);
  const std::size_t n = input.values.shape()[0];
  const std::size_t pixels = shape.rows * shape.columns * shape.channels;
  std::vector<std::vector<std::int32_t>> images(n);
  for (std::size_t i = 0; i < n * pixels; ++i) {
    const double value = input.values.data()[i];
    if (!(value >= 0 && value <= 255 && value == std::floor(value)))
      throw DataError("image ", i / pixels + 1, ": ", value,
                      " is not a whole brightness from 0 to 255");
    images[i / pixels].push_back(std::int32_t(value));
  }
  return images;
}

}  // namespace bochner
