#pragma once

#include "actors/troupe.hpp"
#include "apps/ocr/pipeline/reader.hpp"

#include <memory>

namespace troupe::ocr {

/// The pipeline as a stage. It works on few images at a time, so that memory stays bounded however
/// many requests come; the others wait in order, and past `max_waiting` they are refused.
class text_stage final : public stage {
public:
  explicit text_stage(std::shared_ptr<const equipment> with);
  ~text_stage() override;

  void on_request(stage_context& context, job request) override;

private:
  struct desk;
  std::shared_ptr<desk> desk_;
};

} // namespace troupe::ocr
