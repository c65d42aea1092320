#pragma once
/// Runs of tiny models, in this process, that can be stopped or killed after any step.

#include <bochner/base/numeric/parallel.hpp>
#include <bochner/train/run/loop.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <bochner/train/tasks/stack_checks.hpp>
#include <csignal>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "data/temporary_folder.hpp"

namespace bochner {

inline constexpr std::uint64_t run_steps = 50;

/// What the configs below have in common: one block, windows of 8 bytes, several epochs in 50
/// steps, and a validation of three batches: a signal in the step before it stops it after the
/// first.
inline const std::string tiny_model = R"(
[model]
blocks = 1
width = 8
expansion = 1
[model.mixer]
heads = 2
chunk = 4
[data]
length = 8
[train]
steps = 50
batch = 2
)";

/// About 420 bytes that are not all alike.
inline std::string tiny_text() {
  std::string text;
  for (unsigned i = 0; text.size() < 420; ++i)
    text += "line " + std::to_string(i * i * 7919u % 1000u) + (i % 3 == 0 ? ".\n" : ", ");
  return text;
}

/// The tiny model with these keys, on this text; four features where something has features.
inline Config tiny_config(const std::filesystem::path& text,
                          const std::vector<std::string>& sets = {}) {
  Config config = parse_config(tiny_model, "tiny.toml", registered_parameters());
  apply_set(config, "data.files=['" + text.string() + "']");
  for (const std::string& set : sets) apply_set(config, set);
  if (config.location("model.mixer.m").empty() && some_mixer_is(config, {"linear"}))
    apply_set(config, "model.mixer.m=4");
  validate(config);
  return config;
}

/// Training without a run.
inline void train(const Config& config, Task& task, std::uint64_t steps) {
  Trainer trainer(config, task, steps);
  for (std::uint64_t step = 0; step < steps; ++step) trainer.step();
}

/// Calls `action` when a leg has made its `steps`-th update.
class AfterSteps : public TapeObserver {
 public:
  AfterSteps(std::uint64_t steps, std::function<void()> action)
      : left_(steps), action_(std::move(action)) {}
  void recorded(const char* op, std::size_t) override {
    if (std::string_view(op) == "optimizer" && --left_ == 0) action_();
  }
  void went_backward(const char*, std::size_t) override {}

 private:
  std::uint64_t left_;
  std::function<void()> action_;
};

/// Thrown through the loop: what is not on the disk is lost.
struct Killed {};

enum class Ending { by_itself, signal, kill };

/// One leg of a run, to its end, or until step `until` is done and the ending comes.
inline void run_leg(Session& session, std::size_t threads, Ending ending = Ending::by_itself,
                    std::uint64_t until = 0) {
  set_thread_count(threads);
  SignalGuard signals;
  Progress progress(ProgressMode::none, session.total_steps(), session.tokens_per_step(),
                    session.state().step);
  AfterSteps observer(until - session.state().step, [&] {
    if (ending == Ending::signal) std::raise(SIGINT);
    if (ending == Ending::kill) throw Killed();
  });
  try {
    const StopReason reason =
        run_loop(session, progress, signals, ending == Ending::by_itself ? nullptr : &observer);
    EXPECT_EQ(reason == StopReason::signal, ending == Ending::signal);
  } catch (const Killed&) {
    EXPECT_EQ(ending, Ending::kill);
  }
  set_thread_count(0);
}

inline const Path tiny_run = "run";

inline void start_leg(FileStorage& storage, const Config& config, std::size_t threads,
                      Ending ending = Ending::by_itself, std::uint64_t until = 0) {
  Session session = Session::start({storage, tiny_run, "test"}, config);
  run_leg(session, threads, ending, until);
}

inline void resume_leg(FileStorage& storage, std::size_t threads, Ending ending = Ending::by_itself,
                       std::uint64_t until = 0) {
  std::vector<std::string> notes;
  Session session = Session::resume({storage, tiny_run}, {}, true, notes);
  EXPECT_TRUE(notes.empty()) << notes.front();
  run_leg(session, threads, ending, until);
}

/// Everything that a run leaves behind and that must not depend on how often it was stopped.
struct Remains {
  std::map<std::string, std::string> tensors, best;
  TrainerState state;
  std::string metrics;
};

inline std::map<std::string, std::string> tensor_bytes(const CheckpointReader& checkpoint) {
  std::map<std::string, std::string> bytes;
  for (const StoredTensor& stored : checkpoint.tensors()) {
    const Tensor tensor = checkpoint.load(stored.name);
    bytes[stored.name].assign(reinterpret_cast<const char*>(tensor.data()), stored.bytes);
  }
  return bytes;
}

inline Remains remains_of(FileStorage& storage) {
  RunDirectory run = RunDirectory::read(storage, tiny_run);
  std::vector<std::string> skipped;
  const auto newest = run.newest_valid(skipped);
  Remains remains{
      tensor_bytes(*newest), {}, newest->state(), read_file(storage, tiny_run / "metrics.jsonl")};
  remains.state.wall_seconds = 0;
  if (!remains.state.best.empty()) remains.best = tensor_bytes(run.load_best());
  return remains;
}

inline std::string first_difference(const std::map<std::string, std::string>& a,
                                    const std::map<std::string, std::string>& b) {
  if (a.size() != b.size()) return "the number of tensors";
  for (const auto& [name, bytes] : a) {
    const auto found = b.find(name);
    if (found == b.end() || found->second != bytes) return name;
  }
  return "";
}

/// What differs first, "" when all bits are equal.
inline std::string difference(const Remains& a, const Remains& b) {
  if (const std::string name = first_difference(a.tensors, b.tensors); !name.empty()) return name;
  if (const std::string name = first_difference(a.best, b.best); !name.empty())
    return "best " + name;
  if (a.metrics != b.metrics) return "metrics";
  return a.state == b.state ? "" : "state";
}

}  // namespace bochner
