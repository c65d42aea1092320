#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/errors.hpp>
#include <bochner/data/npy.hpp>
#include <cstring>
#include <limits>

#include "data/temporary_folder.hpp"

namespace bochner {
namespace {

using testing::HasSubstr;

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
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
  Tensor read(const std::string& bytes) { return read_npy(folder.write("a.npy", bytes)); }
  std::string problem(const std::string& bytes) {
    try {
      read(bytes);
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  }
  TemporaryFolder folder;
};

TEST_F(Npy, ReadsBothPrecisionsBothOrdersAndAllVersions) {
  const std::string floats = bytes_of<float>({1, 2, 3, 4, 5, 6});
  const std::string doubles = bytes_of<double>({1, 4, 2, 5, 3, 6});
  for (const char version : {char(1), char(2), char(3)})
    for (const std::string& file : {npy(header("(2, 3)"), floats, version),
                                    npy(header("(2, 3)", "<f8", "True"), doubles, version)}) {
      const Tensor matrix = read(file);
      ASSERT_EQ(matrix.shape(), (Shape{2, 3}));
      for (int i = 0; i < 6; ++i) EXPECT_EQ(matrix.data()[i], i + 1);
    }
}

TEST_F(Npy, RefusesWhatIsNoMatrixOfFloats) {
  const std::string data = bytes_of<float>({1, 2, 3, 4});
  EXPECT_THAT(problem("PK\x03\x04 something else"), HasSubstr("is no .npy file"));
  EXPECT_THAT(problem(""), HasSubstr("ends within its header"));
  EXPECT_THAT(problem(npy(header("(2, 2)"), data, 4)), HasSubstr("version"));
  EXPECT_THAT(problem(npy(header("(2, 2)", ">f4"), data)), HasSubstr("'>f4'"));
  EXPECT_THAT(problem(npy(header("(2, 2)", "|O"), data)), HasSubstr("'|O'"));
  EXPECT_THAT(problem(npy(header("(2, 2)", "<f4", "Maybe"), data)), HasSubstr("fortran_order"));
  EXPECT_THAT(problem(npy("{'descr': '<f4', 'fortran_order': False}", data)), HasSubstr("shape"));
  for (const char* shape : {"(4,)", "()", "(1, 2, 2)", "(-2, -2)", "(2, 2x)", "(2.0, 2)", "(2 2)"})
    EXPECT_THAT(problem(npy(header(shape), data)), HasSubstr("not a matrix")) << shape;
  EXPECT_THAT(problem(npy(header("(0, 4)"), "")), HasSubstr("is empty"));
  const std::string nan = bytes_of<float>({1, std::numeric_limits<float>::quiet_NaN()});
  EXPECT_THAT(problem(npy(header("(2, 1)"), nan)), HasSubstr("row 1"));
}

TEST_F(Npy, RefusesSizesThatTheFileDoesNotHold) {
  const std::string data = bytes_of<float>({1, 2, 3, 4});
  for (const char* shape :
       {"(1152921504606846976, 1)", "(1, 1152921504606846976)", "(4294967296, 4294967296)",
        "(9223372036854775809, 2)", "(2, 9223372036854775810)", "(3, 2)", "(1, 2)", "(4, 4)"})
    EXPECT_THAT(problem(npy(header(shape), data)), HasSubstr("and holds 16 bytes")) << shape;
  EXPECT_THAT(problem(npy(header("(18446744073709551616, 2)"), data)), HasSubstr("not a matrix"));
  EXPECT_THAT(problem(npy(header("(2, 2)"), data + "x")), HasSubstr("and holds 17 bytes"));
}

TEST_F(Npy, RefusesHeadersThatAreTooLongOrCutOff) {
  const std::string whole = npy(header("(2, 2)"), bytes_of<float>({1, 2, 3, 4}));
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_NE(problem(whole.substr(0, length)), "") << length;
  std::string claim = npy("", "", 2);
  std::memset(claim.data() + 8, 0xff, 4);
  EXPECT_THAT(problem(claim), HasSubstr("header of 4294967295 bytes"));
}

TEST_F(Npy, SurvivesEveryChangedByte) {
  const std::string whole = npy(header("(2, 2)"), bytes_of<float>({1, 2, 3, 4}));
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const char byte : {'\0', '\xff', '(', ')', ',', '\'', '9'}) {
      std::string changed = whole;
      changed[at] = byte;
      problem(changed);  // a DataError or a matrix, nothing else
    }
}

TEST_F(Npy, SaysWhichFileIsMissing) { EXPECT_THROW(read_npy(folder.path() / "none.npy"), IoError); }

}  // namespace
}  // namespace bochner
