#include <algorithm>
#include <bochner/data/formats/csv.hpp>
#include <bochner/data/formats/csv_records.hpp>

namespace bochner {

CsvRecords::CsvRecords(std::string_view text, const std::string& name, char delimiter, char quote)
    : rest_(text), name_(name), delimiter_(delimiter), quote_(quote) {
  if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
}

bool CsvRecords::next(std::vector<CsvField>& fields) {
  fields.clear();
  unescaped_.clear();
  if (rest_.empty()) return false;
  fields.push_back(field());
  while (rest_.starts_with(delimiter_)) {
    if (fields.size() == most_csv_fields)
      fail(line_, column_, "has more than ", most_csv_fields, " fields");
    take(1);
    fields.push_back(field());
  }
  take(rest_ == "\r" ? 1 : line_end_size());
  return true;
}

CsvField CsvRecords::field() {
  CsvField field{{}, line_, column_};
  if (sees_quote()) {
    quoted_text(field);
    if (!rest_.empty() && rest_.front() != delimiter_ && line_end_size() == 0)
      fail(line_, column_, "expected a delimiter or the end of the line after the closing quote");
    return field;
  }
  std::size_t size = 0;
  for (; size < rest_.size(); ++size) {
    const char character = rest_[size];
    if (character == delimiter_ || character == '\n') break;
    if (character == '"' && quote_ == '"')
      fail(line_, column_ + size, "a quote inside a field; put the whole field in quotes");
  }
  const bool before_line_end = size == rest_.size() || rest_[size] == '\n';
  if (before_line_end && size > 0 && rest_[size - 1] == '\r') --size;
  field.text = rest_.substr(0, size);
  take(size);
  return field;
}

void CsvRecords::quoted_text(CsvField& field) {
  std::size_t end = rest_.find(quote_, 1);
  bool doubled = false;
  for (; end != rest_.npos && rest_.substr(end + 1).starts_with(quote_);
       end = rest_.find(quote_, end + 2))
    doubled = true;
  if (end == rest_.npos) fail(field.line, field.column, "this quote is not closed");
  field.text = rest_.substr(1, end - 1);
  take(end + 1);
  if (!doubled) return;
  std::string& text = unescaped_.emplace_back();
  for (std::size_t i = 0; i < field.text.size(); ++i) {
    text += field.text[i];
    if (field.text[i] == quote_) ++i;
  }
  field.text = text;
}

void CsvRecords::take(std::size_t bytes) {
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(taken.size());
  const std::size_t last = taken.rfind('\n');
  line_ += std::size_t(std::count(taken.begin(), taken.end(), '\n'));
  column_ = last == taken.npos ? column_ + taken.size() : taken.size() - last;
}

std::size_t CsvRecords::line_end_size() const {
  return rest_.starts_with("\r\n") ? 2 : rest_.starts_with('\n') ? 1 : 0;
}

}  // namespace bochner
