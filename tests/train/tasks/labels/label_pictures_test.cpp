#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/labels/label_pictures.hpp>

#include "train/well_formed.hpp"

namespace bochner {
namespace label_pictures_test {

using testing::HasSubstr;
using testing::Not;

std::string page_of(const std::vector<std::string>& classes,
                    const std::vector<LabelAnswer>& answers) {
  Page page("run", "");
  add_label_answers(page, classes, answers);
  EXPECT_EQ(XmlReader(page.html()).problem(), "");
  return page.html();
}

TEST(LabelAnswers, CountsAnswersByClass) {
  const std::vector<LabelAnswer> answers = {
      {0, 0, 0.9, "right"}, {0, 1, 0.6, "unsure"}, {0, 1, 0.8, "<sure>"}, {1, 1, 0.7, "fine"}};
  const std::string html = page_of({"bad", "good"}, answers);
  EXPECT_THAT(html, HasSubstr("<td>bad</td><td>33.3 %</td><td>100.0 %</td><td>1</td><td>2</td>"));
  EXPECT_THAT(html, HasSubstr("<td>good</td><td>100.0 %</td><td>33.3 %</td><td>0</td><td>1</td>"));
  const std::size_t sure = html.find("&lt;sure&gt;"), unsure = html.find("unsure");
  EXPECT_LT(sure, unsure);
  EXPECT_LT(unsure, html.size());
  EXPECT_THAT(html, Not(HasSubstr("fine")));
}

TEST(LabelAnswers, NamesTheMostFrequentConfusionOfManyClasses) {
  std::vector<LabelAnswer> answers;
  for (std::size_t label = 0; label < 5; ++label) answers.push_back({label, label, 0.5});
  const auto picture = [] { return std::string("<svg/>"); };
  for (const std::size_t wrong : {1u, 2u, 2u}) answers.push_back({4, wrong, 0.5, "x", picture});
  const std::string html = page_of({"a", "b", "c", "d", "e"}, answers);
  EXPECT_THAT(html, HasSubstr("<td>e</td><td>4</td><td>25.0 %</td><td>100.0 %</td><td>c (2)</td>"));
  EXPECT_THAT(html, HasSubstr("<svg/>"));
}

TEST(LabelAnswers, SaysThatNoneIsWrong) {
  EXPECT_THAT(page_of({"a", "b"}, {{1, 1, 0.5, "x"}}), HasSubstr("No answer is wrong"));
}

}  // namespace label_pictures_test
}  // namespace bochner
