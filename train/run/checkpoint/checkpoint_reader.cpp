#include <bochner/base/text.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/run/checkpoint/checkpoint_file.hpp>
#include <bochner/train/run/checkpoint/packed_matrix.hpp>
#include <bochner/train/storage/bounded_archive.hpp>

namespace bochner {
namespace {

namespace format = checkpoint_format;

constexpr std::uint64_t read_buffer_bytes = 256 * 1024;

std::string dtype_name(Dtype dtype) {
  if (dtype == Dtype::f32) return "f32";
  if (dtype == Dtype::f64) return "f64";
  if (dtype == Dtype::packed) return "packed numbers";
  return in_words("unknown dtype ", std::uint16_t(dtype));
}

/// Whether unpacking needs a reasonable amount of memory.
bool may_be_packed(const Shape& shape) {
  return shape.size() == 2 && element_count(shape) <= most_packed_entries;
}

std::uint64_t padded_end(const format::SectionEntry& section) {
  return section.offset + format::padded(section.bytes);
}

}  // namespace

CheckpointReader::CheckpointReader(FileStorage& storage, const Path& path)
    : path_(path), file_(storage.open_read(path)), file_bytes_(file_->size()) {
  check_start();
  read_sections();
  check_sections();
  check_digests();
  config_ = section_bytes(format::config);
  parse_state(section_bytes(format::state));
  facts_ = section_bytes(format::facts);
  parse_table(section_bytes(format::table));
}

void CheckpointReader::check_start() const {
  format::FileHeader start;
  if (file_bytes_ < sizeof start) fail(0, "truncated: ", file_bytes_, " bytes in all");
  file_->read_at(0, &start, sizeof start);
  if (std::memcmp(start.magic, format::pre_release_magic, sizeof start.magic) == 0)
    fail(0, pre_release_error);
  if (std::memcmp(start.magic, format::magic, sizeof start.magic) != 0)
    fail(0, "not a bochner checkpoint");
  if (start.version > format::version)
    fail(offsetof(format::FileHeader, version), "format version ", start.version,
         ", this program reads ", format::version, "; use a newer bochner");
  if (start.version < format::version)
    fail(offsetof(format::FileHeader, version), "format version ", start.version, ": ",
         pre_release_error);
  if (start.file_bytes != file_bytes_)
    fail(offsetof(format::FileHeader, file_bytes),
         start.file_bytes > file_bytes_ ? "truncated" : "damaged", ": the header claims ",
         start.file_bytes, " bytes, the file has ", file_bytes_);
  if (start.section_count != format::section_count || start.header_bytes != format::header_bytes ||
      file_bytes_ < format::header_bytes)
    fail(offsetof(format::FileHeader, section_count), "damaged header: ", start.section_count,
         " sections, ", start.header_bytes, " bytes of header");
}

void CheckpointReader::read_sections() {
  char header[format::header_bytes];
  file_->read_at(0, header, sizeof header);
  const std::uint64_t digest_offset = sizeof header - format::digest_bytes;
  std::uint64_t wanted;
  std::memcpy(&wanted, header + digest_offset, sizeof wanted);
  if (digest_of(header, digest_offset) != wanted) fail(digest_offset, "damaged header: checksum");
  std::memcpy(sections_, header + sizeof(format::FileHeader), sizeof sections_);
}

void CheckpointReader::check_sections() const {
  std::uint64_t position = format::header_bytes;
  for (std::size_t index = 0; index < format::section_count; ++index) {
    const format::SectionEntry& section = sections_[index];
    const std::uint64_t entry_offset = sizeof(format::FileHeader) + index * sizeof section;
    const char* name = format::section_names[index];
    if (std::memcmp(section.name, name, sizeof section.name) != 0)
      fail(entry_offset, "section ", name, " is missing");
    if (section.offset != position || section.bytes > file_bytes_ - position ||
        padded_end(section) > file_bytes_)
      fail(entry_offset, "section ", name, " claims bytes ", section.offset, " to ", section.offset,
           " + ", section.bytes, ", it must begin at ", position, " and end in the file");
    position = padded_end(section);
  }
  if (position != file_bytes_) fail(position, "bytes after the last section");
}

void CheckpointReader::check_digests() const {
  std::string buffer(std::min(read_buffer_bytes, file_bytes_), '\0');
  for (const format::SectionEntry& section : sections_) {
    Digest digest;
    for (std::uint64_t position = section.offset; position < padded_end(section);) {
      const std::size_t bytes =
          std::min<std::uint64_t>(buffer.size(), padded_end(section) - position);
      file_->read_at(position, buffer.data(), bytes);
      digest.update(buffer.data(), bytes);
      position += bytes;
    }
    if (digest.value() != section.digest)
      fail(section.offset, "damaged: checksum of section ", section.name);
  }
}

std::string CheckpointReader::section_bytes(std::size_t index) const {
  std::string bytes(sections_[index].bytes, '\0');
  file_->read_at(sections_[index].offset, bytes.data(), bytes.size());
  return bytes;
}

/// Parses the state. Its digest has matched, so another layout was written, not damaged.
void CheckpointReader::parse_state(const std::string& bytes) {
  BoundedInputArchive archive(bytes);
  const auto refuse = [&](const auto&... problem) {
    const std::uint64_t place = bytes.size() - archive.bytes_left();
    fail(sections_[format::state].offset + place, "trainer state ", problem..., ": ",
         pre_release_error);
  };
  try {
    archive(state_);
  } catch (const DataError& error) {
    refuse(error.what());
  }
  if (state_.version != format_version) refuse("of version ", state_.version);
  if (archive.bytes_left() > 0) refuse("with bytes after its end");
}

void CheckpointReader::parse_table(const std::string& bytes) {
  std::uint64_t position = 0, data_position = sections_[format::tensors].offset;
  while (position < bytes.size()) tensors_.push_back(parse_entry(bytes, position, data_position));
  if (data_position != file_bytes_) fail(data_position, "data without a tensor");
  std::vector<std::string_view> names;
  for (const StoredTensor& stored : tensors_) names.push_back(stored.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) fail(sections_[format::table].offset, "two tensors are named ", *twice);
}

StoredTensor CheckpointReader::parse_entry(const std::string& bytes, std::uint64_t& position,
                                           std::uint64_t& data_position) const {
  const std::uint64_t entry_offset = sections_[format::table].offset + position;
  format::TensorEntry entry;
  if (bytes.size() - position < sizeof entry) fail(entry_offset, "the table of tensors ends early");
  std::memcpy(&entry, bytes.data() + position, sizeof entry);
  position += sizeof entry;
  if (bytes.size() - position < entry.name_bytes)
    fail(entry_offset, "the table of tensors ends within a name");
  const std::string name = bytes.substr(position, entry.name_bytes);
  position += entry.name_bytes;
  if (!is_valid_tensor_name(name)) fail(entry_offset, "invalid tensor name: ", excerpt(name));
  if (entry.rank > format::max_rank)
    fail(entry_offset, "tensor ", name, " has rank ", entry.rank, ", more than ", format::max_rank);
  const auto dtype = static_cast<Dtype>(entry.dtype);
  const auto expected = checked_bytes(std::span(entry.dims, entry.rank), dtype);
  const Shape shape(entry.dims, entry.dims + entry.rank);
  const bool is_packed = dtype == Dtype::packed;
  if (!expected || (is_packed ? !may_be_packed(shape) : *expected != entry.bytes))
    fail(entry_offset, "tensor ", name, " claims ", entry.bytes, " bytes for ", to_string(shape),
         " of ", dtype_name(dtype));
  if (sections_[format::tensors].offset + entry.offset != data_position ||
      entry.bytes > file_bytes_ - data_position ||
      format::padded(entry.bytes) > file_bytes_ - data_position)
    fail(entry_offset, "the data of tensor ", name, " overlap, leave a gap or exceed the file");
  const std::uint64_t begin = data_position;
  data_position += format::padded(entry.bytes);
  return {name, shape, dtype, begin, entry.bytes};
}

const StoredTensor* CheckpointReader::find(const std::string& name) const {
  const auto found = std::ranges::find(tensors_, name, &StoredTensor::name);
  return found == tensors_.end() ? nullptr : &*found;
}

const StoredTensor& CheckpointReader::tensor(const std::string& name) const {
  if (const StoredTensor* found = find(name)) return *found;
  throw DataError(path_.string(), ": has no tensor ", name,
                  "; it was written for another model or optimizer");
}

Tensor CheckpointReader::load(const std::string& name) const {
  Tensor result = uninitialized(tensor(name).shape);
  load_into(name, result);
  return result;
}

void CheckpointReader::load_into(const std::string& name, Tensor& tensor) const {
  const StoredTensor& stored = this->tensor(name);
  if (stored.shape != tensor.shape())
    throw DataError(path_.string(), ": tensor ", name, " is ", to_string(stored.shape),
                    " in the file and ", to_string(tensor.shape()),
                    " in the model; resume with the run's own config");
  if (stored.dtype == Dtype::packed) return unpack_into(stored, tensor);
  if (stored.dtype != dtype_of_real)
    throw DataError(path_.string(), ": tensor ", name, " is ", dtype_name(stored.dtype),
                    ", this program computes in ", dtype_name(dtype_of_real),
                    "; use a build of that precision, or train again");
  file_->read_at(stored.offset, tensor.data(), stored.bytes);
}

void CheckpointReader::unpack_into(const StoredTensor& stored, Tensor& tensor) const {
  std::string bytes(stored.bytes, '\0');
  file_->read_at(stored.offset, bytes.data(), bytes.size());
  try {
    unpack_matrix(bytes, tensor);
  } catch (const DataError& error) {
    fail(stored.offset, "tensor ", stored.name, ": ", error.what());
  }
}

}  // namespace bochner
