#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/train/config/parameter_docs.hpp>
#include <bochner/train/config/parameters.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace parameters_test {

using namespace bochner;

TEST(Parameters, EveryRowIsComplete) {
  const ParameterTable table = registered_parameters();
  std::set<std::string> names;
  for (const ParameterRow& row : table.rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.doc.empty()) << row.name;
    EXPECT_EQ(row.doc.find('|'), std::string::npos) << row.name << " would break its table";
    // A text without choices would accept any spelling; the data decide about these.
    const bool free =
        row.name == "data.time_format" || row.name == "data.separator" ||
        row.name == "data.target" || row.name.ends_with("_column") ||
        (row.name.starts_with("data.tokenizer.") && row.name != "data.tokenizer.kind");
    const bool names_kinds = row.name == "model.mixer.features.estimators" ||
                             row.name == "model.pattern" || row.name == "model.members" ||
                             row.name == "model.estimators" || row.name == "model.pools" ||
                             row.name == "data.calendar";
    EXPECT_EQ((row.kind() == ConfigKind::text && !free) || names_kinds, bool(row.bounds.choices))
        << row.name;
  }
}

TEST(Parameters, AddedRowsAreFoundAndNamesAreTakenOnce) {
  ParameterTable table = registered_parameters();
  table.add({.name = "model.mixer.features.sharpness", .initial = 1.0, .doc = "of mine"});
  ASSERT_NE(table.find("model.mixer.features.sharpness"), nullptr);
  EXPECT_THROW(table.add({.name = "optim.lr", .initial = 1.0, .doc = ""}), std::invalid_argument);
  EXPECT_THROW(table.add({.name = "model.mixer", .initial = 1.0, .doc = ""}),
               std::invalid_argument);
}

TEST(Parameters, SuggestsWhatWasMeant) {
  const ParameterTable table = registered_parameters();
  EXPECT_EQ(table.suggestion("optim.lrr"), "optim.lr");
  EXPECT_EQ(table.suggestion("optim.l"), "optim.lr");
  EXPECT_EQ(table.suggestion("train.lr"), "optim.lr");
  EXPECT_EQ(table.suggestion("lr"), "optim.lr");
  EXPECT_EQ(table.suggestion("mixer.m"), "model.mixer.m");
  EXPECT_EQ(table.suggestion("modle"), "model");
  EXPECT_EQ(table.suggestion("model.mixer.feature"), "model.mixer.features");
  EXPECT_EQ(table.suggestion("model.wdith"), "model.width");
  EXPECT_EQ(table.suggestion("train.batch_size"), "train.batch");
  EXPECT_EQ(table.suggestion("train.validation.every"), "train.validate.every");
  EXPECT_EQ(table.suggestion("train.chekpoint.every"), "train.checkpoint.every");
  EXPECT_EQ(table.suggestion("banana"), "");
  EXPECT_EQ(table.suggestion(std::string(100000, 'x')), "");
}

TEST(Parameters, ReferencePageIsInSync) {
  const std::string file = BOCHNER_SOURCE_DIR "/docs/parameters.md";
  const std::string page = parameter_reference(registered_parameters());
  if (std::getenv("BOCHNER_UPDATE_DOCS")) std::ofstream(file) << page;
  std::ostringstream committed;
  committed << std::ifstream(file).rdbuf();
  EXPECT_EQ(committed.str(), page) << "run this test once with BOCHNER_UPDATE_DOCS=1 to renew it";
}

TEST(Parameters, KeysAreRowsOfFourCellsInTheReference) {
  std::istringstream page(parameter_reference(registered_parameters()));
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with('|')) continue;
    long bars = 0;
    for (std::size_t i = 0; i < line.size(); ++i)
      bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    EXPECT_EQ(bars, 5) << line;
  }
}

TEST(Parameters, HelpHasOneLineForEachKey) {
  const ParameterTable table = registered_parameters();
  const std::string all = help_text(table);
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'),
            static_cast<std::ptrdiff_t>(table.rows().size()));
  EXPECT_EQ(help_text(table, "train.stop"),
            "train.stop.patience   0    stop after so many validations without improvement, 0 for "
            "never (whole number, at least 0)\n"
            "train.stop.min_delta  0.0  smallest decrease of the loss that counts as improvement "
            "(number, at least 0)\n");
  EXPECT_EQ(help_text(table, "optim.momentum"),
            "optim.momentum  0.9  momentum (number, at least 0 and less than 1; if optim.kind = "
            "\"sgd\")\n");
}

TEST(Parameters, CompletesKeysAndValues) {
  const ParameterTable table = registered_parameters();
  using Words = std::vector<std::string>;
  EXPECT_EQ(complete_setting(table, "train.stop"),
            (Words{"train.stop.patience=", "train.stop.min_delta="}));
  EXPECT_EQ(complete_setting(table, "optim.kind=a"),
            (Words{"optim.kind=adamw", "optim.kind=adam"}));
  EXPECT_EQ(complete_setting(table, "optim.nesterov=t"), Words{"optim.nesterov=true"});
  EXPECT_EQ(complete_setting(table, "optim.lr="), Words{});
  EXPECT_EQ(complete_setting(table, "optim.lrr=1"), Words{});
  EXPECT_EQ(complete_setting(table, "").size(), table.rows().size());
  Config config(table);
  EXPECT_EQ(complete_setting(table, "optim.m", &config), Words{});
  config.set("optim.kind", std::string("sgd"), "test");
  EXPECT_EQ(complete_setting(table, "optim.m", &config), Words{"optim.momentum="});
}

TEST(Parameters, RangesInWords) {
  EXPECT_EQ(text_of(Range{.lowest = 1}), "at least 1");
  EXPECT_EQ(text_of(Range{.lowest = 0, .highest = 1}), "between 0 and 1");
  EXPECT_EQ(text_of(Range{.lowest = 0, .highest = 1, .below_highest = true}),
            "at least 0 and less than 1");
  EXPECT_EQ(text_of(Range{.lowest = 0, .above_lowest = true}), "greater than 0");
  EXPECT_EQ(text_of(Range{.highest = 3}), "at most 3");
  EXPECT_EQ(text_of(Range{}), "");
}

}  // namespace parameters_test
