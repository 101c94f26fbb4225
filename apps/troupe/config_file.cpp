#include "apps/troupe/config_file.hpp"

#include <toml++/toml.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::cli {

namespace {

result<void> add_values(const toml::node& from, std::string_view key,
                        std::vector<std::string>& into) {
  if (const auto* text = from.as_string()) {
    into.push_back(text->get());
    return {};
  }
  if (const auto* list = from.as_array()) {
    for (const auto& one : *list)
      if (auto ok = add_values(one, key, into); !ok)
        return ok;
    return {};
  }
  std::ostringstream plain;
  if (const auto* number = from.as_integer())
    plain << number->get();
  else if (const auto* real = from.as_floating_point())
    plain << real->get();
  else if (const auto* flag = from.as_boolean())
    plain << (flag->get() ? "true" : "false");
  else
    return fail(errc::invalid_argument, "{}: expected a string, number, boolean or array of those",
                key);
  into.push_back(plain.str());
  return {};
}

} // namespace

result<void> apply_config_file(CLI::App& command, const std::filesystem::path& file) {
  toml::table table;
  try {
    table = toml::parse_file(file.string());
  } catch (const toml::parse_error& wrong) {
    return fail(errc::invalid_argument, "{}:{}: {}", file.string(), wrong.source().begin.line,
                wrong.description());
  }
  for (const auto& [key, value] : table) {
    const std::string name{key.str()};
    auto* option = name == "config" ? nullptr : command.get_option_no_throw("--" + name);
    if (!option)
      return fail(errc::invalid_argument, "{}: unknown key \"{}\"; keys are the options of --help",
                  file.string(), name);
    if (option->count() > 0)
      continue; // the command line wins
    std::vector<std::string> values;
    if (auto ok = add_values(value, name, values); !ok)
      return fail(errc::invalid_argument, "{}: {}", file.string(), ok.error().text);
    try {
      for (auto& one : values)
        option->add_result(std::move(one));
      option->run_callback();
    } catch (const CLI::Error& wrong) {
      return fail(errc::invalid_argument, "{}: {}: {}", file.string(), name, wrong.what());
    }
  }
  return {};
}

} // namespace troupe::cli
