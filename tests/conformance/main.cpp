// Runs a suite of ONNX's own tests: folders with a model, inputs and expected outputs.
//
//   conformance SUITE --list FILE               every case passes, or is listed and does not
//   conformance SUITE --only 'test_gather*'     these cases, one line each
//   conformance SUITE --list FILE --write-list  brings the list up to what is

#include "tests/conformance/known.hpp"
#include "tests/conformance/suite.hpp"
#include "tests/conformance/worker.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <regex>

using namespace troupe::conformance;

namespace {

constexpr int skipped = 77;

struct options {
  std::filesystem::path suite;
  std::filesystem::path list;
  std::vector<std::string> only;
  bool write_list = false;
  bool verbose = false;
  int jobs = 1;
};

options parse(int count, char** arguments) {
  options with;
  CLI::App app{"Runs a suite of ONNX's own tests"};
  app.add_option("suite", with.suite, "The folder of the cases")->required();
  app.add_option("--list", with.list, "Cases that do not pass, with reasons");
  app.add_option("--only", with.only, "Only cases that match; '*' stands for any text");
  app.add_flag("--write-list", with.write_list, "Drop what passes from the list, add what does not")
      ->needs("--list");
  app.add_flag("--verbose", with.verbose, "A line for every case");
  app.add_option("--jobs", with.jobs, "Processes at a time")->check(CLI::Range(1, 64));
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& failure) {
    std::exit(app.exit(failure));
  }
  return with;
}

// A first reason for a case that is not listed yet; the list's reader may have a better one.
std::string reason_of(const outcome& of) {
  if (of.is != verdict::refused)
    return fmt::format("{}: {}", to_string(of.is), of.why);
  static const std::regex whole_model{"opset [0-9]+ is not supported|ONNX data type [A-Z0-9]+"};
  static const std::regex in_node{"' \\(([A-Za-z0-9_.]+)\\)"};
  std::smatch found;
  if (std::regex_search(of.why, found, whole_model))
    return found.str();
  if (of.why.ends_with("is not a tensor"))
    return "sequences and optional values not yet";
  if (std::regex_search(of.why, found, in_node))
    return fmt::format("operator {} not yet", found.str(1));
  return of.why;
}

// What a reason announces: most say what is refused.
verdict listed_as(std::string_view reason) {
  for (const auto is : {verdict::wrong, verdict::crashed})
    if (reason.starts_with(fmt::format("{}: ", to_string(is))))
      return is;
  return verdict::refused;
}

bool passes(const outcome& of) {
  return of.is == verdict::pass;
}

class tally {
public:
  tally(const options& with, known_failures listed) : with_{with}, listed_{std::move(listed)} {}

  void take(const std::string& name, const outcome& of) {
    ++counts_[of.is];
    if (with_.verbose || !with_.only.empty())
      fmt::print("{:<8} {}{}{}\n", to_string(of.is), name, of.why.empty() ? "" : ": ", of.why);
    const auto known = listed_.reasons.find(name);
    const bool is_listed = known != listed_.reasons.end();
    if (with_.list.empty() || (is_listed ? of.is == listed_as(known->second) : passes(of)))
      return;
    if (with_.write_list) {
      if (is_listed)
        listed_.reasons.erase(known);
      if (!passes(of))
        listed_.reasons.emplace(name, reason_of(of));
      return;
    }
    ++surprises_;
    fmt::print("{}: {}{}{}{}\n", to_string(of.is), name, of.why.empty() ? "" : ": ", of.why,
               is_listed ? fmt::format(" (listed: {})", known->second) : "");
  }

  /// Whether everything was as listed.
  bool finish(const std::vector<std::string>& all, std::size_t ran) {
    std::erase_if(listed_.reasons, [&](const auto& entry) {
      const bool exists = std::ranges::binary_search(all, entry.first);
      if (!exists && !with_.write_list) {
        fmt::print("listed, but there is no such case: {}\n", entry.first);
        ++surprises_;
      }
      return !exists;
    });
    if (with_.write_list)
      listed_.write(with_.list);
    const auto share = [&](std::size_t count) {
      return ran == 0 ? 0.0 : 100.0 * static_cast<double>(count) / static_cast<double>(ran);
    };
    const auto passed = counts_[verdict::pass];
    fmt::print("{}: {} cases, {} pass ({:.1f} %), {} refused, {} wrong, {} crashed\n",
               with_.suite.string(), ran, passed, share(passed), counts_[verdict::refused],
               counts_[verdict::wrong], counts_[verdict::crashed]);
    return surprises_ == 0;
  }

private:
  const options& with_;
  known_failures listed_;
  std::map<verdict, std::size_t> counts_;
  int surprises_ = 0;
};

int run(const options& with) {
  if (!std::filesystem::is_directory(with.suite)) {
    fmt::print("skipped: there is no {}\n", with.suite.string());
    return skipped;
  }
  const auto all = cases_of(with.suite);
  auto chosen = all;
  std::erase_if(chosen, [&](const std::string& name) {
    const auto fits = [&](const std::string& pattern) { return matches(name, pattern); };
    return !with.only.empty() && std::ranges::none_of(with.only, fits);
  });
  tally outcomes{with, with.list.empty() ? known_failures{} : known_failures::read(with.list)};
  run_apart(with.suite, chosen, with.jobs,
            [&](const std::string& name, const outcome& of) { outcomes.take(name, of); });
  return outcomes.finish(all, chosen.size()) ? 0 : 1;
}

} // namespace

int main(int count, char** arguments) {
  const auto with = parse(count, arguments);
  try {
    return run(with);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "conformance: {}\n", failure.what());
    return 1;
  }
}
