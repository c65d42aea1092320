#include <gmock/gmock.h>

#include <bochner/data/formats/npy.hpp>
#include <cmath>

#include "data/sound_bytes.hpp"
#include "template_fixture.hpp"

namespace bochner {
namespace labelled_series_test {

using template_fixture::Starter;
using template_fixture::table;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Returns the values of wave i of one of two frequencies, after a separator each.
std::string wave(std::size_t i, std::size_t values, const std::string& separator = ",") {
  std::string row;
  for (std::size_t t = 0; t < values; ++t)
    row += separator + std::to_string(std::sin(double(t) * (i % 2 ? 0.3 : 0.5) + double(i)));
  return row;
}

std::string header(const std::string& prefix, std::size_t values) {
  std::string names;
  for (std::size_t t = 0; t < values; ++t) names += "," + prefix + std::to_string(t);
  return names;
}

class LabelledSeriesStarter : public Starter {
 protected:
  void expect_series(const Config& config) {
    EXPECT_EQ(config.text("model.kind"), "filter_bank");
    EXPECT_EQ(config.text("data.kind"), "labelled_series");
  }
  std::string error_of(const std::filesystem::path& file, const TemplateRequest& request = {}) {
    return message_of<DataError>([&] { config_template_for(file, {}, request); });
  }
};

TEST_F(LabelledSeriesStarter, ReadsRowsOfTheUcrArchiveWithTheirTestFile) {
  std::string rows;
  for (std::size_t i = 0; i < 20; ++i)
    rows += (i % 2 ? "-1" : "1") + wave(i, 20, "\t") + (i == 3 ? "\tNaN\n" : "\t0.5\n");
  write("Waves_TEST.tsv", rows);
  const Config config = config_for(write("Waves_TRAIN.tsv", rows));
  expect_series(config);
  EXPECT_EQ(config.text("data.layout"), "wide");
  EXPECT_EQ(config.text("data.header"), "no");
  EXPECT_EQ(config.text("data.label_column"), "1");
  EXPECT_THAT(config.text_list("data.test_files"), ElementsAre(HasSubstr("Waves_TEST.tsv")));
}

TEST_F(LabelledSeriesStarter, ReadsTablesWithASeriesInEachRow) {
  const auto row = [](std::size_t i) {
    return "p" + std::to_string(i) + "," + (i % 2 ? "slow" : "fast") + wave(i, 20);
  };
  const Config config = config_for(write("w.csv", table("id,class" + header("t", 20), 20, row)));
  expect_series(config);
  EXPECT_EQ(config.text("data.label_column"), "class");
  EXPECT_EQ(config.text("data.sequence_column"), "id");
  const Config named = config_for(write("n.csv", table("id,mood" + header("x", 20), 20, row)));
  EXPECT_EQ(named.text("data.label_column"), "mood");
}

TEST_F(LabelledSeriesStarter, LeavesOtherTablesToEnsembles) {
  const auto noise = [](std::size_t i) {
    std::string row = i % 2 ? "a" : "b";
    for (std::size_t t = 0; t < 20; ++t) row += "," + std::to_string((i * 37 + t * 53) % 101);
    return row;
  };
  const auto wide = [](std::size_t i) { return (i % 2 ? "a" : "b") + wave(i, 12); };
  EXPECT_EQ(
      config_for(write("a.csv", table("class" + header("x", 20), 40, noise))).text("data.kind"),
      "table");
  EXPECT_EQ(
      config_for(write("b.csv", table("class" + header("t", 12), 40, wide))).text("data.kind"),
      "table");
}

TEST_F(LabelledSeriesStarter, AsksForTheClassIfSeveralColumnsMayBeIt) {
  const auto row = [](std::size_t i) {
    return std::string(i % 2 ? "slow,left" : "fast,right") + wave(i, 20);
  };
  const auto file = write("w.csv", table("pace,side" + header("t", 20), 20, row));
  EXPECT_THAT(error_of(file), HasSubstr("choose the column of its class with --target: \"pace\", "
                                        "\"side\""));
}

TEST_F(LabelledSeriesStarter, ReadsNumbersToPredict) {
  const auto row = [](std::size_t i) { return std::to_string(0.5 + double(i)) + wave(i, 20); };
  EXPECT_THAT(config_template_for(write("n.csv", table("y" + header("t", 20), 20, row))),
              HasSubstr("labels = \"numbers\""));
  EXPECT_THAT(config_template_for(
                  write("n.ts", "@problemName n\n@targetlabel true\n@data\n1,2:0.5\n3,4:1\n")),
              HasSubstr("labels = \"numbers\""));
}

TEST_F(LabelledSeriesStarter, FindsClassesBeyondTheFirstRows) {
  std::string lines = "series,label,x\n";
  for (std::size_t i = 0; i < 40; ++i)
    for (std::size_t t = 0; t < 30; ++t)
      lines += std::to_string(i) + "," + std::to_string(i / 20) + "," +
               std::to_string(std::sin(double(t * (1 + i / 20)))) + "\n";
  EXPECT_THAT(config_template_for(write("l.csv", lines)), Not(HasSubstr("numbers")));
  std::string rows;
  for (std::size_t i = 0; i < 500; ++i)
    rows += std::to_string(i / 250) + wave(i / 250, 20, "\t") + "\n";
  EXPECT_THAT(config_template_for(write("w_TRAIN.tsv", rows)), Not(HasSubstr("numbers")));
}

TEST_F(LabelledSeriesStarter, ReadsLongTables) {
  std::string rows = "series,time,label,x,y\n";
  for (std::size_t i = 0; i < 12; ++i)
    for (std::size_t t = 0; t < 20; ++t)
      rows += std::to_string(i) + "," + std::to_string(2 * t) + "," + (i % 2 ? "up" : "down") +
              "," + std::to_string(std::sin(double(t * (1 + i % 2)))) + ",1\n";
  const auto file = write("l.csv", rows);
  const Config config = config_for(file);
  expect_series(config);
  EXPECT_EQ(config.text("data.sequence_column"), "series");
  EXPECT_EQ(config.text("data.label_column"), "label");
  EXPECT_EQ(config.text("data.time_column"), "time");
  EXPECT_THAT(config_template_for(file, {}, {.kind = "forecaster"}),
              Not(HasSubstr("labelled_series")));
  EXPECT_THAT(config_template_for(file, {}, {.target = "label", .id = "series", .time = "time"}),
              HasSubstr("labelled_series"));
}

TEST_F(LabelledSeriesStarter, ReadsArraysOfSeries) {
  std::string npz;
  xt::xarray<double> x = xt::zeros<double>({12, 20, 2});
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] = std::sin(double(i) * ((i / 40) % 2 ? 0.3 : 0.5));
  xt::xarray<double> y = xt::zeros<double>({12});
  for (std::size_t i = 0; i < 12; ++i) y(i) = double(i % 2);
  write_npz({{"x", x}, {"y", y}}, [&](std::string_view piece) { npz += piece; });
  expect_series(config_for(write("a.npz", npz)));
}

TEST_F(LabelledSeriesStarter, ReadsFoldersOfRecordings) {
  std::string samples;
  for (std::size_t i = 0; i < 8; ++i) {
    samples.clear();
    for (std::size_t t = 0; t < 80; ++t)
      samples += little_endian(std::uint64_t(9000 * std::sin(double(t) * (i % 2 ? 0.3 : 0.9))), 2);
    const std::string name = "_" + std::to_string(i) + ".wav";
    write(std::string("names/") + (i % 2 ? "yes" : "no") + name, wav_bytes(samples));
    write(std::string("folders/") + (i % 2 ? "yes/a" : "no/a") + name, wav_bytes(samples));
    write("plain/" + std::to_string(i) + ".wav", wav_bytes(samples));
  }
  write("folders/README", "about");
  const Config names = config_for(folder_.path() / "names");
  expect_series(names);
  EXPECT_EQ(names.text("data.label_from"), "name");
  EXPECT_EQ(config_for(folder_.path() / "folders").text("data.label_from"), "folder");
  EXPECT_THAT(error_of(folder_.path() / "plain"), HasSubstr("recordings need labels"));
  EXPECT_THAT(error_of(folder_.path() / "plain/1.wav"), HasSubstr("is one recording"));
}

TEST_F(LabelledSeriesStarter, ReadsFoldersOfTablesThatAreSeries) {
  for (std::size_t i = 0; i < 8; ++i) {
    const auto row = [&](std::size_t t) {
      return std::to_string(std::sin(double(t) * (i % 2 ? 0.3 : 0.9))) + ",1";
    };
    write(std::string(i % 2 ? "moves/walk" : "moves/run") + "/" + std::to_string(i) + ".csv",
          table("left,right", 30, row));
  }
  const Config config = config_for(folder_.path() / "moves");
  expect_series(config);
  EXPECT_EQ(config.text("data.label_from"), "folder");
}

}  // namespace labelled_series_test
}  // namespace bochner
