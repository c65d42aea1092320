#include <algorithm>
#include <bochner/base/text.hpp>
#include <bochner/train/tasks/facts.hpp>

namespace bochner {
namespace {

/// Returns the first of `names` that is not in `others`, or null.
const std::string* first_missing(const std::vector<std::string>& others,
                                 const std::vector<std::string>& names) {
  const auto found = std::ranges::find_if(
      names, [&](const std::string& name) { return std::ranges::count(others, name) == 0; });
  return found == names.end() ? nullptr : &*found;
}

}  // namespace

void require_size(const char* what, std::uint64_t size, std::uint64_t most) {
  if (size < 1 || size > most)
    throw DataError("facts hold ", size, " ", what, "; must be from 1 to ", most);
}

void require_known_names(const char* what, const std::vector<std::string>& known,
                         const std::vector<std::string>& found) {
  if (known.empty() || known == found) return;
  if (const std::string* unknown = first_missing(known, found))
    throw DataError("data.files: the model does not know the ", what, " ", excerpt(*unknown),
                    "; it was trained on ", excerpt(known.front()), " and ", known.size() - 1,
                    " more");
  const std::string* missing = first_missing(found, known);
  throw DataError("data.files: too few rows, or none, for the ", what, " ",
                  excerpt(missing ? *missing : known[0]), ", which the model was trained on");
}

}  // namespace bochner
