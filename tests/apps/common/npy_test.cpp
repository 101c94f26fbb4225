#include "apps/common/npy.hpp"
#include "apps/common/output_files.hpp"
#include "kernels/tensor/byte_strings.hpp"

#include <boost/test/unit_test.hpp>

#include <fstream>
#include <iterator>
#include <numeric>

using namespace troupe;

namespace {

std::string header_text(std::string_view dict, char version = 1) {
  std::string made = "\x93NUMPY";
  made += version;
  made += '\0';
  made += static_cast<char>(dict.size() & 0xff);
  made += static_cast<char>(dict.size() >> 8);
  if (version > 1)
    made += std::string(2, '\0');
  return made + std::string{dict};
}

result<tensor> parse(const std::string& file) {
  return apps::parse_npy(copy_of(std::as_bytes(std::span{file})));
}

std::string error_of(const std::string& file) {
  auto made = parse(file);
  return made ? "no error" : made.error().text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(npy)

BOOST_AUTO_TEST_CASE(what_is_written_is_read_back) {
  for (auto type : {dtype::boolean, dtype::uint8, dtype::int16, dtype::uint32, dtype::int64,
                    dtype::float16, dtype::float32, dtype::float64})
    for (const shape& dims :
         {shape{}, shape{5}, shape{2, 3}, shape{1, 0, 7}, shape{2, 1, 3, 4, 5, 6, 1}}) {
      std::string data(static_cast<std::size_t>(element_count(dims)) * size_of(type), '\0');
      std::iota(data.begin(), data.end(), '\1');
      const auto head = apps::npy_header(type, dims);
      BOOST_TEST(head.size() % 64 == 0u);
      auto made = parse(head + data);
      BOOST_REQUIRE_MESSAGE(made.has_value(), made.error().text);
      BOOST_CHECK(made->type == type);
      BOOST_TEST(to_string(made->dims) == to_string(dims));
      BOOST_TEST(std::string(reinterpret_cast<const char*>(made->data.data()), made->data.size())
                 == data);
    }
}

BOOST_AUTO_TEST_CASE(headers_of_all_versions_are_read) {
  const std::string dict = "{'shape': (2,), \"descr\": '<i2', 'fortran_order': False}\n";
  for (char version : {1, 2, 3}) {
    auto made = parse(header_text(dict, version) + std::string(4, '\1'));
    BOOST_REQUIRE_MESSAGE(made.has_value(), made.error().text);
    BOOST_TEST(elements_of<std::int16_t>(made->data)[1] == 0x101);
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(made->data.data()) % tensor_alignment == 0u);
  }
}

BOOST_AUTO_TEST_CASE(fixed_size_strings_become_byte_strings) {
  const auto file = header_text("{'descr': '|S3', 'fortran_order': False, 'shape': (2,), }")
                    + std::string("ab\0xyz", 6);
  auto made = parse(file);
  BOOST_REQUIRE(made.has_value());
  BOOST_CHECK(made->type == dtype::string);
  auto elements = unpack_strings(*made);
  BOOST_REQUIRE(elements.has_value());
  BOOST_TEST((*elements)[0] == "ab");
  BOOST_TEST((*elements)[1] == "xyz");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_says_why) {
  const auto named = [](std::string_view text, std::string_view part) {
    BOOST_CHECK_MESSAGE(text.find(part) != std::string_view::npos, text);
  };
  named(error_of(""), "no .npy file");
  named(error_of("PK\3\4 a zip file, say"), "no .npy file");
  named(error_of(header_text("", 9)), "version 9");
  named(error_of(header_text("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }")),
        "Fortran");
  named(error_of(header_text("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }")),
        "'>f4'");
  named(error_of(header_text("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }")), "'|O'");
  named(error_of(header_text("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }")),
        "records");
  named(error_of(header_text("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }") + "1234"),
        "takes 12 bytes, but 4 follow");
  named(error_of(header_text("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }")),
        "negative");
  named(error_of(header_text("{'descr': '<f4', 'shape': (1,), }")), "once each");
  named(error_of(header_text(
            "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9), }")),
        "too many");
  named(error_of(header_text("{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)")), "tuple");
  named(error_of(header_text("{'descr': '|S0', 'fortran_order': False, 'shape': (4,), }")),
        "do not fill");
}

BOOST_AUTO_TEST_CASE(a_header_that_ends_anywhere_is_an_error) {
  const auto whole =
      header_text("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }") + "1234";
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    BOOST_TEST(!parse(whole.substr(0, bytes)).has_value());
  BOOST_TEST(parse(whole).has_value());
}

BOOST_AUTO_TEST_CASE(a_header_that_claims_gigabytes_allocates_nothing_for_it) {
  auto claim = header_text("", 2);
  claim[11] = '\x7f';
  BOOST_TEST(error_of(claim).find("claims a header") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(output_files)

BOOST_AUTO_TEST_CASE(names_become_file_names) {
  BOOST_TEST(apps::percent_encoded("logits-1.x_Y") == "logits-1.x_Y");
  BOOST_TEST(apps::percent_encoded("a/b:0 \xc3\xa9") == "a%2Fb%3A0%20%C3%A9");
  BOOST_TEST(apps::percent_encoded("..") == "%2E%2E");
}

BOOST_AUTO_TEST_CASE(a_directory_holds_a_file_per_output_and_a_manifest) {
  const auto directory = std::filesystem::temp_directory_path() / "troupe_output_files_test";
  std::filesystem::remove_all(directory);
  const std::vector<float> numbers{1, 2, 3};
  const std::vector<std::string> words{"ab", ""};
  const std::vector<apps::named_output> outputs{
      {"a/b", {dtype::float32, {3}, copy_of(std::as_bytes(std::span{numbers}))}},
      {"text", *pack_strings(words)}};
  BOOST_REQUIRE(apps::write_outputs(directory, outputs).has_value());
  auto read = apps::read_npy(directory / "a%2Fb.npy");
  BOOST_REQUIRE(read.has_value());
  BOOST_TEST(elements_of<float>(read->data)[2] == 3.0F);
  BOOST_TEST(std::filesystem::file_size(directory / "text.bin") == 10u);
  std::ifstream manifest{directory / "manifest.json"};
  const std::string text{std::istreambuf_iterator<char>{manifest}, {}};
  BOOST_TEST(text.find("\"datatype\": \"BYTES\"") != std::string::npos);
  BOOST_TEST(text.find("\"name\": \"a/b\"") != std::string::npos);
  std::filesystem::remove_all(directory);
}

BOOST_AUTO_TEST_CASE(a_directory_that_cannot_be_made_is_named) {
  auto written = apps::write_outputs("/proc/nowhere", {});
  BOOST_REQUIRE(!written.has_value());
  BOOST_TEST(written.error().text.find("/proc/nowhere") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
