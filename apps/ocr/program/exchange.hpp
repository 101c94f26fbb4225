#pragma once

#include "apps/ocr/program/reading_service.hpp"
#include "protocol/inference.hpp"

#include <string>

namespace troupe::ocr {

/// A request that has one image read.
[[nodiscard]] result<protocol::inference_request> request_for(const std::string& model,
                                                              std::string file);

/// What an answer says.
[[nodiscard]] result<page_text> text_of(const protocol::inference_response& answer);

} // namespace troupe::ocr
