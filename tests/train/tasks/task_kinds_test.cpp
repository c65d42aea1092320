#include <gtest/gtest.h>

#include <bochner/data/events/event_files.hpp>
#include <bochner/data/text/labelled_texts.hpp>
#include <bochner/train/tasks/task_kinds.hpp>

#include "train/training_run.hpp"

namespace bochner {
namespace task_kinds_test {

NamedArray read(const std::string& text, const Config& config) {
  return parse_csv(text, "a.csv", table_options(config).csv);
}

/// These two are equal as doubles.
TEST(TableOptions, SequencesAreToldApartAsTheyAreWritten) {
  const Config config =
      tiny_config("a.csv", {"model.positions=none", "model.kind=events", "data.kind=event_files",
                            "data.sequence_column=user"});
  const NamedArray table = read(
      "user,time,type\n1212121212121212121,0,1\n1212121212121212122,0,0\n01,0,1\n1,5,1\n", config);
  EXPECT_EQ(event_tables(table, 2, event_columns(config)).size(), 4u);
  EXPECT_EQ(table.texts.size(), 1u);  // types are numbers
}

TEST(TableOptions, LabelsOfTextsAreAsTheyAreWritten) {
  const Config config = tiny_config("a.csv", {"model.kind=classifier", "data.kind=texts",
                                              "data.text_column=text", "data.label_column=label"});
  LabelledRows rows;
  append_rows(rows, read("text,label\na,01\nb,1\nc,1.0\n", config), "text", "label");
  EXPECT_EQ(rows.labels, (std::vector<std::string>{"01", "1", "1.0"}));
}

}  // namespace task_kinds_test
}  // namespace bochner
