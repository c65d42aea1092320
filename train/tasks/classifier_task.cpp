#include <fmt/format.h>

#include <bochner/data/files/glob.hpp>
#include <bochner/data/pixels.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/tasks/data_kinds.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/task.hpp>
#include <utility>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

SequenceClassifierSpec classifier_spec(const Config& config, const LabelledSequences& data) {
  auto spec = read_spec<SequenceClassifierSpec>(config, "model");
  spec.trunk.length = data.length();
  spec.trunk.vocabulary = data.vocabulary();
  complete(spec.trunk, config, data.length());
  spec.classes = data.classes();
  const auto [rows, columns, channels] = data.image();
  spec.trunk.places.rows = rows;
  spec.trunk.places.columns = columns;
  spec.trunk.places.channels = channels;
  spec.trunk.places.class_token = spec.pooling == "cls";
  complete_encoding(spec.trunk, config);
  return spec;
}

bool has_class_token(const Config& config) { return config.text("model.pooling") == "cls"; }

Images images_of(const std::vector<std::string>& files) {
  return read_images(expand_files(files, std::filesystem::current_path()));
}

std::unique_ptr<LabelledSequences> image_sequences(const Config& config) {
  const auto data = read_spec<DataSpec>(config, "data");
  const auto spec = read_spec<ImagesSpec>(config, "data");
  Images images = images_of(data.files);
  std::uint64_t train = images.size();
  if (spec.validation_files.empty())
    train -= held_out(train, data.validation);
  else
    append_images(images, images_of(spec.validation_files), "data.validation_files");
  if (spec.grey) images = to_grey(images);
  return std::make_unique<ImageSequences>(std::move(images), train, config.count("train.seed"),
                                          has_class_token(config));
}

std::unique_ptr<LabelledSequences> labelled_sequences(const Config& config) {
  const std::string& kind = config.text("data.kind");
  if (kind == "listops")
    return std::make_unique<ListOps>(list_ops_spec(config), example_set(config));
  if (kind == "images") return image_sequences(config);
  if (kind == "shapes") {
    auto spec = read_spec<ShapesSpec>(config, "data");
    spec.class_token = has_class_token(config);
    return std::make_unique<Shapes>(spec, example_set(config));
  }
  throw std::invalid_argument("data.kind = \"" + kind + "\" has no labels");
}

/// A label for each sequence.
class ClassifierTask : public Task {
 public:
  explicit ClassifierTask(const Config& config)
      : data_(labelled_sequences(config)), spec_(classifier_spec(config, *data_)), model_(spec_) {
    initialize(model_, config.count("train.seed"));
  }

  Module& model() override { return model_; }
  const Dataset& data() const override { return *data_; }

  Var loss(Tape& tape, const Examples& examples) override {
    const LabelledBatch batch = data_->batch(examples);
    return model_.loss(tape, batch.tokens, batch.labels, batch.lengths);
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const LabelledBatch batch = data_->batch(examples);
    return evaluate_answers(model_.logits(tape, batch.tokens, batch.lengths), batch.labels);
  }

  std::string describe_model() const override {
    return fmt::format("classifier, {}, positions {}, pooling {}", describe_stack(spec_.trunk),
                       spec_.trunk.positions, spec_.pooling);
  }

 private:
  std::unique_ptr<LabelledSequences> data_;
  SequenceClassifierSpec spec_;
  SequenceClassifier model_;
};

}  // namespace

std::unique_ptr<Task> make_classifier_task(const Config& config) {
  return std::make_unique<ClassifierTask>(config);
}

}  // namespace bochner::inline BOCHNER_PRECISION
