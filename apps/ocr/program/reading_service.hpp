#pragma once

#include "apps/ocr/pipeline/answer.hpp"
#include "kernels/base/result.hpp"

#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace troupe::ocr {

/// What was read in one image.
struct page_text {
  std::vector<text_line> lines;
  std::map<std::string, double> timings_ms; ///< of the pipeline's steps
};

/// Whoever reads images for the program: a runtime of its own, or a server.
class reading_service {
public:
  virtual ~reading_service() = default;
  /// The content of one image file. Several may be on their way.
  [[nodiscard]] virtual std::future<result<page_text>> read(std::string file) = 0;
};

/// Starts a runtime with the three networks of a model repository. `device` as in troupe::options.
[[nodiscard]] result<std::unique_ptr<reading_service>>
make_embedded_reader(const std::filesystem::path& repository, const std::string& device);

/// Asks the model `ocr` of a server: "tcp://HOST[:PORT]" or "http://HOST[:PORT]".
[[nodiscard]] result<std::unique_ptr<reading_service>> make_remote_reader(const std::string& url);

} // namespace troupe::ocr
