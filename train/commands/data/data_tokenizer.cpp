#include <fmt/format.h>

#include <bochner/base/text.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/data/text/token_windows.hpp>
#include <bochner/data/text/tokenizer.hpp>
#include <bochner/train/commands/command_line.hpp>
#include <bochner/train/storage/output.hpp>

namespace bochner {
namespace {

constexpr std::size_t fewest_pieces = 257;  // 256 bytes and the unknown piece

struct TokenizerOptions {
  std::vector<std::string> files;
  std::string output;
  TokenizerTraining training;
};

void data_tokenizer_command(const TokenizerOptions& options) {
  const TokenizerTraining& training = options.training;
  demand(training.model == "unigram" || training.model == "bpe",
         "--model {}: must be unigram or bpe", training.model);
  demand(training.vocabulary > fewest_pieces && training.vocabulary <= 1 << 20,
         "--vocabulary {}: must be between {} and {}; each byte is a piece", training.vocabulary,
         fewest_pieces + 1, 1 << 20);
  demand(training.bytes > 0, "--bytes 0: must be at least 1");
  require_folder(options.output);
  const ByteCorpus text(expand_files(options.files, std::filesystem::current_path()));
  const std::string model = train_tokenizer(text, training);
  write_output(options.output, [&](const Sink& sink) { sink(model); });
  if (options.output == "-") return;
  const auto made = make_piece_tokenizer(bytes_of(model), options.output);
  fmt::print("{}   {}, {} pieces of {}\n", printable(options.output), training.model,
             made->vocabulary(), format_bytes(double(text.size())));
}

}  // namespace

void add_data_tokenizer(const Command& group) {
  const auto [command, options] =
      group.command("tokenizer", "train a subword tokenizer for data.tokenizer = \"sentencepiece\"",
                    data_tokenizer_command);
  command.option("files", &options.files, "texts: files or globs", "FILE").required();
  command.option("--output,-o", &options.output, "model to write", "FILE").required();
  TokenizerTraining& training = options.training;
  command.option("--model", &training.model, "unigram or bpe", "KIND").shows_default();
  command.number("--vocabulary", &training.vocabulary,
                 "largest number of pieces, including 256 bytes");
  command.number("--bytes", &training.bytes,
                 "largest number of bytes to train on, in lines spread evenly");
}

}  // namespace bochner
