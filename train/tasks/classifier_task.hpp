#pragma once
#include <bochner/data/list_ops.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct ImagesSpec {
  std::vector<std::string> validation_files;
  bool grey = false;
};
inline void describe(Keys& keys, ImagesSpec& spec) {
  keys("validation_files", spec.validation_files,
       "images: files to validate on; without them the last data.validation of data.files",
       resumable_path);
  keys("grey", spec.grey, "images: one token of brightness a pixel instead of three of colour");
}

/// The ListOps expressions that a config describes.
ListOpsSpec list_ops_spec(const Config& config);

/// The sequences of data.kind = "listops", "images" or "shapes".
std::unique_ptr<LabelledSequences> labelled_sequences(const Config& config);
/// Whether a kind is one of these.
bool has_labels(const std::string& data_kind);

/// A label for each sequence.
class ClassifierTask : public Task {
 public:
  explicit ClassifierTask(const Config& config);
  Module& model() override { return model_; }
  const Dataset& data() const override { return *data_; }
  Var loss(Tape& tape, const Examples& examples) override;
  Evaluation evaluate(Tape& tape, const Examples& examples) override;
  std::string describe_model() const override;

 private:
  std::unique_ptr<LabelledSequences> data_;
  SequenceClassifierSpec spec_;
  SequenceClassifier model_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
