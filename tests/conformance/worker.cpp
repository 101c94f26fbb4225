#include "tests/conformance/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace troupe::conformance {
namespace {

constexpr unsigned seconds_per_case = 30;

using file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

struct worker {
  pid_t id = 0;
  file from{nullptr, &std::fclose};
  std::span<const std::string> cases; ///< not answered yet
};

// One line a case: its verdict, then why.
[[noreturn]] void work(const std::filesystem::path& suite, std::span<const std::string> cases,
                       int to) {
  for (const auto& name : cases) {
    alarm(seconds_per_case);
    auto [is, why] = run_case(suite / name);
    for (auto& letter : why)
      letter = letter == '\n' ? ' ' : letter;
    const auto line = fmt::format("{}{}\n", static_cast<char>(is), why);
    for (std::string_view rest{line}; !rest.empty();) {
      const auto written = write(to, rest.data(), rest.size());
      if (written <= 0)
        _exit(EXIT_FAILURE);
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  _exit(EXIT_SUCCESS);
}

worker start(const std::filesystem::path& suite, std::span<const std::string> cases) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) {
    std::perror("pipe");
    std::exit(EXIT_FAILURE);
  }
  const auto id = fork();
  if (id < 0) {
    std::perror("fork");
    std::exit(EXIT_FAILURE);
  }
  if (id == 0) {
    close(ends[0]);
    work(suite, cases, ends[1]);
  }
  close(ends[1]);
  return {id, file{fdopen(ends[0], "r"), &std::fclose}, cases};
}

bool read_line(std::FILE* from, std::string& line) {
  line.clear();
  for (int letter = std::getc(from); letter != EOF; letter = std::getc(from)) {
    if (letter == '\n')
      return true;
    line += static_cast<char>(letter);
  }
  return false;
}

std::string cause_of_death(pid_t id) {
  int status = 0;
  waitpid(id, &status, 0);
  if (!WIFSIGNALED(status))
    return fmt::format("the process left with status {}", WEXITSTATUS(status));
  if (WTERMSIG(status) == SIGALRM)
    return fmt::format("it took more than {} seconds", seconds_per_case);
  return fmt::format("the process died of signal {} ({})", WTERMSIG(status),
                     strsignal(WTERMSIG(status)));
}

} // namespace

void run_apart(const std::filesystem::path& suite, std::span<const std::string> cases, int jobs,
               const std::function<void(const std::string& name, outcome)>& hand_on) {
  std::vector<worker> workers;
  const auto share = cases.size() / static_cast<std::size_t>(jobs) + 1;
  for (std::size_t from = 0; from < cases.size(); from += share)
    workers.push_back(start(suite, cases.subspan(from, std::min(share, cases.size() - from))));
  for (auto& next : workers) {
    std::string line;
    while (!next.cases.empty()) {
      const auto& name = next.cases.front();
      next.cases = next.cases.subspan(1);
      if (read_line(next.from.get(), line) && !line.empty()) {
        hand_on(name, {static_cast<verdict>(line.front()), line.substr(1)});
        continue;
      }
      hand_on(name, {verdict::crashed, cause_of_death(next.id)});
      next.id = 0;
      if (!next.cases.empty())
        next = start(suite, next.cases);
    }
    if (next.id != 0)
      waitpid(next.id, nullptr, 0);
  }
}

} // namespace troupe::conformance
