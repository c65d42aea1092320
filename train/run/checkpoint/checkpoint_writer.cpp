#include <bochner/data/files/digest.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/run/checkpoint/checkpoint_file.hpp>
#include <bochner/train/storage/encode.hpp>
#include <cstring>
#include <set>

namespace bochner {
namespace {

namespace format = checkpoint_format;

constexpr char zeros_up_to_alignment[format::alignment] = {};

template <class Part>
void append_raw(std::string& bytes, const Part& part) {
  bytes.append(reinterpret_cast<const char*>(&part), sizeof part);
}

void check_names(const std::vector<TensorRecord>& tensors) {
  std::set<std::string> seen;
  for (const TensorRecord& record : tensors) {
    require(is_valid_tensor_name(record.name), "checkpoint", "invalid tensor name: '", record.name,
            "'; use letters, digits and ._/-, at most ", max_tensor_name_bytes);
    require(seen.insert(record.name).second, "checkpoint", "two tensors are named ", record.name);
    require(record.shape.size() <= format::max_rank, "checkpoint", record.name, " has rank ",
            record.shape.size(), ", at most ", format::max_rank, " is stored");
  }
}

Dtype dtype_of(const TensorRecord& record) {
  return record.packed.empty() ? dtype_of_real : Dtype::packed;
}

std::string encode_table(const std::vector<TensorRecord>& tensors) {
  std::string table;
  std::uint64_t offset = 0;
  for (const TensorRecord& record : tensors) {
    format::TensorEntry entry{.rank = std::uint32_t(record.shape.size()),
                              .dtype = std::uint16_t(dtype_of(record)),
                              .name_bytes = std::uint16_t(record.name.size()),
                              .dims = {},
                              .offset = offset,
                              .bytes = record.bytes()};
    std::ranges::copy(record.shape, entry.dims);
    append_raw(table, entry);
    table += record.name;
    offset += format::padded(entry.bytes);
  }
  return table;
}

/// Calls sink(data, bytes) for the whole section "tensors", in order.
template <class Sink>
void for_each_piece(const std::vector<TensorRecord>& tensors, Sink sink) {
  for (const TensorRecord& record : tensors) {
    const std::uint64_t bytes = record.bytes();
    const std::uint64_t padding = format::padded(bytes) - bytes;
    const void* data = record.packed.empty() ? record.data : (const void*)record.packed.data();
    if (bytes > 0) sink(data, bytes);
    if (padding > 0) sink(zeros_up_to_alignment, padding);
  }
}

std::string encode_front(const CheckpointContent& content) {
  Digest tensor_digest;
  std::uint64_t tensor_bytes = 0;
  for_each_piece(content.tensors, [&](const void* data, std::size_t bytes) {
    tensor_digest.update(data, bytes);
    tensor_bytes += bytes;
  });
  std::string header, body;
  const auto add_entry = [&](std::size_t index, std::uint64_t bytes, std::uint64_t digest) {
    format::SectionEntry entry{{}, format::header_bytes + body.size(), bytes, digest};
    std::memcpy(entry.name, format::section_names[index], sizeof entry.name);
    append_raw(header, entry);
  };
  const auto add_section = [&](std::size_t index, std::string bytes) {
    const std::uint64_t length = bytes.size();
    bytes.resize(format::padded(length), '\0');
    add_entry(index, length, digest_of(bytes.data(), bytes.size()));
    body += bytes;
  };
  format::FileHeader start{{}, format::version, format::section_count, format::header_bytes, 0};
  std::memcpy(start.magic, format::magic, sizeof start.magic);
  append_raw(header, start);
  add_section(format::config, content.config);
  add_section(format::state, encode_state(content.state));
  add_section(format::facts, content.facts);
  add_section(format::table, encode_table(content.tensors));
  add_entry(format::tensors, tensor_bytes, tensor_digest.value());
  start.file_bytes = format::header_bytes + body.size() + tensor_bytes;
  std::memcpy(header.data(), &start, sizeof start);
  header.resize(format::header_bytes - format::digest_bytes, '\0');
  append_raw(header, digest_of(header.data(), header.size()));
  return header + body;
}

}  // namespace

std::string encode_state(const TrainerState& state) { return encoded(state); }

void write_checkpoint(StoredFile& file, const CheckpointContent& content) {
  check_names(content.tensors);
  const std::string front = encode_front(content);
  file.append(front.data(), front.size());
  for_each_piece(content.tensors,
                 [&](const void* data, std::size_t bytes) { file.append(data, bytes); });
}

}  // namespace bochner
