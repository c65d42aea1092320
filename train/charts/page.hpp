#pragma once
/// A report: one HTML file that needs nothing else, light or dark as its reader likes.

#include <bochner/train/charts/chart.hpp>

namespace bochner {

/// A chart is never drawn smaller than this part of its pixels: its text of 11.5 px has 10 then.
inline constexpr double smallest_scale = 0.872;
/// Width of a card that shows a chart of so many pixels without a scroll bar.
constexpr int card_width(double chart) { return int(smallest_scale * chart) + 37; }

/// A number that the page shows large.
struct Figure {
  std::string value, label;
};

/// A table; every row has one cell for each header. Numbers stand on the right.
struct Table {
  std::vector<std::string> headers;
  std::vector<std::vector<std::string>> rows;
};
/// For a terminal: control characters are escaped.
std::string markdown(const Table& table);

/// All texts are escaped; charts are SVG of draw().
class Page {
 public:
  Page(std::string title, std::string subtitle);
  void section(const std::string& heading, const std::string& text = "");
  void paragraph(const std::string& text);
  void figures(const std::vector<Figure>& figures);
  void table(const Table& table);
  /// Charts side by side in cards of at least `width` pixels, or as wide as the page.
  void charts(const std::vector<std::string>& svgs, int width = card_width(chart_width));
  /// The reader's browser asks for the page again after so many seconds.
  void refresh_every(double seconds) { refresh_ = seconds; }
  /// The whole file: XML as well as HTML.
  std::string html() const;

 private:
  std::string title_, subtitle_, body_;
  double refresh_ = 0;
};

}  // namespace bochner
