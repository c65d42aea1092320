#pragma once
/// What the numbers of a model stand for: texts of a table are numbered where it is read, and other
/// rows, or the same ones in another order, must not number them anew.

#include <bochner/base/keys.hpp>

namespace bochner {

/// Each in the order of its numbers; empty where a table has numbers in place of texts.
struct Vocabularies {
  std::vector<std::string> types = {}, labels = {};
  std::vector<std::string> series = {};   ///< what tells a series apart, one after the other
  std::vector<std::string> levels = {};   ///< a column and one of its texts, by turns
  std::vector<std::string> columns = {};  ///< that are learned
  std::vector<std::string> time = {};     ///< the column of time stamps, and their format
  friend bool operator==(const Vocabularies&, const Vocabularies&) = default;
};
inline void describe(Keys& keys, Vocabularies& names) {
  keys("names.types", names.types,
       "event_files: the texts of types in the order of their numbers; a run keeps those of its "
       "data, and new ones come behind");
  keys("names.labels", names.labels,
       "event_files, texts: the labels in the order of their numbers, kept by a run in the same "
       "way");
  keys("names.series", names.series,
       "series: what tells each of several series apart, in the order of their numbers, kept by a "
       "run in the same way");
  keys("names.levels", names.levels,
       "series: columns of covariates and their texts, by turns, kept by a run in the same way");
  keys("names.columns", names.columns,
       "series, sensors, table: the columns that a run has learned where its config names none; of "
       "a table the target is the last");
  keys("names.time", names.time,
       "series: the column of time stamps that a run has learned from, and their format: that in "
       "which it reads others where several of the usual ones fit");
}

}  // namespace bochner
