#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/layers/mixers/mixer_spec.hpp>
#include <bochner/layers/spectral/initial.hpp>
#include <bochner/train/run/instruments/attention.hpp>
#include <bochner/train/storage/storage.hpp>

#include "faults/crashing_storage.hpp"
#include "train/ask.hpp"
#include "train/config_text.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace calibration_test {

using faults::CrashingStorage;

const std::string first_map = "blocks.0.mixer.features.";

std::string letters(std::size_t count) {
  std::string text;
  const RandomFunction random{3, Purpose::test, 1};
  for (std::size_t i = 0; i < count; ++i) text += char('a' + random.integer(i, 8));
  return text;
}

struct TinyTraining {
  explicit TinyTraining(const std::vector<std::string>& sets, const std::string& text = tiny_text())
      : config(tiny_config(folder.write("text", text), sets)),
        task(make_task(config)),
        trainer(config, *task, run_steps) {}
  Tensor& tensor(const std::string& name) {
    for (const NamedTensor& named : trainer.tensors())
      if (named.name == "model/" + name || named.name == "buffer/" + name) return *named.tensor;
    throw std::runtime_error("no tensor " + name);
  }
  std::vector<Tensor> all() {
    std::vector<Tensor> copies;
    for (const NamedTensor& named : trainer.tensors()) copies.push_back(*named.tensor);
    return copies;
  }
  void train(std::size_t steps) {
    for (std::size_t i = 0; i < steps; ++i) trainer.step();
  }

  TemporaryFolder folder;
  Config config;
  std::unique_ptr<Task> task;
  Trainer trainer;
};

std::vector<std::string> with(const std::string& features, std::vector<std::string> more = {}) {
  more.push_back("model.mixer.kind=linear");
  more.push_back("model.mixer.features=" + features);
  return more;
}

/// Which gate of a head is the largest for each of the letters a to h as queries of the first
/// layer, and how far the centres of the gates are from the means of a to d and e to h, relative to
/// the distance of these.
struct Recovered {
  std::vector<std::size_t> gate;  // of each letter
  double distance = 0;
};
Recovered recovered(TinyTraining& run, std::size_t head) {
  struct Queries : AttentionObserver {
    Tensor q;
    void attended(const Mixer&, const AttentionInputs& what) override { q = what.q.value(); }
  } queries;
  Tape tape({.recording = false});
  tape.observer = &queries;
  run.task->evaluate(tape, run.task->data().part(Split::validation, 0, 1));
  const Tensor &gates = run.tensor(first_map + "query_gates"),
               &bias = run.tensor(first_map + "query_gate_bias");
  const std::size_t H = gates.shape()[0], R = gates.shape()[1], d = gates.shape()[2];
  const std::size_t T = queries.q.shape()[1];
  std::vector<std::vector<double>> centre(R, std::vector<double>(d)), mean = centre;
  for (std::size_t r = 0; r < R; ++r) {
    double square = 0;
    for (std::size_t e = 0; e < d; ++e) square += std::pow(gates(head, r, e), 2);
    for (std::size_t e = 0; e < d; ++e)
      centre[r][e] = double(gates(head, r, e)) * -2 * double(bias(head, r)) / square;
  }
  // The text of the validation is a to h in turn.
  Recovered found;
  for (std::size_t t = 0; t < T; ++t) {
    std::vector<double> score(R);
    for (std::size_t r = 0; r < R; ++r) {
      score[r] = double(bias(head, r));
      for (std::size_t e = 0; e < d; ++e) {
        const double y = double(queries.q.data()[(t * H + head) * d + e]) * std::pow(d, -0.25);
        score[r] += double(gates(head, r, e)) * y;
        if (r == 0) mean[t * 2 / T][e] += y / double(T / 2);
      }
    }
    found.gate.push_back(std::size_t(std::ranges::max_element(score) - score.begin()));
  }
  const auto distance = [d](const auto& a, const auto& b) {
    double sum = 0;
    for (std::size_t e = 0; e < d; ++e) sum += std::pow(a[e] - b[e], 2);
    return std::sqrt(sum);
  };
  for (std::size_t side : {0, 1})
    found.distance =
        std::max(found.distance, distance(centre[found.gate[side * T / 2]], mean[side]) /
                                     distance(mean[0], mean[1]));
  return found;
}

/// Letters a to d are one cluster, e to h the other.
TEST(Calibration, RecoversAPlantedMixtureInsideATrainingRun) {
  TinyTraining run(
      with("hybrid_cluster", {"model.positions=none", "data.validation=0.02", "train.batch=8"}),
      letters(800) + "abcdefghabcdefgha");
  Tensor& embedding = run.tensor("embedding.weight");
  const RandomFunction random{5, Purpose::test, 1};
  for (std::size_t letter = 0; letter < 8; ++letter)
    for (std::size_t e = 0; e < 8; ++e)
      embedding('a' + letter, e) =
          real(random.normal(letter / 4 * 8 + e) + 0.1 * random.normal(100 + letter * 8 + e));
  const auto separates = [&](double closest) {
    for (std::size_t head : {0, 1}) {
      const Recovered found = recovered(run, head);
      if (found.distance > closest || found.gate[0] == found.gate[4]) return false;
      for (std::size_t letter = 0; letter < 8; ++letter)
        if (found.gate[letter] != found.gate[letter / 4 * 4]) return false;
    }
    return true;
  };
  EXPECT_FALSE(separates(0.1));
  run.trainer.calibrate();
  EXPECT_TRUE(separates(0.1));
  run.train(30);
  EXPECT_TRUE(separates(0.5));
}

TEST(Calibration, HappensBeforeTheFirstStepWhereItIsNeededOrAskedFor) {
  const auto changes = [](const std::vector<std::string>& sets) {
    TinyTraining run(sets);
    const std::vector<Tensor> before = run.all();
    run.trainer.calibrate();
    EXPECT_EQ(run.trainer.state().examples, 0u);
    return run.all() != before;
  };
  for (const char* kind : {"hybrid_cluster", "sderf", "aderf"}) {
    EXPECT_TRUE(changes(with(kind))) << kind;
    EXPECT_FALSE(changes(with(kind, {"model.mixer.calibrate=0"}))) << kind;
  }
  for (const char* kind : {"oprf", "saderf", "positive"}) EXPECT_FALSE(changes(with(kind))) << kind;
  for (const char* kind : {"oprf", "saderf"})
    EXPECT_TRUE(changes(with(kind, {"model.mixer.calibrate=1"}))) << kind;
  EXPECT_TRUE(changes(with("positive", {"model.mixer.density.start=data"})));
}

/// The moving average starts at the calibrated weights.
TEST(Calibration, IsPartOfTheAverage) {
  TinyTraining run(with("aderf", {"optim.ema=0.9"}));
  run.trainer.calibrate();
  for (const NamedTensor& named : run.trainer.tensors()) {
    if (!named.name.starts_with("ema/")) continue;
    EXPECT_EQ(*named.tensor, run.tensor(named.name.substr(4))) << named.name;
  }
}

TEST(Calibration, MakesAderfAnotherMapThanOprf) {
  const auto loss_of = [](const std::string& kind, const std::string& calibrate) {
    TinyTraining run(with(kind, {"model.mixer.calibrate=" + calibrate}));
    run.trainer.calibrate();
    run.train(5);
    return run.trainer.step().loss;
  };
  EXPECT_EQ(loss_of("aderf", "0"), loss_of("oprf", "0"));
  EXPECT_NE(loss_of("aderf", "-1"), loss_of("oprf", "-1"));
  EXPECT_NE(loss_of("aderf", "2"), loss_of("oprf", "2"));
}

/// One pass over all layers gives what a pass over each, one after the other, gives.
TEST(Calibration, OfALayerSeesTheCalibratedOnesBelow) {
  const auto sets = with("hybrid_cluster", {"model.blocks=3"});
  TinyTraining at_once(sets), one_by_one(sets), upside_down(sets);
  at_once.trainer.calibrate();
  for (const int block : {0, 1, 2}) {
    one_by_one.trainer.calibrate([&](const std::string& layer) {
      return layer == "blocks." + std::to_string(block) + ".mixer";
    });
    upside_down.trainer.calibrate([&](const std::string& layer) {
      return layer == "blocks." + std::to_string(2 - block) + ".mixer";
    });
  }
  EXPECT_EQ(at_once.all(), one_by_one.all());
  EXPECT_NE(at_once.all(), upside_down.all());
}

TEST(Calibration, DoesNotDependOnThreads) {
  std::vector<Tensor> first;
  for (const std::size_t threads : {1, 2, 4}) {
    set_thread_count(threads);
    TinyTraining run(with("hybrid_cluster", {"model.mixer.density.start=data"}));
    run.trainer.calibrate();
    if (threads == 1) first = run.all();
    EXPECT_EQ(run.all(), first);
  }
  set_thread_count(0);
}

/// One mixer, and sequences of 3 and 5 tokens with padding behind them.
class PaddedTask : public Task {
 public:
  PaddedTask(Task& like, real padding) : like_(like), padding_(padding) {
    MixerSpec spec;
    spec.width = 8, spec.heads = 2, spec.causal = false;
    spec.features.kind = "hybrid_cluster", spec.features.m = 4;
    model_.mixer = mixers().make("linear", spec);
    initialize(model_, 1);
  }
  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return like_.data(); }
  Evaluation evaluate(Tape&, const Examples&) override { return {}; }
  Var loss(Tape& tape, const Examples&) override {
    const RandomFunction random{3, Purpose::test, 1};
    Tensor x = filled({2, 8, 8}, padding_);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (i / 8 % 8 < (i < 64 ? 3 : 5)) x.data()[i] = real(random.normal(i));
    return model_.mixer->forward(tape, x, {.lengths = {3, 5}});
  }

 private:
  struct Model : Module {
    std::unique_ptr<Mixer> mixer;
    void visit(Visitor& visitor) override { visitor("mixer", *mixer); }
  };
  Task& like_;
  real padding_;
  Model model_;
  TestLearner learner_{model_};
};

TEST(Calibration, DoesNotLookAtPadding) {
  TinyTraining run({});
  const auto calibrated = [&](real padding) {
    PaddedTask task(*run.task, padding);
    calibrate_model(task, {});
    std::vector<Tensor> values;
    for (const NamedParameter& named : parameters_of(task.model()))
      values.push_back(named.parameter->value());
    return values;
  };
  EXPECT_EQ(calibrated(0), calibrated(100));
}

/// -ln of the median distance per coordinate, and heads differ.
TEST(Calibration, StartsDensitiesAtTheData) {
  TinyTraining run(with("positive", {"model.mixer.density.start=data", "model.mixer.calibrate=8",
                                     "data.length=64", "data.validation=0.1"}),
                   letters(2000));
  run.trainer.calibrate();
  const auto samples =
      attention_samples(validation_specimens(*run.task), attention_layers(run.task->model()));
  const Tensor &q = samples[0].q, &k = samples[0].k;
  const Tensor& scale = run.tensor(first_map + "density.log_scale");
  const std::size_t T = q.shape()[1], H = q.shape()[2], d = q.shape()[3];
  for (std::size_t h = 0; h < H; ++h) {
    Tensor rows = uninitialized({2 * T, d});
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows.data()[i] =
          real(std::pow(d, -0.25)) * (i < T * d ? q : k).data()[(i / d % T * H + h) * d + i % d];
    const std::vector<double> expected = median_log_scale(rows, {1, Purpose::test, 1});
    for (std::size_t e = 0; e < d; ++e) EXPECT_NEAR(scale(h, 0, e), expected[e], 0.4);
  }
  EXPECT_NE(scale(0, 0, 0), scale(1, 0, 0));
}

/// Proposals of importance sampling too: wider than the density by what the config says.
TEST(Calibration, StartsProposalsAtTheData) {
  TinyTraining run(with(
      "positive", {"model.mixer.features.weights=importance", "model.mixer.density=laplace",
                   "model.mixer.density.start=data", "model.mixer.density.proposal_scale=1.5"}));
  const Tensor before = run.tensor(first_map + "proposal.log_scale");
  run.trainer.calibrate();
  const Tensor &scale = run.tensor(first_map + "density.log_scale"),
               &proposed = run.tensor(first_map + "proposal.log_scale");
  EXPECT_NE(proposed, before);
  for (std::size_t i = 0; i < scale.size(); ++i)
    EXPECT_NEAR(proposed.data()[i], scale.data()[i] + std::log(1.5), 1e-6);
}

TEST(Calibration, IsWhereDriftIsCountedFrom) {
  TinyTraining run(with("positive", {"model.mixer.density.start=data", "data.validation=0.1",
                                     "optim.density_lr_factor=1"}));
  run.trainer.calibrate();
  EXPECT_EQ(run.trainer.kernels()->at(0).drift, 0);
  run.train(1);
  const double drift = run.trainer.kernels()->at(0).drift;
  EXPECT_GT(drift, 0);
  EXPECT_LT(drift, 0.01);
}

/// A fork calibrates the maps that its parent did not have, and no others.
TEST(Calibration, OfAForkIsOfNewMaps) {
  TemporaryFolder folder;
  const std::string text = folder.write("text", tiny_text());
  CrashingStorage storage;
  const auto config = [&](const char* kind) {
    return tiny_config(text, with(kind, {"train.steps=3", "optim.ema=0.9"}));
  };
  start_leg(storage, config("aderf"), 1);
  const auto tensor_of = [&](Session& session, const std::string& name) {
    for (const NamedTensor& named : session.trainer().tensors())
      if (named.name == name) return *named.tensor;
    throw std::runtime_error("no " + name);
  };
  const auto matrix_of = [&](Session& session) {
    return tensor_of(session, "buffer/" + first_map + "query_matrix");
  };
  const auto average_of = [&](Session& session) {
    return tensor_of(session, "ema/" + first_map + "density.log_scale");
  };
  std::vector<std::string> notes;
  Session parent = Session::resume({storage, tiny_run}, {}, true, notes);
  const auto fork = [&](const char* kind, const char* name) {
    return Session::fork({storage, name, "test"}, {tiny_run, ""}, config(kind), {.schedule = true},
                         notes);
  };
  Session same = fork("aderf", "same"), rotated = fork("sderf", "rotated");
  EXPECT_EQ(matrix_of(same), matrix_of(parent));
  EXPECT_EQ(average_of(same), average_of(parent));
  EXPECT_NE(average_of(parent), tensor_of(parent, "model/" + first_map + "density.log_scale"));
  EXPECT_NE(matrix_of(rotated), matrix_of(parent));
  EXPECT_NE(matrix_of(rotated)(0, 0, 1), real(0));
}

TEST(Calibration, IsAskedForWhereDensitiesStartAtTheData) {
  const std::string start = "model.mixer.kind = \"linear\"\nmodel.mixer.density.start = \"data\"\n";
  EXPECT_EQ(error_after_files(start), "");
  EXPECT_EQ(error_after_files(start + "model.mixer.calibrate = 0\n"),
            "bad.toml:3:29: model.mixer.density.start = \"data\": needs batches to look at, "
            "model.mixer.calibrate other than 0");
  EXPECT_EQ(error_after_files(start + "model.mixer.features.projection = \"sorf\"\n"),
            "bad.toml:3:29: model.mixer.density.start = \"data\": needs "
            "model.mixer.features.projection = \"density\"");
  EXPECT_THAT(error_after_files("model.mixer.time_kernel.density.start = \"data\"\n"),
              testing::HasSubstr("no such key"));
}

}  // namespace calibration_test
}  // namespace bochner
