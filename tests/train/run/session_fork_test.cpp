#include <fmt/format.h>
#include <gmock/gmock.h>

#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/run/session.hpp>
#include <bochner/train/tasks/facts.hpp>

#include "data/messages.hpp"
#include "faults/crashing_storage.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace session_fork_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Days of a shop that sells about `level`.
std::string shop(const std::string& name, int level) {
  std::string rows;
  for (int day = 0; day < 60; ++day)
    rows += fmt::format("{},{},{}\n", day, name, level + day * day % 7);
  return rows;
}

class ForkOfShops : public testing::Test {
 protected:
  ForkOfShops() {
    write(shop("north", 10) + shop("south", 5000));
    Session session = Session::start({storage_, folder_.path() / "run", "test"}, config());
    run_leg(session, 1);
  }
  void write(const std::string& rows) const {
    folder_.write("shops.csv", "day,shop,sales\n" + rows);
  }
  Config config() const {
    return tiny_config(folder_.path() / "shops.csv",
                       {"model.kind=forecaster", "data.kind=series", "data.series=shop",
                        "data.columns=[\"sales\"]", "data.lookback=8", "data.horizon=4",
                        "model.series_width=2", "model.backbone=rows", "train.steps=3"});
  }
  std::vector<std::string> forked(const std::string& name) {
    std::vector<std::string> notes;
    Session::fork({storage_, folder_.path() / name, "test"}, {folder_.path() / "run", ""}, config(),
                  {.schedule = true}, notes);
    return notes;
  }
  Tensor tensor(const std::string& run, const std::string& name) {
    return load_run((folder_.path() / run).string()).checkpoint.load(name);
  }
  PosixStorage storage_;
  TemporaryFolder folder_;
};

const char *means = "buffer/standardize.mean", *learned = "model/series",
           *moments = "optimizer/adamw.first_moment/series";

/// As are a start and an import: before data are read, here such as are gone.
TEST_F(ForkOfShops, IsRefusedInTheDirectoryOfARunBeforeAnyWork) {
  const Config recipe = config();
  const Path run = folder_.path() / "run";
  std::filesystem::remove(folder_.path() / "shops.csv");
  const std::function<void()> begins[] = {
      [&] { forked("run"); },
      [&] {
        Session::start({storage_, run, "test"}, recipe);
      },
      [&] {
        write_imported_run({storage_, run, "test"}, recipe, "file", *make_learner(recipe, {}), {});
      }};
  for (const auto& begin : begins)
    EXPECT_THAT(message_of<std::invalid_argument>(begin), HasSubstr("run: already holds a run"));
}

TEST_F(ForkOfShops, KeepsTheNumbersOfItsSeries) {
  write(shop("south", 5000) + shop("north", 10));
  EXPECT_THAT(forked("fork"), IsEmpty());
  for (const char* name : {means, learned, moments})
    EXPECT_EQ(tensor("fork", name), tensor("run", name)) << name;
}

/// As many, so that tensors fit.
TEST_F(ForkOfShops, TakesNothingOverOfOtherSeries) {
  write(shop("north", 10) + shop("west", 900));
  EXPECT_THAT(forked("fork"),
              testing::Contains("starts from scratch: model/series belongs to other series"));
  EXPECT_NEAR(tensor("fork", means).data()[1], 903, 3);
  EXPECT_NE(tensor("fork", learned), tensor("run", learned));
  EXPECT_NE(tensor("fork", moments), tensor("run", moments));
}

TEST_F(ForkOfShops, NotesUnitsThatAreFarFromItsData) {
  write(shop("north", 10) + shop("south", 5));
  EXPECT_THAT(forked("fork"),
              ElementsAre(HasSubstr("units stay the parent's, far from those of the data, which a "
                                    "new run would use: sales of south (mean 500"),
                          "the data differ from the parent's: their order begins anew"));
  EXPECT_EQ(tensor("fork", means), tensor("run", means));
}

}  // namespace session_fork_test
}  // namespace bochner
