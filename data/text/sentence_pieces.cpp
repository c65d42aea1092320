#include <bochner/data/text/tokenizer.hpp>

#ifdef BOCHNER_SENTENCEPIECE
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/data/formats/piece_model.hpp>
#include <bochner/data/text/token_windows.hpp>
#include <unordered_map>

namespace bochner {
namespace {

constexpr std::string_view space_mark = "\xe2\x96\x81";  // U+2581, the piece character for a space
constexpr std::int32_t none = -1;

std::string with_spaces(std::string_view piece) {
  std::string text;
  while (!piece.empty()) {
    const bool space = piece.starts_with(space_mark);
    text += space ? ' ' : piece[0];
    piece.remove_prefix(space ? space_mark.size() : 1);
  }
  return text;
}

std::string bytes_of(const Piece& piece) {
  if (piece.kind == Piece::Kind::byte)
    return {char(std::stoi(piece.text.substr(3, 2), nullptr, 16))};
  if (piece.kind == Piece::Kind::unknown) return " \xe2\x81\x87 ";  // as SentencePiece shows it
  const bool is_silent = piece.kind == Piece::Kind::control || piece.kind == Piece::Kind::unused;
  return is_silent ? "" : with_spaces(piece.text);
}

/// Returns how many leading bytes the library encodes unchanged: UTF-8 without its space character.
std::size_t plain_size(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size() && !text.substr(size).starts_with(space_mark)) {
    const std::size_t next = utf8_size(text.substr(size));
    if (next == 0) break;
    size += next;
  }
  return size;
}

class PieceTokenizer : public Tokenizer {
 public:
  PieceTokenizer(ByteSpan model, const std::string& name)
      : digest_(digest_of(model.data(), model.size())) {
    const PieceModel parsed = parse_piece_model(model, name);
    adds_space_ = parsed.adds_space;
    tokens_of_bytes_.assign(256, none);
    for (std::size_t i = 0; i < parsed.pieces.size(); ++i) {
      bytes_.push_back(bytes_of(parsed.pieces[i]));
      if (parsed.pieces[i].kind == Piece::Kind::byte)
        tokens_of_bytes_[static_cast<unsigned char>(bytes_[i][0])] = std::int32_t(i);
    }
    longest_ = std::ranges::max(bytes_, {}, &std::string::size).size();
    const std::string_view bytes(reinterpret_cast<const char*>(model.data()), model.size());
    const auto status = pieces_.LoadFromSerializedProto(bytes);
    if (!status.ok() || std::size_t(pieces_.GetPieceSize()) != vocabulary())
      throw DataError(name, ": SentencePiece rejects it: ", excerpt(status.message()));
  }

  std::size_t vocabulary() const override { return bytes_.size(); }
  std::size_t longest() const override { return longest_; }
  std::uint64_t digest() const override { return digest_; }

  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> tokens;
    while (!text.empty()) {
      std::string_view line = front_line(text);
      text.remove_prefix(line.size());
      const bool ends = line.ends_with('\n');
      if (ends) line.remove_suffix(1);
      encode_line(line, tokens);
      if (ends && tokens_of_bytes_['\n'] != none) tokens.push_back(tokens_of_bytes_['\n']);
    }
    return tokens;
  }

  std::string_view bytes(std::int32_t token, bool begins_line) const override {
    std::string_view bytes = bytes_[std::size_t(token)];
    if (begins_line && adds_space_ && bytes.starts_with(' ')) bytes.remove_prefix(1);
    return bytes;
  }

 private:
  /// Encodes a line; what the library would replace becomes byte pieces, if there are any.
  void encode_line(std::string_view line, std::vector<std::int32_t>& tokens) const {
    if (tokens_of_bytes_[0] == none) return encode_plain(line, tokens);
    while (!line.empty()) {
      const std::size_t plain = plain_size(line);
      encode_plain(line.substr(0, plain), tokens);
      line.remove_prefix(plain);
      const std::size_t other =
          line.starts_with(space_mark) ? space_mark.size() : std::min<std::size_t>(line.size(), 1);
      for (const char byte : line.substr(0, other))
        tokens.push_back(tokens_of_bytes_[static_cast<unsigned char>(byte)]);
      line.remove_prefix(other);
    }
  }

  void encode_plain(std::string_view text, std::vector<std::int32_t>& tokens) const {
    if (text.empty()) return;
    std::vector<int> pieces;
    const auto status = pieces_.Encode(text, &pieces);
    if (!status.ok()) throw DataError("SentencePiece: ", excerpt(status.message()));
    tokens.insert(tokens.end(), pieces.begin(), pieces.end());
  }

  std::uint64_t digest_;
  std::vector<std::string> bytes_;
  std::vector<std::int32_t> tokens_of_bytes_;
  std::size_t longest_ = 0;
  bool adds_space_ = false;
  sentencepiece::SentencePieceProcessor pieces_;
};

/// sentencepiece::util::Status, or absl's since 0.2.1.
using Status = decltype(std::declval<const sentencepiece::SentenceIterator&>().status());

/// Removes the position and the advice for other options from a message:
/// "./src/trainer_interface.cc(580) [condition] What is wrong. Increase this_option ..".
std::string words_of(const Status& status) {
  std::string_view message = status.message();
  const std::size_t place = message.rfind("] ");
  if (place != message.npos) message.remove_prefix(place + 2);
  return printable(message.substr(0, message.find(". Increase ")));
}

/// Evenly spread lines of a text, for the trainer.
class Sentences : public sentencepiece::SentenceIterator {
 public:
  static constexpr std::size_t longest = 4000;  // the library's limit is 4192

  Sentences(const ByteCorpus& text, std::uint64_t bytes)
      : lines_(text, longest),
        share_(double(bytes) / double(std::max<std::uint64_t>(1, text.size()))) {
    Next();
  }
  bool done() const override { return line_.empty(); }
  const std::string& value() const override { return line_; }
  Status status() const override { return {}; }

  void Next() override {
    do {
      const std::string_view line = lines_.next();
      line_ = line.substr(0, line.size() - line.ends_with('\n'));
      if (line.empty()) return;
    } while (line_.empty() || double(taken_) > share_ * double(lines_.place()));
    taken_ += line_.size();
  }

 private:
  LineReader lines_;
  double share_;
  std::uint64_t taken_ = 0;
  std::string line_;
};

/// Returns whether the trainer gets a sentence: SentencePiece skips sentences with a zero byte, and
/// terminates if none is left.
bool has_sentences(const ByteCorpus& text, std::uint64_t bytes) {
  for (Sentences all(text, bytes); !all.done(); all.Next())
    if (all.value().find('\0') == std::string::npos) return true;
  return false;
}

}  // namespace

std::unique_ptr<Tokenizer> make_piece_tokenizer(ByteSpan model, const std::string& name) {
  return std::make_unique<PieceTokenizer>(model, name);
}

std::string train_tokenizer(const ByteCorpus& text, const TokenizerTraining& training) {
  const std::unordered_map<std::string, std::string> options{
      {"model_type", training.model},
      {"vocab_size", std::to_string(training.vocabulary)},
      {"hard_vocab_limit", "false"},
      // Encodes texts unchanged, and reversibly.
      {"normalization_rule_name", "identity"},
      {"remove_extra_whitespaces", "false"},
      {"allow_whitespace_only_pieces", "true"},
      {"add_dummy_prefix", "false"},
      {"byte_fallback", "true"},
      {"bos_id", "-1"},
      {"eos_id", "-1"},
      // Sums are merged by thread: another number of threads would change the model.
      {"num_threads", "4"},
      {"minloglevel", "3"}};
  if (!has_sentences(text, training.bytes))
    throw DataError(
        "no words can be learned: the text is empty, or each of its lines holds a zero "
        "byte");
  Sentences sentences(text, training.bytes);
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(options, &sentences, &model);
  if (!status.ok())
    throw DataError("no ", training.model, " model of ", training.vocabulary,
                    " pieces for this text: ", words_of(status));
  return model;
}

}  // namespace bochner

#else

#include <stdexcept>

namespace bochner {
namespace {

[[noreturn]] void refuse() {
  throw std::invalid_argument(
      "data.tokenizer = \"sentencepiece\": this program was built without SentencePiece; build it "
      "with -D BOCHNER_SENTENCEPIECE=ON");
}

}  // namespace

std::unique_ptr<Tokenizer> make_piece_tokenizer(ByteSpan, const std::string&) { refuse(); }
std::string train_tokenizer(const ByteCorpus&, const TokenizerTraining&) { refuse(); }

}  // namespace bochner

#endif
