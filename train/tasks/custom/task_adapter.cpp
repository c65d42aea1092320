#include <bochner/train/tasks/custom/custom_task.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>

namespace bochner {
namespace {

/// Facts of a custom task: its name.
struct CustomFacts {
  static constexpr const char* kind = "custom";
  std::string name = "";

  template <class Archive>
  void serialize(Archive& archive) {
    archive(name);
  }
  void check() const {}
};

std::unique_ptr<CustomTask> custom_task(const Config& config) {
  auto spec = read_spec<CustomTaskSpec>(config, "model");
  spec.kind = config.text("model.kind");
  spec.examples = example_set(config);
  return tasks().make(spec.kind, spec);
}

/// Owns a custom task, whose model has initial weights.
class CustomLearner : public Learner {
 public:
  CustomLearner(const Config& config, const KnownFacts& known)
      : name_(config.text("model.kind")), task_(custom_task(config)) {
    if (known.are_exact() && known.of<CustomFacts>().name != name_)
      throw DataError("holds a model of ", known.of<CustomFacts>().name, ", not of ", name_);
    initialize(task_->model(), config.count("train.seed"));
  }

  Module& model() override { return task_->model(); }
  std::string describe() const override { return task_->describe(); }
  std::string facts() const override { return encode_facts(CustomFacts{name_}); }
  std::string loss_unit() const override { return task_->loss_unit(); }
  CustomTask& task() { return *task_; }

 private:
  std::string name_;
  std::unique_ptr<CustomTask> task_;
};

/// The examples of a custom task.
class CustomExamples : public Dataset {
 public:
  explicit CustomExamples(const CustomTask& task) : Dataset(task.examples()), task_(task) {}
  std::uint64_t tokens_per_example() const override { return task_.tokens_per_example(); }
  std::uint64_t fingerprint() const override { return task_.fingerprint(); }

 protected:
  std::string describe() const override { return task_.describe(); }

 private:
  const CustomTask& task_;
};

/// Trains a custom task.
class AdaptedTask : public Task {
 public:
  AdaptedTask(const Config& config, const KnownFacts& known)
      : learner_(config, known), data_(learner_.task()) {}

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return data_; }
  Var loss(Tape& tape, const Examples& examples) override {
    const Var loss = learner_.task().loss(tape, examples);
    require(loss.rank() == 0, "task", "the loss must be a mean (), not ", loss.shape());
    return loss;
  }
  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const double n = double(examples.size());
    Evaluation result{double(loss(tape, examples).value()()) * n, examples.size(),
                      learner_.loss_unit()};
    for (const auto& [name, mean] : learner_.task().measures(tape, examples))
      result.measures.push_back({name, name, mean * n});
    return result;
  }

 private:
  CustomLearner learner_;
  CustomExamples data_;
};

}  // namespace

void add_custom_kinds(TaskKinds& kinds) {
  for (const std::string& name : tasks().names())
    ModelRows{kinds, name, open_as<AdaptedTask>, learn_as<CustomLearner>}(name,
                                                                          validation_examples);
}

}  // namespace bochner
