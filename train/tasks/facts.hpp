#pragma once
/// Facts: what a model learned of its data and needs to answer a question: names, units, sizes,
/// clocks. Each kind of task has a struct of them,
///
///   struct TextFacts {
///     static constexpr const char* kind = "text";
///     std::uint64_t vocabulary = 0;
///     template <class Archive> void serialize(Archive& archive) { archive(vocabulary); }
///     void check() const;  // throws DataError where sizes contradict each other
///   };
///
/// which a checkpoint holds as bytes, and an exported file as base64.

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

/// The name of their kind. Throws DataError for damaged bytes.
inline std::string kind_of_facts(std::string_view bytes) {
  std::string kind;
  BoundedInputArchive archive(bytes);
  archive(kind);
  return kind;
}

/// Throws DataError for facts of another kind, and for bytes that are damaged.
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

/// The facts of the run that a task continues, judges or starts from.
struct KnownFacts {
  std::string bytes = {};  ///< "" for a new run
  bool extends = false;    ///< whether data may hold names that the facts lack, as for a fork

  /// Whether the facts say what data must hold.
  bool are_exact() const { return !bytes.empty() && !extends; }
  /// The facts, or initial ones where there are none, or only those of another kind of parent.
  template <class Facts>
  Facts of() const {
    const bool none = bytes.empty() || (extends && kind_of_facts(bytes) != Facts::kind);
    return none ? Facts() : decode_facts<Facts>(bytes);
  }
};

/// Throws DataError unless a size from a file is from 1 to `most`.
void require_size(const char* what, std::uint64_t size, std::uint64_t most);

/// Throws DataError where the data hold a name that the model has not learned, or lack one of those
/// that it needs all of. `what`: "type", "label", "series", "column".
void require_known_names(const char* what, const std::vector<std::string>& known,
                         const std::vector<std::string>& found);

}  // namespace bochner
