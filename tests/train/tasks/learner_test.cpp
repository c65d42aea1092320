#include <gtest/gtest.h>

#include <bochner/data/formats/npy.hpp>
#include <bochner/train/tasks/task.hpp>

#include "train/training_run.hpp"

namespace bochner {
namespace learner_test {

std::vector<std::string> names_in(Module& model) {
  std::vector<std::string> names;
  for (const NamedParameter& named : parameters_of(model)) names.push_back(named.name);
  return names;
}

/// A kind of data in files, and which of the files below it reads.
struct FileKind {
  const char* name;
  const char* files;
  std::vector<std::string> sets;
  friend void PrintTo(const FileKind& kind, std::ostream* out) { *out << kind.name; }
};

const FileKind kinds[] = {
    {"Series",
     "rows.csv",
     {"model.kind=forecaster", "data.kind=series", "data.lookback=8", "data.horizon=4"}},
    {"SeriesByRows",
     "rows.csv",
     {"model.kind=forecaster", "data.kind=series", "data.lookback=8", "data.horizon=4",
      "model.backbone=rows", "model.time.kind=free"}},
    {"Table",
     "rows.csv",
     {"model.kind=gp", "data.kind=table", "data.inputs=['a','b']", "data.target=c",
      "train.batch=1"}},
    {"TableOfAnEnsemble",
     "rows.csv",
     {"model.kind=ensemble", "data.kind=table", "data.inputs=['a','b']", "data.target=c",
      "train.steps=0"}},
    {"LabelledSeries",
     "rows.csv",
     {"model.kind=filter_bank", "data.kind=labelled_series", "data.sequence_column=b",
      "data.label_column=b", "data.columns=['a','c']", "model.groups=1", "train.steps=0"}},
    {"SeriesOfClasses",
     "rows.csv",
     {"model.kind=classifier", "data.kind=labelled_series", "data.sequence_column=b",
      "data.label_column=b", "data.columns=['a','c']", "model.patch.length=4"}},
    {"SeriesOfNumbers",
     "rows.csv",
     {"model.kind=regressor", "data.kind=labelled_series", "data.labels=numbers",
      "data.sequence_column=b", "data.label_column=b", "data.columns=['a']"}},
    {"SeriesWithNumbers",
     "rows.csv",
     {"model.kind=filter_bank", "data.kind=labelled_series", "data.sequence_column=b",
      "data.label_column=b", "data.columns=['a','c']", "data.labels=numbers", "model.groups=1"}},
    {"Sensors",
     "rows.csv",
     {"model.kind=field", "data.kind=sensors", "data.time_column=a", "data.place_columns=['b']",
      "model.encoding.space=4", "model.encoding.time=4"}},
    {"SeriesOfALatentVariable",
     "rows.csv",
     {"model.kind=vae", "data.kind=series", "data.lookback=4", "model.patch.length=2"}},
    {"BytesOfALatentVariable", "texts/*/*", {"model.kind=vae", "model.vae.pooling=mean"}},
    {"Texts", "texts/*/*", {"model.kind=classifier", "data.kind=texts", "model.pooling=cls"}},
    {"BagOfWords", "texts/*/*", {"model.kind=bag_of_words", "data.kind=texts", "train.steps=0"}},
    {"Events",
     "events.csv",
     {"model.kind=events", "data.kind=event_files", "data.length=4", "model.time.kind=free"}},
    {"PlacedEvents",
     "events.csv",
     {"model.kind=events", "data.kind=event_files", "data.length=4", "data.place_columns=['x']",
      "model.encoding=fused", "model.encoding.space=4", "model.encoding.time=4"}},
    {"EventTokens",
     "events.csv",
     {"data.kind=event_files", "data.length=4", "model.time.kind=free", "model.positions=none"}},
    {"ContrastOfEvents",
     "events.csv",
     {"model.kind=contrastive", "data.kind=event_files", "data.sequence_column=x",
      "model.time.kind=free", "model.contrast=prototypes", "model.contrast.clusters=[2]"}},
    {"ContrastOfSeries",
     "rows.csv",
     {"model.kind=contrastive", "data.kind=series", "data.lookback=8", "model.patch.length=4"}},
    {"Films",
     "films.npy",
     {"model.kind=field", "data.kind=field_files", "data.frames=2", "model.encoding.space=4",
      "model.encoding.time=4"}}};

class StandIn : public testing::TestWithParam<FileKind> {
 protected:
  StandIn() {
    std::string rows = "a,b,c\n", events = "time,type,x\n";
    for (int i = 0; i < 120; ++i) {
      rows += std::to_string(i) + "," + std::to_string(i * i % 7) + "," + std::to_string(i % 5);
      rows += "\n";
      events += std::to_string(i + 0.1 * (i % 3)) + (i % 2 == 0 ? ",in," : ",out,") +
                std::to_string(i % 4) + "\n";
      folder_.write("texts/" + std::string(i % 3 == 0 ? "a/" : "b/") + std::to_string(i),
                    "some words " + std::to_string(i));
    }
    folder_.write("rows.csv", rows);
    folder_.write("events.csv", events);
    xt::xarray<double> films = xt::zeros<double>({4, 6, 4, 4});
    for (std::size_t i = 0; i < films.size(); ++i) films.data()[i] = double(i % 11);
    std::string bytes;
    write_npy(films, [&](std::string_view piece) { bytes += piece; });
    folder_.write("films.npy", bytes);
  }
  TemporaryFolder folder_;
};

TEST_P(StandIn, HasTheParametersOfTheModel) {
  std::vector<std::string> sets = GetParam().sets;
  if (std::ranges::count(sets, "data.kind=series") == 0) sets.push_back("data.validation=0.2");
  const Config config = tiny_config(folder_.path() / GetParam().files, sets);
  const auto stand_in = make_learner(config, {});
  EXPECT_EQ(names_in(stand_in->model()), names_in(make_task(config)->model()));
}

INSTANTIATE_TEST_SUITE_P(Kinds, StandIn, testing::ValuesIn(kinds),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(StandIns, AreNoneOfGeneratedData) {
  const Config config = tiny_config("unused", {"data.kind=copy"});
  EXPECT_EQ(names_in(make_learner(config, {})->model()), names_in(make_task(config)->model()));
}

}  // namespace learner_test
}  // namespace bochner
