#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

namespace bochner {
namespace op_coverage_test {

std::set<std::string> declared_ops() {
  std::set<std::string> names;
  const std::regex declaration("^Var (\\w+)\\(.*");
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(BOCHNER_SOURCE_DIR "/autodiff/ops")) {
    if (entry.path().extension() != ".hpp") continue;
    std::ifstream file(entry.path());
    std::smatch match;
    for (std::string line; std::getline(file, line);) {
      if (std::regex_match(line, match, declaration)) names.insert(match[1]);
    }
  }
  return names;
}

std::set<std::string> tested_ops() {
  std::set<std::string> names;
  const auto& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(i);
    if (!std::string(suite.name()).ends_with("/OpTest")) continue;
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const std::string test = suite.GetTestInfo(j)->name();
      const std::string row = test.substr(test.find('/') + 1);
      names.insert(row.substr(0, row.find("__")));
    }
  }
  return names;
}

TEST(OpTable, HasARowForEveryDeclaredOp) {
  const std::set<std::string> declared = declared_ops(), tested = tested_ops();
  EXPECT_GT(declared.size(), 30u);
  for (const std::string& op : declared) {
    EXPECT_TRUE(tested.contains(op)) << op << " has no row in the op test table";
  }
}

}  // namespace op_coverage_test
}  // namespace bochner
