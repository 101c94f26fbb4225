// troupe-ocr: the text in images. Exit status: 0 on success, 2 for wrong usage, 1 otherwise; an
// error is one line on stderr that begins "troupe: ".

#include "apps/common/kernel_waiting.hpp"
#include "apps/ocr/program/reading_service.hpp"
#include "apps/ocr/program/report.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using namespace troupe;
using namespace troupe::ocr;

struct command_line {
  std::vector<std::string> images;
  std::string models;
  std::string device = "cpu";
  std::string url;
  bool json = false;
  bool timings = false;
};

void complain(std::string text) {
  for (char& c : text)
    if (c == '\n')
      c = ' ';
  std::fprintf(stderr, "troupe: %s\n", text.c_str());
}

// TROUPE_MODELS, or models/ beside the build tree that this program lies in, or else models/ here.
std::string default_models() {
  if (const char* named = std::getenv("TROUPE_MODELS"))
    return named;
  std::error_code failed;
  auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!failed) {
    auto beside = program.parent_path().parent_path().parent_path() / "models";
    if (std::filesystem::is_directory(beside, failed))
      return beside.string();
  }
  return "models";
}

result<std::string> content_of(const std::string& path) {
  constexpr std::uintmax_t max_bytes = 256 << 20;
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed))
    return fail(errc::invalid_argument, "{}: is a directory, expected an image file", path);
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return fail(errc::not_found, "{}: cannot be opened", path);
  std::string content;
  std::vector<char> block(1 << 20);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    content.append(block.data(), static_cast<std::size_t>(in.gcount()));
    if (content.size() > max_bytes)
      return fail(errc::invalid_argument, "{}: is larger than {} MiB", path, max_bytes >> 20);
  }
  return content;
}

std::future<result<page_text>> start_reading(reading_service& reader, const std::string& path) {
  auto content = content_of(path);
  if (content)
    return reader.read(std::move(*content));
  std::promise<result<page_text>> refused;
  refused.set_value(propagate(std::move(content)));
  return refused.get_future();
}

// A few files ahead of the one that is waited for: their crops share batches.
template <class Each>
void read_all(reading_service& reader, const std::vector<std::string>& paths, Each each) {
  constexpr std::size_t ahead = 16;
  std::deque<std::future<result<page_text>>> started;
  std::size_t next = 0;
  for (const auto& path : paths) {
    while (next < paths.size() && started.size() < ahead)
      started.push_back(start_reading(reader, paths[next++]));
    auto text = started.front().get();
    started.pop_front();
    if (!text && text.error().text.find(path) == std::string::npos)
      text.error().text = fmt::format("{}: {}", path, text.error().text);
    each(file_report{path, std::move(text)});
  }
}

void print(const file_report& report, const command_line& asked) {
  if (asked.images.size() > 1)
    std::printf("%s== %s ==\n", report.file == asked.images.front() ? "" : "\n",
                report.file.c_str());
  std::fputs(as_text(*report.text).c_str(), stdout);
  if (asked.timings)
    std::fprintf(stderr, "%s: %s\n", report.file.c_str(), timing_line(*report.text).c_str());
}

int run(const command_line& asked) {
  auto reader = asked.url.empty() ? make_embedded_reader(asked.models, asked.device)
                                  : make_remote_reader(asked.url);
  if (!reader) {
    complain(reader.error().text);
    return 1;
  }
  int status = 0;
  std::vector<file_report> reports;
  read_all(**reader, asked.images, [&](file_report report) {
    if (!report.text) {
      complain(report.text.error().text);
      status = 1;
    } else if (!asked.json) {
      print(report, asked);
    }
    if (asked.json)
      reports.push_back(std::move(report));
  });
  if (asked.json)
    std::puts(as_json(reports).c_str());
  return status;
}

} // namespace

int main(int argc, char** argv) {
  troupe::apps::limit_kernel_spinning(argv);
  try {
    command_line asked;
    asked.models = default_models();
    CLI::App app{"Prints the text in images (PNG, JPEG), one line per line of text.", "troupe-ocr"};
    app.set_version_flag("--version", "troupe " TROUPE_VERSION);
    app.add_option("IMAGE", asked.images, "Image files")->required();
    app.add_option(
        "--models", asked.models,
        "Model repository with ocr_det, ocr_cls and ocr_rec (default: $TROUPE_MODELS, or "
        "models/ beside the build)");
    app.add_option("--device", asked.device, "Device to run on")->capture_default_str();
    app.add_option("--url", asked.url,
                   "Ask a server instead: tcp://HOST[:PORT] or http://HOST[:PORT]");
    app.add_flag("--json", asked.json, "One JSON document with boxes, scores and timings");
    app.add_flag("--timings", asked.timings, "How long each step took, on stderr");
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& wrong) {
      if (wrong.get_exit_code() == 0)
        return app.exit(wrong);
      complain(wrong.what());
      return 2;
    }
    return run(asked);
  } catch (const std::exception& thrown) {
    complain(thrown.what());
    return 1;
  }
}
