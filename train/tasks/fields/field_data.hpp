#pragma once
/// Fields of a config, and the facts that models learn from them.

#include <bochner/data/fields/field_files.hpp>
#include <bochner/data/fields/fields.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <bochner/train/tasks/serialize.hpp>
#include <optional>

namespace bochner {

template <class Archive>
void serialize(Archive& archive, FieldBatch& batch) {
  serialize_array(archive, batch.frames);
  serialize_array(archive, batch.next);
}

struct FieldFacts {
  static constexpr const char* kind = "fields";
  std::uint64_t frames = 8;                ///< input frames (T)
  std::vector<std::uint64_t> sides = {};   ///< pixels along each axis, the slowest first
  std::vector<FieldBatch> specimens = {};  ///< in the unit of the data

  template <class Archive>
  void serialize(Archive& archive) {
    archive(frames, sides, specimens);
  }
  void check() const;
  FieldSize size() const { return {frames, {sides.begin(), sides.end()}}; }
};

/// Returns whether fields are films from files, in the unit of the data, and not generated.
inline bool reads_films(const Config& config) { return config.text("data.kind") == "field_files"; }
/// Fields, and the unit of films; generated fields have none, and no noise.
struct OpenedFields {
  std::unique_ptr<FieldSource> data;
  std::optional<Moments> unit = {};
};
OpenedFields open_fields(const Config& config);
/// Returns the facts of the data, or the known ones. Throws DataError for fields of another size.
FieldFacts field_facts(const FieldSource& data, const KnownFacts& known);
/// Returns facts for a model without data: films of four patches a side.
FieldFacts assumed_field_facts(const Config& config);

/// Throw ConfigError if keys do not suit fields, or tokens without order.
void check_field(const Config& config);
void check_no_order(const Config& config);

}  // namespace bochner
