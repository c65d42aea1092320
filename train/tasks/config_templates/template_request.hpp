#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bochner {

/// What the user asks of the config of some data; the rest is inferred.
struct TemplateRequest {
  std::string kind = {};                        ///< one of requestable_kinds(), "" to infer it
  std::string target = {}, id = {}, time = {};  ///< columns, "" to infer them
  std::size_t horizon = 0;                      ///< rows to forecast, 0 to infer them

  /// Returns whether the kind is this one or left to inference.
  bool allows(std::string_view one) const { return kind.empty() || kind == one; }
  /// Returns the options that are set, with their values: "--target", "load".
  std::vector<std::pair<std::string, std::string>> options() const;
};

/// Returns what `--as` takes.
std::vector<std::string> requestable_kinds();
/// Returns the request with one name for each kind ("lm" is "text"); a horizon
/// asks for a forecaster. Throws std::invalid_argument for another kind.
TemplateRequest checked(TemplateRequest request);
/// Throws std::invalid_argument if options are set that have no effect on a config of this kind.
/// `data`: for the error.
void require_used(const TemplateRequest& request, std::string_view kind, const std::string& data);

struct InferredTable;
/// Applies a request to the inferred columns of a file: the requested time is the only one, and
/// names are spelled as in the file. Throws std::invalid_argument for a column that does not exist,
/// and DataError for a time column that holds texts.
void apply_request(const TemplateRequest& request, const std::string& file, InferredTable& table);

/// Returns the column of this name, or else of this name in another case. Throws
/// std::invalid_argument with the names if there is none.
std::size_t requested_column(const std::vector<std::string>& names, const std::string& file,
                             const char* option, const std::string& name);

/// Returns the column of numbers to predict from others: the requested one, or the last. Throws
/// DataError if it holds no numbers.
std::size_t requested_number(const InferredTable& table, const std::string& file);

}  // namespace bochner
