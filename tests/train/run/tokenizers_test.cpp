#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/train/tasks/text/tokenizers.hpp>

#include "data/small_tokenizer.hpp"
#include "train/thread_processes.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace words_test {

using testing::AllOf;
using testing::HasSubstr;

/// A run on pieces of words.
struct WordRun : testing::Test {
  TemporaryFolder folder;
  PosixStorage storage;
  Path run = folder.path() / "run";
  std::string model = small_model();
  std::vector<std::string> notes;

  Config config(const std::vector<std::string>& more = {}) {
    std::vector<std::string> sets = {
        "data.tokenizer.kind=sentencepiece",
        "data.tokenizer.model='" + folder.write("words.model", model).string() + "'"};
    sets.insert(sets.end(), more.begin(), more.end());
    return tiny_config(folder.write("text", text_of_words()), sets);
  }
  void start(std::uint64_t until) {
    Session session = Session::start({storage, run, "test"}, config());
    run_leg(session, 1, Ending::signal, until);
  }
  void resume() {
    Session session = Session::resume({storage, run}, {}, true, notes);
    run_leg(session, 1);
  }
};

TEST_F(WordRun, KeepsItsModel) {
  start(5);
  EXPECT_EQ(read_file(storage, run / "tokenizer.model"), model);
  std::filesystem::remove(folder.path() / "words.model");
  resume();
  const std::string metrics = read_file(storage, run / "metrics.jsonl");
  EXPECT_THAT(metrics, AllOf(HasSubstr("\"bits_per_byte\""), HasSubstr("\"valid\"")));
}

TEST_F(WordRun, IsJoinedByOthersWithItsModel) {
  {
    Session session = Session::start({storage, run, "test"}, config({"train.shards=2"}));
    run_leg(session, 1, Ending::signal, 5);
  }
  std::filesystem::remove(folder.path() / "words.model");
  run_processes(2, [&](Processes& processes) {
    std::vector<std::string> told;
    Session session = processes.leads()
                          ? Session::resume({storage, run, "", {}, processes}, {}, true, told)
                          : Session::join(processes);
    session.trainer().step();
    session.require_equal_weights();
    EXPECT_THAT(session.config().text("data.tokenizer.model"), HasSubstr("words.model"));
  });
}

TEST_F(WordRun, RefusesAnotherModel) {
  start(5);
  commit_file(storage, run / "tokenizer.model", small_model("bpe"));
  EXPECT_THAT(message_of<DataError>([&] { resume(); }),
              HasSubstr("run/tokenizer.model: not the tokenizer that the model was trained with"));
  commit_file(storage, run / "tokenizer.model", model);
  resume();
}

TEST_F(WordRun, SaysThatAForkHasOtherTokens) {
  start(5);
  const auto fork = [&](const Config& into, const std::string& name) {
    notes.clear();
    Session::fork({storage, folder.path() / name, "test"}, {run, ""}, into, {}, notes);
    return std::ranges::count(notes, "tokens differ from the parent's: data.tokenizer");
  };
  Config other = config();
  EXPECT_EQ(fork(config(), "same"), 0);
  other.set("data.tokenizer.model", folder.write("bpe.model", small_model("bpe")).string(), "test");
  EXPECT_EQ(fork(other, "other"), 1);
}

TEST_F(WordRun, GoesOnBitForBit) {
  start(5);
  resume();
  const Path stopped = run;
  run = folder.path() / "whole";
  Session whole = Session::start({storage, run, "test"}, config());
  run_leg(whole, 2);
  EXPECT_EQ(read_file(storage, stopped / "metrics.jsonl"),
            read_file(storage, run / "metrics.jsonl"));
}

/// 3.1 bits of a piece of two bytes are 1.55 of a byte.
TEST_F(WordRun, CountsBitsByBytes) {
  const auto task = make_task(config());
  const Evaluation all = evaluate_all(*task, Split::validation, 2);
  const auto tokenizer = tokenizer_of(config());
  const std::vector<std::int32_t> tokens = tokenizer->encode(text_of_words());
  const std::size_t held = held_out(tokens.size(), 0.1);
  double bytes = 0;
  for (std::size_t i = tokens.size() - held + 1; i < tokens.size(); ++i)
    bytes += double(tokenizer->bytes(tokens[i], false).size());
  EXPECT_EQ(all.terms, held - 1);
  EXPECT_NEAR(all.mean("bits_per_byte"), all.loss_sum / std::log(2.0) / bytes, 1e-9);
  EXPECT_THAT(all.words(), HasSubstr("bits/byte"));
}

/// The tokens of a large text are made once, and found again.
TEST_F(WordRun, FindsTheTokensOfALargeText) {
  std::string large;
  while (large.size() <= encoded_in_memory) large += text_of_words();
  const Config recipe =
      tiny_config(folder.write("text", large),
                  {"data.tokenizer.kind=sentencepiece",
                   "data.tokenizer.cache='" + (folder.path() / "c").string() + "'",
                   "data.tokenizer.model='" + folder.write("words.model", model).string() + "'"});
  const ByteCorpus text({folder.path() / "text"});
  std::vector<std::string> told;
  const EncodingCallbacks words{[&](const std::string& line) { told.push_back(line); }};
  const auto tokenizer = tokenizer_of(recipe);
  const EncodedText first = encoded_text(recipe, text, *tokenizer, words);
  const EncodedText again = encoded_text(recipe, text, *tokenizer, words);
  EXPECT_THAT(told,
              testing::ElementsAre(HasSubstr("encoding 16.8 MB of text, once; its tokens go to ")));
  EXPECT_EQ(first.size(), again.size());
  // What killed encodings have left goes, unless another machine may still write it.
  const Path tokens = folder.path() / "c" / storage.list(folder.path() / "c").at(0);
  std::filesystem::remove(tokens);
  const auto left_by = [&](int process) {
    return folder.write(
        in_words("c/", tokens.filename().string(), ".", process, ".0", temporary_suffix), "some");
  };
  const int nobody = 2000000000;
  const Path old = left_by(nobody), fresh = left_by(nobody + 1);
  std::filesystem::last_write_time(
      old, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  encoded_text(recipe, text, *tokenizer, words);
  EXPECT_THAT(storage.list(folder.path() / "c"),
              testing::ElementsAre(tokens.filename().string(), fresh.filename().string()));
  const auto stop = [] { throw StoppedError("stopped"); };
  const Config other =
      tiny_config(folder.path() / "text",
                  {"data.tokenizer.kind=sentencepiece",
                   "data.tokenizer.cache='" + (folder.path() / "d").string() + "'",
                   "data.tokenizer.model='" + folder.write("words.model", model).string() + "'"});
  EXPECT_THROW(prepare_encoded_text(other, {{}, stop}), StoppedError);
  EXPECT_TRUE(storage.list(folder.path() / "d").empty());
}

TEST_F(WordRun, NeedsAModel) {
  EXPECT_THAT(
      message_of<ConfigError>([&] { tiny_config("text", {"data.tokenizer.kind=sentencepiece"}); }),
      HasSubstr(
          "data.tokenizer.model = \"\": must name a model; make one with: bochner data tokenizer"));
  EXPECT_THAT(message_of<ConfigError>([&] {
                config({"model.positions=encoding", "model.encoding.kind=additive"});
              }),
              HasSubstr("needs bytes as tokens"));
}

}  // namespace words_test
}  // namespace bochner
