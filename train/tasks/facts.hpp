#pragma once
/// Facts: properties of the training data that a model needs to answer questions: names, units,
/// sizes, clocks. Each kind of task has a struct of them,
///
///   struct TextFacts {
///     static constexpr const char* kind = "text";
///     std::uint64_t vocabulary = 0;
///     template <class Archive> void serialize(Archive& archive) { archive(vocabulary); }
///     void check() const;  // throws DataError if sizes contradict each other
///   };
///
/// stored as bytes in a checkpoint, and as base64 in an exported file.

#include <bochner/train/storage/bounded_archive.hpp>
#include <bochner/train/storage/encode.hpp>
#include <string>
#include <string_view>

namespace bochner {

template <class Facts>
std::string encode_facts(Facts facts) {
  std::string kind = Facts::kind;
  return encoded(kind) + encoded(facts);
}

/// Returns the kind of encoded facts. Throws DataError for damaged bytes.
inline std::string kind_of_facts(std::string_view bytes) {
  std::string kind;
  BoundedInputArchive archive(bytes);
  archive(kind);
  return kind;
}

/// Decodes facts. Throws DataError for facts of another kind, and for damaged bytes.
template <class Facts>
Facts decode_facts(std::string_view bytes) {
  BoundedInputArchive archive(bytes);
  std::string kind;
  archive(kind);
  if (kind != Facts::kind)
    throw DataError("holds facts of another kind of data, not of ", Facts::kind);
  Facts facts;
  archive(facts);
  if (archive.bytes_left() > 0) throw DataError("facts with bytes after their end");
  facts.check();
  return facts;
}

/// Facts of the run that a task continues, evaluates or starts from.
struct KnownFacts {
  std::string bytes = {};       ///< "" for a new run
  bool extends = false;         ///< whether data may hold further names, as for a fork
  bool only_evaluated = false;  ///< whether the data are other ones, to evaluate the model on

  /// Returns whether data must match the facts.
  bool are_exact() const { return !bytes.empty() && !extends; }
  /// Returns the facts, or default ones if there are none or the parent is of another kind.
  template <class Facts>
  Facts of() const {
    const bool none = bytes.empty() || (extends && kind_of_facts(bytes) != Facts::kind);
    return none ? Facts() : decode_facts<Facts>(bytes);
  }
};

/// Throws DataError unless a size from a file is from 1 to `most`.
void require_size(const char* what, std::uint64_t size, std::uint64_t most);

/// Throws DataError if the data hold an unknown name, or lack a known one. `what`: "type", "label",
/// "series", "column".
void require_known_names(const char* what, const std::vector<std::string>& known,
                         const std::vector<std::string>& found);

}  // namespace bochner
