#pragma once
/// Verdicts: how good a model is on held-out data, beside answers that need no model.

#include <string>
#include <vector>

namespace bochner {

class Json;
class Page;

struct Score {
  std::string name;
  double value;
};

/// Score of a model and of naive answers on the same held-out data.
struct Verdict {
  std::string measure = {};  ///< "RMSE of load", "accuracy"
  std::string data = {};     ///< "103 held-out rows"
  double score = 0;
  std::vector<Score> naive = {};          ///< of naive answers; none: no verdict
  bool percent = false;                   ///< a share of right answers; else an error
  std::vector<std::string> details = {};  ///< lines of a table that explains the score
  std::string remark = {};                ///< what else is known of the answers, or ""
  bool nats = false;  ///< an error that may be negative, whose differences count

  bool exists() const { return !naive.empty(); }
  /// Returns the best naive answer, the first among equals. Requires exists().
  const Score& best_naive() const;
  /// Returns whether the score is better than those of all naive answers: an error by 1 %, nats by
  /// .001.
  bool beats_naive() const;
  /// Returns one line: "RMSE 4.31 on 103 held-out rows; mean 16.7, ridge 10.4: 59 % less than
  /// ridge".
  std::string words() const;
  Json json() const;
};

/// Returns the share of right answers of "always the most frequent class". counts: of the examples
/// of each class.
Score most_frequent_class(const std::vector<double>& counts);

/// Adds the verdict to a page, if it exists.
void add_verdict(Page& page, const Verdict& verdict);

}  // namespace bochner
