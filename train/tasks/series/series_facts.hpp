#pragma once
/// Facts that models of series learn from their data: forecasters, latent variables and embeddings.

#include <bochner/data/series/series_table.hpp>
#include <bochner/data/series/series_windows.hpp>
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
  std::uint64_t variates = 1, channels = 0;          ///< of a row; channels: of its covariates
  std::uint64_t lookback = 1, horizon = 1;           ///< rows of a window, and rows after it
  std::uint64_t examples = 0;                        ///< training windows
  std::vector<std::string> columns = {};             ///< names of the variates; empty without names
  std::vector<std::string> series = {};              ///< id columns of the series
  std::vector<std::vector<std::string>> ids = {{}};  ///< values of the id columns by series
  std::vector<std::vector<std::string>> left_out = {};  ///< ids of series too short to train on
  TextLevels levels = {};                               ///< of the covariates that are texts
  std::string time = "", time_format = "";              ///< the column of time stamps
  std::vector<TimeStep> steps = {};                     ///< the different time steps
  std::vector<std::uint64_t> step_of = {};  ///< index in `steps` by series; empty without times
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

  /// Returns the number of the series with this id.
  std::optional<std::size_t> number_of(const std::vector<std::string>& id) const;
  /// Returns the time step of a series, null without times.
  const TimeStep* step(std::size_t number) const;
  /// Returns names of the series to show; none for a single one.
  std::vector<std::string> names() const;
};

}  // namespace bochner
