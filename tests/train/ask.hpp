#pragma once
/// What tests ask the learner of a task.

#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/task.hpp>

#include "train/well_formed.hpp"

namespace bochner {

inline AnswersTables& tables(const std::unique_ptr<Task>& task) {
  return *task->learner().abilities().tables;
}
inline NamedArray predict(const std::unique_ptr<Task>& task, const NamedArray& question) {
  return tables(task).predict(question);
}
inline std::string describe_model(const std::unique_ptr<Task>& task) {
  return task->learner().describe();
}
/// A learner of a model that a test made.
class TestLearner : public Learner {
 public:
  explicit TestLearner(Module& of, std::string name = "") : model_(of), name_(std::move(name)) {}
  Module& model() override { return model_; }
  std::string describe() const override { return name_; }
  std::string facts() const override { return ""; }

 private:
  Module& model_;
  std::string name_;
};
/// All pictures of a report.
inline void illustrate(const std::unique_ptr<Task>& task, Page& page) {
  task->illustrate(page);
  task->learner().illustrate(page);
}

/// The report of a task, which must be well formed.
inline std::string page_of(Task& task) {
  Page page("run", "");
  task.illustrate(page);
  EXPECT_EQ(XmlReader(page.html()).problem(), "");
  return page.html();
}

/// A learner of the config and the facts of a task alone, with the weights of its model.
inline std::unique_ptr<Learner> without_data(const Config& config,
                                             const std::unique_ptr<Task>& task) {
  auto learner = make_learner(config, {.bytes = task->learner().facts()});
  auto of = parameters_of(task->model()), to = parameters_of(learner->model());
  for (std::size_t i = 0; i < of.size(); ++i) to[i].parameter->value() = of[i].parameter->value();
  auto buffers = buffers_of(task->model()), others = buffers_of(learner->model());
  for (std::size_t i = 0; i < buffers.size(); ++i) *others[i].tensor = *buffers[i].tensor;
  return learner;
}

/// Expects that no learner is made of facts that end early, go on behind their end, or are of
/// another kind.
inline void expect_refuses_damaged_facts(const Config& config, const std::string& facts) {
  const auto learn = [&](const std::string& bytes) { make_learner(config, {.bytes = bytes}); };
  const std::size_t step = std::max<std::size_t>(1, facts.size() / 50);
  for (std::size_t size = 1; size < facts.size(); size += step)
    EXPECT_THROW(learn(facts.substr(0, size)), DataError) << size << " of " << facts.size();
  EXPECT_THROW(learn(facts + "x"), DataError);
  std::string other = facts;
  ++other[sizeof(std::uint64_t)];  // the first letter of the kind
  EXPECT_THROW(learn(other), DataError);
}

}  // namespace bochner
