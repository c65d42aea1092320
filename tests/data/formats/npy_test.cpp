#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/autodiff/tensor.hpp>
#include <bochner/base/errors.hpp>
#include <bochner/data/formats/npy.hpp>
#include <cstring>
#include <limits>

#include "data/golden_file.hpp"
#include "data/gzip_file.hpp"
#include "data/temporary_folder.hpp"

namespace bochner {
namespace npy_test {

using testing::HasSubstr;

template <class Number>
std::string data_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

std::string npy(const std::string& header, const std::string& data, char version = 1) {
  std::string file = "\x93NUMPY";
  file += version;
  file += '\0';
  for (int byte = 0; byte < (version == 1 ? 2 : 4); ++byte)
    file += char(header.size() >> (8 * byte) & 0xff);
  return file + header + data;
}

std::string header(const std::string& shape, const std::string& type = "<f4",
                   const std::string& order = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }  \n";
}

class Npy : public testing::Test {
 protected:
  xt::xarray<double> read(const std::string& bytes) {
    return read_npy(folder.write("a.npy", bytes));
  }
  std::string problem(const std::string& bytes) {
    return message_or_none<DataError>([&] { read(bytes); });
  }
  TemporaryFolder folder;
};

TEST_F(Npy, ReadsBothPrecisionsBothOrdersAndAllVersions) {
  const std::string floats = data_of<float>({1, 2, 3, 4, 5, 6});
  const std::string doubles = data_of<double>({1, 4, 2, 5, 3, 6});
  for (const char version : {char(1), char(2), char(3)})
    for (const std::string& file : {npy(header("(2, 3)"), floats, version),
                                    npy(header("(2, 3)", "<f8", "True"), doubles, version)}) {
      const xt::xarray<double> matrix = read(file);
      ASSERT_EQ(matrix.shape(), (xt::xarray<double>::shape_type{2, 3}));
      for (int i = 0; i < 6; ++i) EXPECT_EQ(matrix.data()[i], i + 1);
    }
}

TEST_F(Npy, RefusesWhatIsNoMatrixOfNumbers) {
  const std::string data = data_of<float>({1, 2, 3, 4});
  EXPECT_THAT(problem("PK\x03\x04 something else"), HasSubstr("is not a .npy file"));
  EXPECT_THAT(problem(""), HasSubstr("ends within its header"));
  EXPECT_THAT(problem(npy(header("(2, 2)"), data, 4)), HasSubstr("version"));
  for (const char* type : {"|O", "<c8", "<U4", "<f2", "<i3", "f4", ""})
    EXPECT_THAT(problem(npy(header("(2, 2)", type), data)), HasSubstr("elements of type")) << type;
  EXPECT_THAT(
      problem(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,)}", data)),
      HasSubstr("holds records"));
  EXPECT_THAT(problem(npy(header("(2, 2)", "<f4", "Maybe"), data)), HasSubstr("fortran_order"));
  EXPECT_THAT(problem(npy("{'descr': '<f4', 'fortran_order': False}", data)), HasSubstr("shape"));
  EXPECT_THAT(problem(npy("{'descr': '<f4', 'descr': '<f4'}", data)), HasSubstr("repeated key"));
  EXPECT_THAT(problem(npy("{'descr' '<f4'}", data)), HasSubstr("malformed header at byte 19"));
  for (const char* shape : {"(4,)", "(1, 2, 2)"})
    EXPECT_THAT(problem(npy(header(shape), data)), HasSubstr("not a matrix")) << shape;
  for (const char* shape : {"(-2, -2)", "(2, 2x)", "(2.0, 2)", "(2 2)", "4", "(,)", "(2, , 2)"})
    EXPECT_THAT(problem(npy(header(shape), data)), HasSubstr("has a shape")) << shape;
  EXPECT_THAT(problem(npy(header("(0, 4)"), "")), HasSubstr("is empty"));
  const std::string nan = data_of<float>({1, std::numeric_limits<float>::quiet_NaN()});
  EXPECT_THAT(problem(npy(header("(2, 1)"), nan)), HasSubstr("row 1"));
}

TEST_F(Npy, RefusesSizesThatTheFileDoesNotHold) {
  const std::string data = data_of<float>({1, 2, 3, 4});
  for (const char* shape :
       {"(1152921504606846976, 1)", "(1, 1152921504606846976)", "(3, 2)", "(1, 2)", "(4, 4)"})
    EXPECT_THAT(problem(npy(header(shape), data)), HasSubstr("and holds 16 bytes")) << shape;
  for (const char* shape :
       {"(4294967296, 4294967296)", "(9223372036854775809, 2)", "(0, 4294967296, 4294967296)"})
    EXPECT_THAT(problem(npy(header(shape), data)), HasSubstr("more than 2^60")) << shape;
  EXPECT_THAT(problem(npy(header("(18446744073709551616, 2)"), data)), HasSubstr("has a shape"));
  EXPECT_THAT(problem(npy(header("(2, 2)"), data + "x")), HasSubstr("and holds 17 bytes"));
}

TEST_F(Npy, RefusesHeadersThatAreTooLongOrCutOff) {
  const std::string whole = npy(header("(2, 2)"), data_of<float>({1, 2, 3, 4}));
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_NE(problem(whole.substr(0, length)), "") << length;
  std::string claim = npy("", "", 2);
  std::memset(claim.data() + 8, 0xff, 4);
  EXPECT_THAT(problem(claim), HasSubstr("header of 4294967295 bytes"));
}

TEST_F(Npy, SurvivesEveryChangedByte) {
  const std::string whole = npy(header("(2, 2)"), data_of<float>({1, 2, 3, 4}));
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const char byte : {'\0', '\xff', '(', ')', ',', '\'', '9'}) {
      std::string changed = whole;
      changed[at] = byte;
      problem(changed);  // a DataError or a matrix, nothing else
    }
}

TEST_F(Npy, SaysWhichFileIsMissing) { EXPECT_THROW(read_npy(folder.path() / "none.npy"), IoError); }

/// Returns element i of the arrays in tests/golden/arrays.
double golden(const std::string& type, std::size_t i) {
  const int number = int(i * 37 % 101);
  return type == "b1" ? number % 2 : type[0] == 'u' ? number : number - 50;
}

TEST(StoredArray, ReadsEveryTypeAndOrderOfNumPy) {
  for (const char* name : {"f8", "f4", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1",
                           "big_f8", "big_f4", "big_i2", "big_u4", "big_i8", "fortran_f8"}) {
    const std::string file = golden_file(std::string(name) + ".npy");
    const auto values = parse_npy(bytes_of(file), name).values();
    ASSERT_EQ(shape_text({values.shape().begin(), values.shape().end()}), "(2, 3, 4)") << name;
    const std::string type = std::string(name).substr(std::string(name).find('_') + 1);
    for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(values.data()[i], golden(type, i)) << name;
  }
}

TEST(StoredArray, ReadsScalarsVectorsAndEmptyArrays) {
  const auto read = [](const std::string& file) { return parse_npy(bytes_of(file), "a").values(); };
  EXPECT_EQ(read(golden_file("scalar.npy")).dimension(), 0u);
  EXPECT_EQ(read(golden_file("scalar.npy")).data()[0], -50);
  EXPECT_EQ(read(golden_file("vector.npy")).shape(0), 5u);
  EXPECT_EQ(read(golden_file("empty.npy")).shape(1), 3u);
  EXPECT_EQ(read(npy(header("(2L, 2L)"), data_of<float>({1, 2, 3, 4})))(1, 0), 3);
}

TEST(StoredArray, LeavesElementsWhereTheyLieIfTheLayoutPermits) {
  const std::string data = golden_file("i4.npy");
  const StoredArray array = parse_npy(bytes_of(data), "a");
  const auto in_place = array.elements<std::int32_t>();
  ASSERT_TRUE(in_place);
  EXPECT_EQ(static_cast<const void*>(in_place->data()), data.data() + 128);
  EXPECT_EQ((*in_place)[1], -13);
  EXPECT_FALSE(array.elements<std::uint32_t>());
  EXPECT_FALSE(array.elements<float>());
  EXPECT_FALSE(array.elements<std::int64_t>());
  const auto permits = [](const std::string& file) {
    return parse_npy(bytes_of(file), "a").elements<double>().has_value();
  };
  EXPECT_TRUE(permits(golden_file("f8.npy")));
  EXPECT_FALSE(permits(golden_file("big_f8.npy")));
  EXPECT_FALSE(permits(golden_file("fortran_f8.npy")));
}

TEST(StoredArray, RefusesIntegersThatNoDoubleEquals) {
  const std::int64_t exact = std::int64_t(1) << 53,
                     largest = std::numeric_limits<std::int64_t>::max();
  const auto read = [](std::int64_t number) {
    const std::string file = npy(header("(1,)", "<i8"), data_of<std::int64_t>({number}));
    return parse_npy(bytes_of(file), "a").values()(0);
  };
  EXPECT_EQ(read(exact), double(exact));
  EXPECT_EQ(read(-largest - 1), double(-largest - 1));
  for (const std::int64_t number : {exact + 1, largest, -largest})
    EXPECT_THAT(message_of<DataError>([&] { read(number); }), HasSubstr("element 0 = "));
}

std::string written(const xt::xarray<double>& values, const std::string& type) {
  std::string file;
  write_npy(
      values, [&](std::string_view piece) { file += piece; }, element_type(type));
  return file;
}

TEST(StoredArray, WritesTheBytesOfNumPy) {
  auto values = xt::xarray<double>::from_shape({2, 3, 4});
  const std::pair<const char*, const char*> names[] = {
      {"f8", "float64"}, {"f4", "float32"}, {"i1", "int8"},  {"i2", "int16"},
      {"i4", "int32"},   {"i8", "int64"},   {"u1", "uint8"}, {"u2", "uint16"},
      {"u4", "uint32"},  {"u8", "uint64"},  {"b1", "bool"}};
  for (const auto& [file, type] : names) {
    for (std::size_t i = 0; i < 24; ++i) values.data()[i] = golden(file, i);
    EXPECT_EQ(written(values, type), golden_file(std::string(file) + ".npy")) << type;
  }
  EXPECT_EQ(written(xt::xarray<double>(-50.0), "float64"), golden_file("scalar.npy"));
}

TEST(StoredArray, RefusesToWriteWhatATypeCannotHold) {
  const auto holds = [](double number, const std::string& type) {
    try {
      written(xt::xarray<double>{number}, type);
      return true;
    } catch (const DataError&) {
      return false;
    }
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(holds(nan, "float32") && holds(255, "uint8") && holds(-128, "int8"));
  EXPECT_TRUE(holds(1, "bool") && holds(-std::ldexp(1, 63), "int64"));
  EXPECT_FALSE(holds(nan, "int32") || holds(256, "uint8") || holds(-129, "int8"));
  EXPECT_FALSE(holds(0.5, "int64") || holds(2, "bool") || holds(std::ldexp(1, 63), "int64"));
  EXPECT_FALSE(holds(std::ldexp(1, 64), "uint64") || holds(-1, "uint64") || holds(1e39, "float32"));
  EXPECT_THROW(element_type("float16"), std::invalid_argument);
}

}  // namespace npy_test
}  // namespace bochner
