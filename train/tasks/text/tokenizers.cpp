#include <fmt/format.h>

#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/train/storage/storage.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/text/tokenizers.hpp>
#include <cstdlib>
#include <filesystem>

namespace bochner {
namespace {

std::string read_model(const std::string& path) {
  const RegularFile file(path);
  if (file.size() > largest_tokenizer)
    throw DataError(path, ": too large for a SentencePiece model");
  std::string bytes(file.size(), '\0');
  file.read_at(0, {reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()});
  return bytes;
}

/// Returns the folder of cached tokens of large texts.
Path cache_folder(const Config& config) {
  if (const std::string& chosen = config.text("data.tokenizer.cache"); !chosen.empty())
    return chosen;
  for (const auto& [variable, below] :
       {std::pair{"XDG_CACHE_HOME", "bochner"}, std::pair{"HOME", ".cache/bochner"}})
    if (const char* folder = std::getenv(variable); folder && *folder == '/')
      return Path(folder) / below;
  fail(config, "data.tokenizer.cache",
       "must name a folder for the tokens of this text: HOME and XDG_CACHE_HOME are not set");
}

void write_cache(const Path& file, const ByteCorpus& text, const Tokenizer& tokenizer,
                 const EncodingCallbacks& callbacks) {
  if (callbacks.report)
    callbacks.report(fmt::format("encoding {} of text, once; its tokens go to {}",
                                 format_bytes(double(text.size())), file.string()));
  PosixStorage storage;
  make_directories(storage, file.parent_path());
  commit_file(storage, file, [&](StoredFile& out) {
    const auto sink = [&](std::string_view piece) { out.append(piece.data(), piece.size()); };
    write_encoded(text, tokenizer, sink, callbacks.poll);
  });
}

/// Returns the file with the tokens of a large text, written if missing. `id`: its encoding_id().
Path tokens_on_disk(const Config& config, const ByteCorpus& text, const Tokenizer& tokenizer,
                    std::uint64_t id, const EncodingCallbacks& callbacks) {
  const Path file = cache_folder(config) / fmt::format("{:016x}.tokens", id);
  if (!PosixStorage().exists(file)) write_cache(file, text, tokenizer, callbacks);
  return file;
}

}  // namespace

bool has_words(const Config& config) {
  return config.text("data.tokenizer.kind") == "sentencepiece";
}

void check_tokenizer(const Config& config) {
  if (!has_words(config)) return;
  if (config.text("data.tokenizer.model").empty())
    fail(config, "data.tokenizer.model",
         "must name a model; make one with: bochner data tokenizer FILE... -o words.model",
         "data.tokenizer.kind");
  if (config.text("model.positions") == "encoding")
    fail(config, "model.positions", "needs bytes as tokens: pieces of words have no separator",
         "data.tokenizer.kind");
}

std::string tokenizer_file(const Config& config) {
  if (!has_words(config)) return "";
  return read_model(config.text("data.tokenizer.model"));
}

std::shared_ptr<const Tokenizer> tokenizer_of(const Config& config, std::uint64_t digest) {
  if (!has_words(config)) return make_byte_tokenizer();
  const std::string& name = config.text("data.tokenizer.model");
  const std::string model = tokenizer_file(config);
  if (digest != 0 && digest_of(model.data(), model.size()) != digest)
    throw DataError(name, ": not the tokenizer that the model was trained with; restore that file");
  return make_piece_tokenizer(bytes_of(model), name);
}

EncodedText encoded_text(const Config& config, const ByteCorpus& text, const Tokenizer& tokenizer,
                         const EncodingCallbacks& callbacks) {
  if (text.size() <= encoded_in_memory) return EncodedText(text, tokenizer);
  const std::uint64_t id = encoding_id(text, tokenizer);
  return EncodedText(tokens_on_disk(config, text, tokenizer, id, callbacks), id);
}

void prepare_encoded_text(const Config& config, const EncodingCallbacks& callbacks) {
  if (!has_words(config) || config.text("data.kind") != "bytes") return;
  const ByteCorpus text(data_files(config));
  if (text.size() <= encoded_in_memory) return;
  const auto tokenizer = tokenizer_of(config);
  tokens_on_disk(config, text, *tokenizer, encoding_id(text, *tokenizer), callbacks);
}

}  // namespace bochner
