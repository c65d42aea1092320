#pragma once
/// Comparison of runs, for `compare` and `watch`: groups that differ only in the seed, their
/// figures and curves, and the status lines of runs while they train.

#include <algorithm>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/run/log/run_view.hpp>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace bochner {

/// Returns the paths of runs below their deepest common folder.
std::vector<std::string> short_names(const std::vector<Path>& runs);

struct RunGroup {
  std::string name;
  std::vector<const RunView*> runs;
};
/// Groups runs, in the order of their first runs. Runs with equal config and seed stay separate:
/// they are not independent draws. The views must outlive the groups.
std::vector<RunGroup> groups_of(const std::deque<RunView>& runs);

/// Sorts by the mean of the lowest validation losses; groups without any come last.
void sort_by_best(std::vector<RunGroup>& groups);

/// Config key, or "forked from", with its value in each group.
struct Difference {
  std::string key;
  std::vector<std::string> values;
};
/// Returns keys other than train.seed whose values differ between groups.
std::vector<Difference> differences(const std::vector<RunGroup>& groups);
/// Returns why losses may not be comparable (other data or model kind); "" if they are.
std::string objection(const std::vector<Difference>& differences);

/// Unit of a number, which decides its format.
enum class Quantity { number, steps, rate, seconds, bytes };

/// Number of each run, if known.
struct RunFigure {
  std::string name;   ///< in JSON, such as "best_step"
  std::string words;  ///< in tables; "" for JSON only
  Quantity quantity = Quantity::number;
  std::vector<std::vector<double>> values = {};  ///< per group
};
/// Returns steps, last and best values, time and memory, numbers of learned kernels, and the time
/// to reach the validation loss `goal`. Omits figures that no run has.
std::vector<RunFigure> figures_of(const std::vector<RunGroup>& groups, std::optional<double> goal);
/// Returns the lowest validation loss that all runs with validations reach, to four digits.
std::optional<double> common_goal(const std::vector<RunGroup>& groups);
/// Returns the validation keys that any run has logged, the loss first.
std::vector<std::string> measures_of(const std::vector<RunGroup>& groups);

/// Returns the mean of a metric over the runs of a group that logged it, between the first and last
/// common step, linearly interpolated; with 95 % intervals by Student's t if there are several.
/// With `by_time`, x is the mean seconds of training until the step.
Series mean_curve(const RunGroup& group, const std::string& key, bool by_time);

/// Tables, JSON lines and a page that compare runs.
class Comparison {
 public:
  /// Measures the time to reach the validation loss `goal`, by default the lowest that all reach,
  /// unless data or model kind differ. `runs` must outlive it and must not be refreshed.
  explicit Comparison(const std::deque<RunView>& runs, std::optional<double> goal = {});

  /// Returns two Markdown tables: figures, and keys that differ.
  std::string text() const;
  /// Returns a JSON line per group.
  std::string json() const;
  /// Returns a page with curves, figures and keys that differ.
  Page page(const std::string& title) const;
  /// Returns problems of the runs or of comparing them, a line each.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Table figure_table() const;
  Table difference_table() const;
  std::vector<Figure> large_figures() const;
  std::vector<std::string> charts() const;
  std::string chart_of(const std::string& key, bool by_time) const;

  std::size_t run_count_;
  std::optional<double> goal_;
  std::vector<RunGroup> groups_;
  std::vector<Difference> differences_;
  std::vector<RunFigure> figures_;
  std::vector<std::string> notes_;
};

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
