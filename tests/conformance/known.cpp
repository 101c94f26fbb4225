#include "tests/conformance/known.hpp"

#include <fmt/format.h>

#include <fstream>
#include <set>
#include <stdexcept>

namespace troupe::conformance {

known_failures known_failures::read(const std::filesystem::path& file) {
  known_failures listed;
  std::ifstream from{file};
  std::string reason;
  std::string line;
  for (int number = 1; std::getline(from, line); ++number) {
    const auto complain = [&](const char* what) {
      throw std::runtime_error{fmt::format("{}:{}: {}", file.string(), number, what)};
    };
    if (line.empty() || line.front() == '#')
      continue;
    if (line.front() != ' ') {
      reason = line;
      continue;
    }
    if (reason.empty())
      complain("a case without a reason");
    if (!listed.reasons.emplace(line.substr(line.find_first_not_of(' ')), reason).second)
      complain("this case is listed twice");
  }
  return listed;
}

void known_failures::write(const std::filesystem::path& file) const {
  std::map<std::string, std::set<std::string>> groups;
  for (const auto& [name, reason] : reasons)
    groups[reason].insert(name);
  std::ofstream to{file};
  to << "# Cases that do not pass: a reason, then the cases it stands for.\n";
  for (const auto& [reason, names] : groups) {
    to << '\n' << reason << '\n';
    for (const auto& name : names)
      to << "  " << name << '\n';
  }
  if (!to.flush())
    throw std::runtime_error{fmt::format("cannot write {}", file.string())};
}

} // namespace troupe::conformance
