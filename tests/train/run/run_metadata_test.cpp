#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/train/run/run_metadata.hpp>
#include <bochner/train/run/version.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <cstdlib>

namespace bochner {
namespace run_metadata_test {

using testing::MatchesRegex;
using testing::Pointee;

TEST(RunMetadata, SaysWhatARunWasMadeOf) {
  const std::string text =
      run_metadata(Config(registered_parameters()), "bochner train a.toml", "runs/parent");
  const Json meta = Json::parse(text);
  EXPECT_THAT(meta["command"].text(), Pointee(std::string("bochner train a.toml")));
  EXPECT_EQ(meta["format"].count(), 1u);
  EXPECT_EQ(meta["seed"].number(), 1);
  for (const char* library : {"xtensor", "TBB", "glibc"})
    EXPECT_THAT(meta["libraries"][library].text(), Pointee(MatchesRegex("[0-9]+\\.[0-9.]+")))
        << library;
  EXPECT_EQ(parent_in(text), "runs/parent");
  EXPECT_NO_THROW(require_format(text, "run"));
}

/// A tree without history has none, nor a machine without git.
TEST(RunMetadata, NamesTheCommitThatWasBuilt) {
  if (std::system("git -C '" BOCHNER_SOURCE_DIR "' rev-parse HEAD >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "git knows of no commit here";
  const Json meta = Json::parse(run_metadata(Config(registered_parameters()), ""));
  EXPECT_THAT(meta["commit"].text(), Pointee(MatchesRegex("[0-9a-f]{40}")));
}

}  // namespace run_metadata_test
}  // namespace bochner
