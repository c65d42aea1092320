#pragma once
/// Runs followed while they train, and their status lines.

#include <algorithm>
#include <bochner/train/run/log/run_view.hpp>
#include <deque>
#include <string>
#include <vector>

namespace bochner {

/// A run, or all runs in a directory, including later ones.
class WatchedRuns {
 public:
  /// Watches a path that may not exist yet. `storage` must outlive it.
  WatchedRuns(FileStorage& storage, Path path) : storage_(&storage), path_(std::move(path)) {}
  /// Reads new metrics; returns whether there were any.
  bool refresh();
  const std::deque<RunView>& runs() const { return runs_; }
  /// Returns the indices of runs updated by the last refresh.
  const std::vector<std::size_t>& news() const { return news_; }
  bool any(RunPhase phase) const { return std::ranges::count(runs_, phase, &RunView::phase) > 0; }
  /// Whether there are runs and all are done.
  bool all_done() const;

 private:
  FileStorage* storage_;
  Path path_;
  std::deque<RunView> runs_;
  std::vector<std::size_t> news_;
};

/// Draws a curve as `width` block characters of eight heights: means of equal pieces.
std::string sparkline(const Curve& curve, std::size_t width);
/// Returns "trains   step 300/1000  30 %  loss 1.412  valid 1.468  eta 0:21  148k tok/s" with a
/// sparkline of the loss (of its second half if it is long) unless the width is 0.
std::string line_of(const RunView& run, std::size_t sparkline_width);
/// Returns at most `rows` lines of at most `columns` characters, training runs first; with names if
/// there are several runs.
std::vector<std::string> lines_of(const std::deque<RunView>& runs, std::size_t rows,
                                  std::size_t columns, bool blocks);

}  // namespace bochner
