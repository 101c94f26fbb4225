#include "apps/common/output_files.hpp"

#include "apps/common/npy.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <system_error>

namespace troupe::apps {
namespace {

bool is_plain(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.'
         || c == '_' || c == '-';
}

result<void> write_file(const std::filesystem::path& file, std::string_view head,
                        std::span<const std::byte> data) {
  std::ofstream out{file, std::ios::binary};
  out.write(head.data(), static_cast<std::streamsize>(head.size()));
  out.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
  out.close();
  if (!out)
    return troupe::fail(errc::internal, "cannot write '{}'", file.string());
  return {};
}

} // namespace

std::string percent_encoded(std::string_view name) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const bool only_dots = name.find_first_not_of('.') == std::string_view::npos;
  std::string made;
  for (char c : name) {
    if (is_plain(c) && !only_dots) {
      made += c;
      continue;
    }
    const auto value = static_cast<unsigned char>(c);
    made += '%';
    made += digits[value >> 4];
    made += digits[value & 15];
  }
  return made;
}

result<void> write_outputs(const std::filesystem::path& directory,
                           std::span<const named_output> outputs) {
  std::error_code failure;
  std::filesystem::create_directories(directory, failure);
  if (failure)
    return troupe::fail(errc::internal, "cannot make the directory '{}': {}", directory.string(),
                        failure.message());
  auto listed = nlohmann::json::array();
  for (const auto& [name, content] : outputs) {
    const bool numpy = npy_descr(content.type).has_value();
    const auto file = percent_encoded(name) + (numpy ? ".npy" : ".bin");
    const auto head = numpy ? npy_header(content.type, content.dims) : std::string{};
    if (auto written = write_file(directory / file, head, content.data.view); !written)
      return written;
    listed.push_back(
        {{"name", name},
         {"file", file},
         {"datatype", to_string(content.type)},
         {"shape", std::vector<std::int64_t>(content.dims.begin(), content.dims.end())}});
  }
  const nlohmann::json manifest{{"outputs", std::move(listed)}};
  const auto text = manifest.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  return write_file(directory / "manifest.json", text, {});
}

} // namespace troupe::apps
