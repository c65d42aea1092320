#pragma once
/// What models of series learned from their data: forecasters, latent variables and embeddings.

#include <bochner/data/series/series_windows.hpp>
#include <bochner/data/series/text_covariates.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <bochner/train/tasks/serialize.hpp>
#include <optional>

namespace bochner {

template <class Archive>
void serialize(Archive& archive, SeriesBatch& batch) {
  serialize_array(archive, batch.past);
  serialize_array(archive, batch.future);
  serialize_array(archive, batch.times);
  serialize_array(archive, batch.covariates);
  archive(batch.series);
}

struct SeriesFacts {
  static constexpr const char* kind = "series";
  std::uint64_t variates = 1, channels = 0;  ///< of a row; channels of its covariates
  std::uint64_t lookback = 1, horizon = 1;   ///< rows of a window, and behind it
  std::uint64_t examples = 0;                ///< training windows
  std::vector<std::string> columns = {};     ///< of the variates; empty where they have no names
  std::vector<std::string> series = {};      ///< columns that tell series apart
  std::vector<std::vector<std::string>> ids = {{}};     ///< their texts in these, of each series
  std::vector<std::vector<std::string>> left_out = {};  ///< of series too short to learn from
  TextLevels levels = {};                               ///< of the covariates that are texts
  std::string time = "", time_format = "";              ///< the column of time stamps
  std::vector<TimeStep> steps = {};                     ///< that differ
  std::vector<std::uint64_t> step_of = {};  ///< which of them each series has; empty without times
  std::uint8_t crosses_pauses = 0;          ///< SeriesWindows::crosses_pauses()
  std::vector<SeriesBatch> specimens = {};

  template <class Archive>
  void serialize(Archive& archive) {
    std::vector<std::string> turns = flattened_levels(levels);
    archive(variates, channels, lookback, horizon, examples, columns, series, ids, left_out, turns,
            time, time_format, steps, step_of, crosses_pauses, specimens);
    levels = merged_levels(turns, {});
  }
  void check() const;

  /// The number of the series with this id.
  std::optional<std::size_t> number_of(const std::vector<std::string>& id) const;
  /// Null without times.
  const TimeStep* step(std::size_t number) const;
  /// Names of the series for people; none for a single one.
  std::vector<std::string> names() const;
};

}  // namespace bochner
