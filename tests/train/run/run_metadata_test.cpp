#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/train/run/run_metadata.hpp>
#include <bochner/train/run/version.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace bochner {
namespace {

using testing::MatchesRegex;

TEST(RunMetadata, SaysWhatARunWasMadeOf) {
  const std::string text =
      run_metadata(Config(registered_parameters()), "bochner train a.toml", "runs/parent");
  const auto meta = nlohmann::json::parse(text);
  EXPECT_EQ(meta["command"], "bochner train a.toml");
  EXPECT_EQ(meta["seed"], 1);
  for (const char* library : {"xtensor", "TBB", "glibc"}) {
    const std::string version = meta.at("libraries").at(library);
    EXPECT_THAT(version, MatchesRegex("[0-9]+\\.[0-9.]+")) << library;
  }
  EXPECT_EQ(parent_in(text), "runs/parent");
}

/// A tree without history has none, nor a machine without git.
TEST(RunMetadata, NamesTheCommitThatWasBuilt) {
  if (std::system("git -C '" BOCHNER_SOURCE_DIR "' rev-parse HEAD >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "git knows of no commit here";
  const auto meta = nlohmann::json::parse(run_metadata(Config(registered_parameters()), ""));
  EXPECT_THAT(meta.value("commit", ""), MatchesRegex("[0-9a-f]{40}"));
}

}  // namespace
}  // namespace bochner
