#pragma once
/// A report: one HTML file that needs nothing else, light or dark as its reader likes.

#include <string>
#include <vector>

namespace bochner {

/// A number that the page shows large.
struct Figure {
  std::string value, label;
};

/// A table; every row has one cell for each header. Numbers stand on the right.
struct Table {
  std::vector<std::string> headers;
  std::vector<std::vector<std::string>> rows;
};

/// All texts are escaped; charts are SVG of draw().
class Page {
 public:
  Page(std::string title, std::string subtitle);
  void section(const std::string& heading, const std::string& text = "");
  void paragraph(const std::string& text);
  void figures(const std::vector<Figure>& figures);
  void table(const Table& table);
  /// Charts side by side, each at least `width` pixels wide.
  void charts(const std::vector<std::string>& svgs, int width = 420);
  /// The whole file: XML as well as HTML.
  std::string html() const;

 private:
  std::string title_, subtitle_, body_;
};

}  // namespace bochner
