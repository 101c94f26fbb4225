#include "apps/ocr/pipeline/pipeline.hpp"

#include "apps/ocr/pipeline/stage.hpp"
#include "apps/ocr/vision/threads.hpp"

#include <utility>

namespace troupe::ocr {
namespace {

result<network> find_network(const protocol::model_metadata& of) {
  if (of.inputs.size() != 1 || of.outputs.size() != 1)
    return fail(errc::failed_precondition,
                "model {}: expected one input and one output, it has {} and {}", of.name,
                of.inputs.size(), of.outputs.size());
  return network{of.name, of.inputs.front().name, of.outputs.front().name};
}

result<protocol::model_metadata> describe(const runtime& in, const std::string& model,
                                          const char* purpose) {
  auto found = in.metadata(model);
  if (!found)
    return fail(errc::failed_precondition, "the OCR pipeline needs a {} model named {}: {}",
                purpose, model, found.error().text);
  return found;
}

result<std::shared_ptr<const equipment>> equip(const runtime& in, const pipeline_options& options) {
  auto detection = describe(in, options.detection, "text detection").and_then(find_network);
  if (!detection)
    return propagate(std::move(detection));
  auto direction = describe(in, options.direction, "text direction").and_then(find_network);
  if (!direction)
    return propagate(std::move(direction));
  auto description = describe(in, options.recognition, "text recognition");
  if (!description)
    return propagate(std::move(description));
  auto recognition = find_network(*description);
  if (!recognition)
    return propagate(std::move(recognition));

  auto property = description->properties.find("character");
  if (property == description->properties.end())
    return fail(errc::failed_precondition,
                "model {}: expected a property \"character\" that lists what it can read, got {} "
                "others",
                options.recognition, description->properties.size());
  auto symbols = alphabet::parse(property->second);
  if (!symbols)
    return propagate(std::move(symbols));
  return std::make_shared<const equipment>(equipment{options, std::move(*detection),
                                                     std::move(*direction), std::move(*recognition),
                                                     std::move(*symbols)});
}

} // namespace

result<void> register_pipeline(runtime& in, const pipeline_options& options) {
  auto tools = equip(in, options);
  if (!tools)
    return propagate(std::move(tools));
  keep_to_calling_threads();
  return in.add_stage(
      options.name, {input_signature(), output_signature()},
      [shared = std::move(*tools)] { return std::make_unique<text_stage>(shared); });
}

bool has_networks(const runtime& in, const pipeline_options& options) {
  return in.metadata(options.detection) && in.metadata(options.direction)
         && in.metadata(options.recognition);
}

} // namespace troupe::ocr
