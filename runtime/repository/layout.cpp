#include "runtime/repository/layout.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>

namespace troupe::repository {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t max_config_bytes = std::uintmax_t{1} << 20;
constexpr std::uintmax_t max_label_bytes = std::uintmax_t{16} << 20;

bool is_version(const std::string& name) {
  return !name.empty() && name.size() <= 18 && name[0] != '0'
         && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// Names of the folders in a folder, ascending; of one that cannot be read, none.
std::vector<std::string> folders_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator at{folder, failed}, end; !failed && at != end; at.increment(failed))
    if (is_folder(at->path()))
      names.push_back(at->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

result<std::string> read_text(const fs::path& file, std::uintmax_t limit) {
  std::error_code failed;
  const auto size = fs::file_size(file, failed);
  if (failed)
    return fail(errc::not_found, "{}: {}", file.string(), failed.message());
  if (size > limit)
    return fail(errc::invalid_argument, "{}: expected at most {} bytes, got {}", file.string(),
                limit, size);
  std::string text(size, '\0');
  std::ifstream in{file, std::ios::binary};
  if (!in.read(text.data(), static_cast<std::streamsize>(size)))
    return fail(errc::internal, "{}: cannot be read", file.string());
  return text;
}

bool chosen(const version_policy& policy, const std::vector<std::string>& all, std::size_t index) {
  switch (policy.which) {
    case version_policy::kind::all: return true;
    case version_policy::kind::latest: return index + policy.latest >= all.size();
    case version_policy::kind::specific:
      return std::any_of(policy.specific.begin(), policy.specific.end(),
                         [&](auto number) { return std::to_string(number) == all[index]; });
  }
  return false;
}

} // namespace

bool is_model_folder(const fs::path& folder) {
  if (is_file(folder / "config.pbtxt") || is_file(folder / pipeline_file))
    return true;
  const auto names = folders_in(folder);
  return std::any_of(names.begin(), names.end(), is_version);
}

result<std::vector<std::string>> list_models(const fs::path& repository) {
  if (!is_folder(repository))
    return fail(errc::not_found, "model repository {}: not a folder", repository.string());
  auto names = folders_in(repository);
  std::erase_if(names, [&](const auto& name) { return !is_model_folder(repository / name); });
  return names;
}

result<model_folder> read_model(const std::string& name, const fs::path& folder) {
  if (!is_folder(folder))
    return fail(errc::not_found, "model {}: no folder {}", name, folder.string());
  model_folder made{name, folder, {}, {}};
  const auto config_file = folder / "config.pbtxt";
  if (is_file(config_file)) {
    auto text = read_text(config_file, max_config_bytes);
    if (!text)
      return propagate(std::move(text));
    auto config = parse_model_config(*text, config_file.string());
    if (!config)
      return propagate(std::move(config));
    made.config = std::move(*config);
  }
  if (!made.config.name.empty() && made.config.name != name)
    return fail(errc::invalid_argument,
                "{}: name: expected \"{}\" as the folder is called, got \"{}\"",
                config_file.string(), name, made.config.name);
  auto all = folders_in(folder);
  std::erase_if(all, [&](const auto& one) {
    return !is_version(one)
           || (!made.config.ensemble && !is_file(folder / one / made.config.model_file));
  });
  if (made.config.ensemble && all.empty())
    all = {"1"}; // its version folders hold nothing and may be missing
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  for (std::size_t i = 0; i < all.size(); ++i)
    if (chosen(made.config.versions, all, i))
      made.versions.push_back({all[i], folder / all[i] / made.config.model_file});
  if (made.versions.empty())
    return fail(errc::not_found, "model {}: {} holds no {} that the version policy chooses", name,
                (folder / "<version>").string(), made.config.model_file);
  return made;
}

result<model_folder> single_file(const std::string& name, const fs::path& file) {
  if (!is_file(file))
    return fail(errc::not_found, "model {}: no file {}", name, file.string());
  return model_folder{name, file.parent_path(), {}, {{"1", file}}};
}

result<std::vector<std::string>> read_labels(const fs::path& file) {
  auto text = read_text(file, max_label_bytes);
  if (!text)
    return propagate(std::move(text));
  std::vector<std::string> labels;
  for (std::size_t at = 0; at < text->size();) {
    const auto end = std::min(text->find('\n', at), text->size());
    auto line = text->substr(at, end - at);
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    labels.push_back(std::move(line));
    at = end + 1;
  }
  return labels;
}

} // namespace troupe::repository
