#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace bochner {

class Page;

/// Answer of a classifier to an example.
struct LabelAnswer {
  std::size_t label = 0, answer = 0;
  double probability = 0;                     ///< of the answer
  std::string example = {};                   ///< its text or number; "" if only answers are known
  std::function<std::string()> picture = {};  ///< draws the example as SVG; may be empty
};

/// Adds the confusion matrix, recall and precision of each class, and the most confident mistakes.
void add_label_answers(Page& page, const std::vector<std::string>& classes,
                       std::vector<LabelAnswer> answers);

}  // namespace bochner
