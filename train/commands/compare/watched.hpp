#pragma once
/// Runs that are followed while they train, and a line for each.

#include <bochner/train/run/log/run_view.hpp>
#include <deque>
#include <string>
#include <vector>

namespace bochner {

/// A run, or all runs in a directory, those too that begin later.
class WatchedRuns {
 public:
  /// `storage` must outlive it. Nothing need be there yet.
  WatchedRuns(FileStorage& storage, Path path) : storage_(&storage), path_(std::move(path)) {}
  /// Reads what is new and says whether anything is.
  bool refresh();
  const std::deque<RunView>& runs() const { return runs_; }
  /// Of those with news at the last refresh.
  const std::vector<std::size_t>& news() const { return news_; }
  bool any(RunPhase phase) const;
  /// Whether there are runs and all are done.
  bool all_done() const;

 private:
  FileStorage* storage_;
  Path path_;
  std::deque<RunView> runs_;
  std::vector<std::size_t> news_;
};

/// Eight heights of blocks, `width` of them: means of the curve in pieces of equal length.
std::string sparkline(const Curve& curve, std::size_t width);
/// "trains   step 300/1000  30 %  loss 1.412  valid 1.468  best 1.451  eta 0:21  148k tok/s", with
/// a sparkline of so many characters unless 0: of the loss, where that is long of its second half.
std::string line_of(const RunView& run, std::size_t sparkline_width);
/// All runs, with their names in front where there are several: at most `rows` lines of at most
/// `columns` characters; those that train come first.
std::vector<std::string> lines_of(const std::deque<RunView>& runs, std::size_t rows,
                                  std::size_t columns, bool blocks);

}  // namespace bochner
