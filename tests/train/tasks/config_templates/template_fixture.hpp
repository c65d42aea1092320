#pragma once
/// Data for which configs are made.

#include <gtest/gtest.h>

#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/train/tasks/config_templates/config_template.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <bochner/train/tasks/task.hpp>
#include <cmath>

#include "data/temporary_folder.hpp"

namespace bochner::template_fixture {

/// Returns a table of a header and `rows` rows, each made by `row`.
template <class Row>
std::string table(const std::string& header, std::size_t rows, const Row& row) {
  std::string text = header + "\n";
  for (std::size_t i = 0; i < rows; ++i) text += std::string(row(i)) + "\n";
  return text;
}

inline std::string day(std::size_t i) {
  return format_time(86400 * (19723 + double(i))).substr(0, 10);  // from 2024 on
}

class Starter : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) {
    return folder_.write(name, text);
  }
  /// Returns the config for the data, after making its model and training it for a step.
  Config config_for(const std::filesystem::path& data) {
    const Config config = read_config_text(config_template_for(data), "begun", {});
    const auto task = make_task(config);
    Tape tape;
    const Examples first = task->data().training(0, config.count("train.batch"));
    EXPECT_TRUE(std::isfinite(double(task->loss(tape, first).value().data()[0])));
    const bool is_fitted_at_once = config.period("train.steps").off();
    EXPECT_EQ(task->data().examples(Split::validation) > 0, !is_fitted_at_once);
    return config;
  }

  TemporaryFolder folder_;
};

}  // namespace bochner::template_fixture
