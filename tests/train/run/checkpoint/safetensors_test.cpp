#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/files/gzip.hpp>
#include <bochner/train/run/checkpoint/safetensors.hpp>
#include <bochner/train/run/session.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <cstring>

#include "data/temporary_folder.hpp"
#include "faults/crashing_storage.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace safetensors_test {

using testing::HasSubstr;

/// A file with this header and so many bytes of data.
std::string file_of(const std::string& header, std::size_t data) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header +
         std::string(data, '\0');
}

std::string written(const std::vector<TensorRecord>& tensors, const SafetensorsTexts& texts) {
  std::string file;
  write_safetensors([&](std::string_view piece) { file += piece; }, tensors, texts);
  return file;
}

TEST(Safetensors, GiveBackTensorsAndTextsToTheBit) {
  Tensor a = zeros({2, 3}), none = zeros({0}), number = filled({}, real(7));
  for (std::size_t i = 0; i < a.size(); ++i) a.data()[i] = real(0.1) * real(i);
  const std::string file = written({{"b.c", a.shape(), a.data()},
                                    {"a", none.shape(), none.data()},
                                    {"n", number.shape(), number.data()}},
                                   {{"config", "[model]\nkind = \"lm\"\n"}});
  const Safetensors read(bytes_of(file), "file");
  EXPECT_EQ(read.size(), 3u);
  EXPECT_EQ(read.text("config"), "[model]\nkind = \"lm\"\n");
  EXPECT_EQ(read.text("step"), "");
  Tensor back = zeros({2, 3}), one = zeros({});
  EXPECT_EQ(read.copy_into("b.c", back), "");
  EXPECT_EQ(std::memcmp(back.data(), a.data(), a.size() * sizeof(real)), 0);
  EXPECT_EQ(read.copy_into("n", one), "");
  EXPECT_EQ(one(), 7);
  Tensor other = zeros({3, 2});
  EXPECT_EQ(read.copy_into("b.c", other), "b.c is (2, 3) in the file and (3, 2) in the model");
  EXPECT_EQ(read.copy_into("x", other), "x is missing");
}

/// Compares with NumPy 1.24: np.array(bits, "u2").view("f2"), and with the upper half of a float.
TEST(Safetensors, GiveShortFloatsTheirValues) {
  const auto read = [](const char* type, const std::vector<std::uint16_t>& bits) {
    const std::string header = std::string(R"({"a":{"dtype":")") + type + R"(","shape":[)" +
                               std::to_string(bits.size()) + R"(],"data_offsets":[0,)" +
                               std::to_string(2 * bits.size()) + "]}}";
    std::string file = file_of(header, 2 * bits.size());
    std::memcpy(file.data() + file.size() - 2 * bits.size(), bits.data(), 2 * bits.size());
    Tensor values = zeros({bits.size()});
    EXPECT_EQ(Safetensors(bytes_of(file), "file").copy_into("a", values), "");
    return std::vector<double>(values.begin(), values.end());
  };
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(read("F16", {0x3c00, 0xc000, 0x3555, 0x7bff, 0x0001, 0x83ff, 0x0400, 0x7c00, 0xfc00}),
            (std::vector<double>{1, -2, 0.333251953125, 65504, 0x1p-24, -1023 * 0x1p-24, 0x1p-14,
                                 infinity, -infinity}));
  EXPECT_EQ(read("BF16", {0x3f80, 0xc000, 0x3eab, 0x7f7f, 0x0001, 0x7f80}),
            (std::vector<double>{1, -2, 0.333984375, 0x1.fep127, 0x1p-133, infinity}));
  EXPECT_TRUE(std::isnan(read("F16", {0x7e00})[0]) && std::isnan(read("BF16", {0x7fc0})[0]));
  EXPECT_TRUE(std::signbit(read("F16", {0x8000})[0]));
}

TEST(Safetensors, RoundShortFloatsToTheNearest) {
  const auto rounded = [](const char* type, std::initializer_list<double> numbers) {
    Tensor x = uninitialized({numbers.size()}), y = x;
    std::transform(numbers.begin(), numbers.end(), x.data(), [](double u) { return real(u); });
    std::string file;
    write_safetensors([&](std::string_view piece) { file += piece; }, {{"a", x.shape(), x.data()}},
                      {}, type);
    EXPECT_EQ(Safetensors(bytes_of(file), "file").copy_into("a", y), "");
    return std::vector<double>(y.begin(), y.end());
  };
  EXPECT_EQ(rounded("F16", {1.0 / 3, 2049, 2051, -65519, 0x1p-25, 0x1.8p-25, -0x1.fffp-15, 0}),
            (std::vector<double>{0.333251953125, 2048, 2052, -65504, 0, 0x1p-24, -0x1p-14, 0}));
  EXPECT_EQ(rounded("BF16", {1.0 / 3, 0x1.01p0, 0x1.03p0, -1e-40, 3e38}),
            (std::vector<double>{0.333984375, 1, 0x1.04p0, -0x1p-133, 0x1.c4p127}));
  EXPECT_EQ(rounded("F64", {0.5, -3}), (std::vector<double>{0.5, -3}));
  for (const auto& [type, large, larger] :
       {std::tuple{"F16", 65520., "F32 or BF16"}, {"BF16", 3.4e38, "F32"}})
    EXPECT_EQ(message_of<std::invalid_argument>([&] {
                rounded(type, {1, real(large)});
              }),
              fmt::format("a has a number that {} cannot hold; write {}", type, larger));
}

TEST(Safetensors, HaveANameEach) {
  const Tensor one = zeros({1});
  const TensorRecord record{"twin", one.shape(), one.data()};
  EXPECT_THROW(write_safetensors([](std::string_view) {}, {record, record}), std::invalid_argument);
}

TEST(Safetensors, RefuseWhatTheBytesCannotHold) {
  const auto error = [](const std::string& file) {
    return message_or_none<DataError>([&] { Safetensors(bytes_of(file), "file"); });
  };
  const auto entry = [](const char* dtype, const char* shape, const char* offsets) {
    return std::string("{\"a\":{\"dtype\":\"") + dtype + "\",\"shape\":" + shape +
           ",\"data_offsets\":" + offsets + "}}";
  };
  EXPECT_EQ(error(file_of(entry("F32", "[2]", "[0,8]"), 8)), "");
  EXPECT_THAT(error("short"), HasSubstr("not a safetensors file"));
  EXPECT_THAT(error(file_of("{}", 0).substr(0, 9)), HasSubstr("or truncated"));
  EXPECT_THAT(error(std::string(16, '\xff')), HasSubstr("or truncated"));
  EXPECT_THAT(error(file_of("[1]", 0)), HasSubstr("not a JSON object"));
  EXPECT_THAT(error(file_of("{\"a\":", 0)), HasSubstr("not a JSON object"));
  for (const auto& [dtype, shape, offsets] :
       std::vector<std::array<const char*, 3>>{{"F32", "[2]", "[0,9]"},
                                               {"F32", "[2]", "[8,0]"},
                                               {"F32", "[3]", "[0,8]"},
                                               {"F32", "[2]", "[8,16]"},
                                               {"F32", "[2]", "[0]"},
                                               {"F32", "[-2]", "[0,8]"},
                                               {"F32", "[1.5]", "[0,8]"},
                                               {"F32", "[4611686018427387904,4]", "[0,8]"},
                                               {"F32", "[2]", "[0,1e300]"},
                                               {"F64", "[2]", "[0,8]"}})
    EXPECT_THAT(error(file_of(entry(dtype, shape, offsets), 8)),
                HasSubstr("exceeds the file or does not have the size of its shape"))
        << shape << offsets;
  EXPECT_EQ(error(file_of(entry("BF16", "[4]", "[0,8]"), 8)), "");
  EXPECT_THAT(error(file_of(entry("F16", "[2]", "[0,8]"), 8)), HasSubstr("size of its shape"));
  EXPECT_THAT(error(file_of(entry("I32", "[2]", "[0,8]"), 8)), HasSubstr("type F16, BF16, F32 or"));
  EXPECT_THAT(error(file_of(R"({"a\nb":{"dtype":"F8_E4M3"}})", 0)),
              HasSubstr("a\\x0ab is not of type F16, BF16, F32 or F64"));
}

/// As the format has it.
TEST(Safetensors, HoldOneTensorBehindTheOther) {
  const auto error = [](const char* first, const char* second, std::size_t data) {
    const std::string header = std::string(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)") +
                               first + R"(},"b":{"dtype":"F32","shape":[1],"data_offsets":)" +
                               second + "}}";
    const std::string file = file_of(header, data);
    return message_or_none<DataError>([&] { Safetensors(bytes_of(file), "file"); });
  };
  EXPECT_EQ(error("[0,8]", "[8,12]", 12), "");
  EXPECT_EQ(error("[4,12]", "[0,4]", 12), "");
  EXPECT_THAT(error("[0,8]", "[4,8]", 8), HasSubstr("overlap, or there are gaps"));
  EXPECT_THAT(error("[0,8]", "[12,16]", 16), HasSubstr("overlap, or there are gaps"));
  EXPECT_THAT(error("[4,12]", "[12,16]", 16), HasSubstr("overlap, or there are gaps"));
  EXPECT_THAT(error("[0,8]", "[8,12]", 16), HasSubstr("trailing bytes after the last tensor"));
}

struct AdoptedRun : testing::Test {
  TemporaryFolder folder;
  faults::CrashingStorage storage;
};

TEST_F(AdoptedRun, HoldsTheWeightsThatItIsGivenAndGoesOn) {
  const Config config =
      tiny_config(folder.write("text", tiny_text()), {"optim.ema=0.9", "model.mixer.kind=linear"});
  start_leg(storage, config, 1, Ending::signal, 7);
  const std::map<std::string, std::string> trained =
      tensor_bytes(RunDirectory::read(storage, tiny_run).load_step(7));
  {
    const CheckpointReader checkpoint = RunDirectory::read(storage, tiny_run).load_step(7);
    const auto learner = make_learner(config, {checkpoint.facts()});
    for (const NamedParameter& named : parameters_of(learner->model()))
      checkpoint.load_into("model/" + named.name, named.parameter->value());
    write_imported_run({storage, "other", "test"}, config, "file", *learner, {.step = 7});
  }
  const std::map<std::string, std::string> adopted =
      tensor_bytes(RunDirectory::read(storage, "other").load_step(7));
  for (const auto& [name, bytes] : trained) {
    if (name.starts_with("model/")) {
      EXPECT_EQ(adopted.at(name), bytes) << name;
    }
  }
  std::vector<std::string> notes;
  Session session = Session::resume({storage, "other"}, {}, true, notes);
  EXPECT_EQ(session.state().step, 7u);
  session.save();
  const std::map<std::string, std::string> resumed =
      tensor_bytes(RunDirectory::read(storage, "other").load_step(7));
  for (const auto& [name, bytes] : resumed) {
    if (name.starts_with("ema/")) {
      EXPECT_EQ(bytes, trained.at("model/" + name.substr(4))) << name;
    }
  }
  run_leg(session, 1);
  EXPECT_EQ(session.state().step, run_steps);
}

TEST_F(AdoptedRun, OfNoStepsIsSavedAsItStarts) {
  const Config config = tiny_config(folder.write("text", tiny_text()), {"train.steps=0"});
  start_leg(storage, config, 1);
  const std::map<std::string, std::string> saved =
      tensor_bytes(RunDirectory::read(storage, tiny_run).load_step(0));
  const auto task = make_task(config);
  for (const NamedParameter& named : parameters_of(task->model())) {
    const Tensor& value = named.parameter->value();
    EXPECT_EQ(saved.at("model/" + named.name),
              std::string(reinterpret_cast<const char*>(value.data()), value.size() * sizeof(real)))
        << named.name;
  }
  std::vector<std::string> notes;
  Session session = Session::resume({storage, tiny_run}, {"train.steps=3"}, true, notes);
  run_leg(session, 1);
  EXPECT_EQ(session.state().step, 3u);
}

TEST_F(AdoptedRun, ThatEndedBeforeItsCheckpointDoesNotBeginAnew) {
  const Config config = tiny_config(folder.write("text", tiny_text()));
  write_imported_run({storage, "other", "test"}, config, "w.safetensors", *make_learner(config, {}),
                     {});
  storage.unlink("other/checkpoints/step-000000000000.ckpt");
  std::vector<std::string> notes;
  EXPECT_EQ(message_of<DataError>([&] {
              Session::resume({storage, "other"}, {}, true, notes);
            }),
            "other: was to start from the weights of w.safetensors but ended before its first "
            "checkpoint; fork or import them again");
}

}  // namespace safetensors_test
}  // namespace bochner
