#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "train/training_run.hpp"

namespace bochner {
namespace clicks_fixture {

/// Two users whose events are 60 s apart, of alternating types, in one table sorted by time.
inline std::string clicks(std::size_t rows, const std::string& last = "") {
  std::string text = "at,page,user,kind\n";
  for (std::size_t i = 0; i < rows; ++i)
    text += fmt::format("{},p{},{},{}\n", 1700000000 + 30 * i, i, 7 + i % 2, i / 2 % 2);
  return text + last;
}

/// A task of these events.
class ClicksTask : public testing::Test {
 protected:
  Config config(std::vector<std::string> sets = {}) const {
    for (const char* set : {"model.kind=events", "data.kind=event_files", "data.time_column=at",
                            "data.type_column=kind", "data.sequence_column=user",
                            "data.validation=0.5", "model.positions=none", "model.time=free"})
      sets.insert(sets.begin(), set);
    return tiny_config(file_, sets);
  }
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.write("clicks.csv", clicks(60));
};

}  // namespace clicks_fixture
}  // namespace bochner
