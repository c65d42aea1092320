#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/data/files/gzip.hpp>
#include <bochner/data/text/token_windows.hpp>

namespace bochner {
namespace {

void require_one_window(const char* part, std::uint64_t size, const char* called,
                        std::size_t length, const char* remedy) {
  if (size > length) return;
  throw DataError("data.length = ", length, " needs at least ", length + 1, " ", part, " ", called,
                  ", there are ", size, "; choose a smaller data.length or ", remedy);
}

constexpr std::uint64_t block_size = 1 << 20;
constexpr std::uint64_t quickly_read = 64;

constexpr std::size_t bytes_of_block = 1 << 22;

}  // namespace

ByteCorpus::ByteCorpus(const std::vector<std::filesystem::path>& files)
    : files_(files), starts_{0} {
  for (std::size_t i = 0; i < files_.count(); ++i) {
    std::array<std::uint8_t, 2> front{};
    if (files_.size(i) >= front.size()) files_.read_at(i, 0, front);
    refuse_gzip(front, files[i].string());
    starts_.push_back(starts_.back() + files_.size(i));
  }
}

void ByteCorpus::read(std::uint64_t begin, std::span<std::uint8_t> out) const {
  require(begin <= size() && out.size() <= size() - begin, "byte_corpus", "bytes ", begin, " to ",
          begin + out.size(), " of ", size(), " do not exist");
  auto file = std::size_t(std::ranges::upper_bound(starts_, begin) - starts_.begin()) - 1;
  for (; !out.empty(); ++file) {
    const std::size_t count = std::min<std::uint64_t>(starts_[file + 1] - begin, out.size());
    files_.read_at(file, begin - starts_[file], out.first(count));
    out = out.subspan(count);
    begin += count;
  }
}

std::optional<std::uint64_t> ByteCorpus::fingerprint(std::stop_token stop) const {
  Digest digest;
  digest.update(starts_.data(), starts_.size() * sizeof(starts_[0]));
  std::vector<std::uint8_t> block(block_size);
  for (std::uint64_t begin = 0; begin < size(); begin += block_size) {
    if (stop.stop_requested()) return std::nullopt;
    const std::span bytes(block.data(), std::min(block_size, size() - begin));
    read(begin, bytes);
    digest.update(bytes.data(), bytes.size());
  }
  return digest.value();
}

std::uint64_t ByteCorpus::marks() const {
  return size() <= block_size * quickly_read ? 0 : file_marks();
}

std::uint64_t ByteCorpus::file_marks() const {
  std::uint64_t marks = 1;
  for (std::size_t i = 0; i < files_.count(); ++i)
    marks = digest_of_elements(files_.marks(i), marks);
  return marks;
}

void TextWindows::split(std::uint64_t tokens, const char* called, double validation,
                        std::uint64_t seed) {
  require(length_ >= 1, "text_windows", "data.length = 0: must be at least 1");
  size_ = tokens;
  train_size_ = tokens - held_out(tokens, validation);
  require_one_window("training", train_size_, called, length_, "add files");
  if (validation > 0)
    require_one_window("validation", validation_size(), called, length_,
                       "a larger data.validation");
  const std::uint64_t fitting = (train_size_ - 1) / length_;
  const std::uint64_t validating = validation_size() == 0 ? 0 : (validation_size() - 1) / length_;
  examples_ = {seed, std::max<std::uint64_t>(fitting - 1, 1), validating};
}

std::uint64_t TextWindows::begin(Split split, const Examples::Number& number) const {
  const std::uint64_t place = number.index * length_;
  if (split == Split::validation) return train_size_ + place;
  const std::uint64_t left_over = train_size_ - 1 - examples_.train * length_;
  return place + epoch_offset(examples_.seed, number.epoch,
                              std::min<std::uint64_t>(length_, left_over + 1));
}

Examples TextWindows::rest(Split split) const {
  const bool some = split == Split::validation && begin(split, {examples_.validation}) + 1 < size_;
  return {split, some ? std::vector<Examples::Number>{{examples_.validation}}
                      : std::vector<Examples::Number>{}};
}

Batch TextWindows::batch(const Examples& examples) const {
  const std::size_t count = examples.size();
  const bool is_rest = examples.split == Split::validation && count == 1 &&
                       examples.index(0) == examples_.validation;
  const std::size_t length =
      is_rest ? std::size_t(size_ - 1 - begin(examples.split, examples.numbers[0])) : length_;
  const Indices tokens{{count, length}, std::vector<std::int32_t>(count * length)};
  Batch batch{tokens, tokens};
  std::vector<std::int32_t> window(length + 1);
  for (std::size_t row = 0; row < count; ++row) {
    read(begin(examples.split, examples.numbers[row]), window);
    std::copy(window.begin(), window.end() - 1, batch.inputs.values.begin() + row * length);
    std::copy(window.begin() + 1, window.end(), batch.targets.values.begin() + row * length);
  }
  return batch;
}

std::string TextWindows::describe() const {
  return format_number_of(corpus_.file_count(), "file") + ", " +
         format_bytes(double(corpus_.size()));
}

ByteWindows::ByteWindows(ByteCorpus corpus, std::size_t length, double validation,
                         std::uint64_t seed)
    : TextWindows(std::move(corpus), length) {
  split(corpus_.size(), "bytes", validation, seed);
}

void ByteWindows::read(std::uint64_t begin, std::span<std::int32_t> out) const {
  std::vector<std::uint8_t> bytes(out.size());
  corpus_.read(begin, bytes);
  std::ranges::copy(bytes, out.begin());
}

std::string ByteWindows::describe_splits() const {
  return format_bytes(double(train_bytes())) + " to train, " +
         format_bytes(double(validation_bytes())) + " to validate";
}

std::string_view front_line(std::string_view text, std::size_t most) {
  const std::string_view front = text.substr(0, most);
  if (const std::size_t end = front.find('\n'); end != front.npos) return front.substr(0, end + 1);
  if (front.size() == text.size()) return text;
  if (const std::size_t space = front.rfind(' '); space != front.npos)
    return front.substr(0, space + 1);
  std::size_t size = front.size();
  for (int i = 0; i < 3 && size > 1 && continues_character(text[size]); ++i) --size;
  return front.substr(0, size);
}

LineReader::LineReader(const ByteCorpus& text, std::size_t longest)
    : text_(text), longest_(longest) {}

void LineReader::fill() {
  const std::uint64_t more =
      std::min<std::uint64_t>(text_.size() - filled_, bytes_of_block + longest_ - rest_.size());
  std::string block(rest_);
  block.resize(rest_.size() + more);
  text_.read(filled_, {reinterpret_cast<std::uint8_t*>(block.data()) + rest_.size(), more});
  filled_ += more;
  block_ = std::move(block);
  rest_ = block_;
}

std::string_view LineReader::next() {
  if (rest_.size() <= longest_ && filled_ < text_.size()) fill();
  const std::string_view line = front_line(rest_, longest_);
  rest_.remove_prefix(line.size());
  return line;
}

}  // namespace bochner
