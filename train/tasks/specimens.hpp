#pragma once
/// Specimens: validation examples in facts, to inspect a model without its data.

#include <algorithm>
#include <bochner/data/dataset.hpp>
#include <bochner/train/tasks/task.hpp>
#include <functional>
#include <vector>

namespace bochner {

inline constexpr std::uint64_t most_specimens = 16;

/// Returns `count` of the numbers 0, ..., all - 1, evenly spaced, or all of them.
inline std::vector<std::uint64_t> spread_over(std::uint64_t count, std::uint64_t all) {
  std::vector<std::uint64_t> places(std::min(count, all));
  for (std::uint64_t i = 0; i < places.size(); ++i) places[i] = i * all / places.size();
  return places;
}

/// Returns batches of one example each, evenly spaced in the validation split of a dataset with
/// batch(): at most 16, and at most a million elements together, but at least one.
template <class Data>
auto take_specimens(const Data& data, std::uint64_t elements_per_example) {
  constexpr std::uint64_t most_elements = 1 << 20;
  const std::uint64_t room = most_elements / std::max<std::uint64_t>(1, elements_per_example),
                      count = std::clamp<std::uint64_t>(room, 1, most_specimens);
  std::vector<decltype(data.batch(Examples{}))> specimens;
  for (const std::uint64_t i : spread_over(count, data.examples(Split::validation)))
    specimens.push_back(data.batch({Split::validation, {{i}}}));
  return specimens;
}

/// Examples to pass through a model one at a time, for the observers of the tape.
struct Specimens {
  std::size_t count = 0;
  std::function<void(Tape& tape, std::size_t i)> forward = {};
};
/// Returns the specimens in the facts of a learner.
inline Specimens kept_specimens(Learner& learner) {
  HasSpecimens* has = learner.abilities().specimens;
  if (!has) return {};
  return {has->specimens(), [has](Tape& tape, std::size_t i) { has->forward_specimen(tape, i); }};
}
/// Returns all validation examples of a task.
inline Specimens validation_specimens(Task& task) {
  return {std::size_t(task.data().examples(Split::validation)), [&task](Tape& tape, std::size_t i) {
            task.evaluate(tape, {Split::validation, {{i}}});
          }};
}

}  // namespace bochner
