#include "runtime/repository/padded_lengths.hpp"

#include "runtime/repository/parameter_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

namespace troupe::repository {

namespace {

constexpr std::string_view prefix = "troupe.pad.";

/// "NAME:axis", and what stands behind it after `mark`.
struct axis_text {
  std::size_t tensor = 0;
  std::size_t axis = 0;
  std::string rest;
};

result<axis_text> parse_axis(const std::string& key, const std::string& part, char mark,
                             const std::vector<tensor_signature>& among) {
  const auto wrong = [&] {
    return fail(errc::invalid_argument, "{}: expected tensor:axis, got \"{}\"", key, part);
  };
  // Names may hold colons and the mark: the axis is read from the end.
  const auto colon = part.rfind(':');
  if (colon == std::string::npos)
    return wrong();
  const auto name = part.substr(0, colon);
  auto number = part.substr(colon + 1);
  axis_text made;
  if (const auto at = number.find(mark); at != std::string::npos) {
    made.rest = number.substr(at + 1);
    number.resize(at);
    if (made.rest.empty())
      return wrong();
  }
  const auto axis = parse_number(number, 0);
  if (!axis)
    return wrong();
  const auto at =
      std::find_if(among.begin(), among.end(), [&](const auto& one) { return one.name == name; });
  if (at == among.end())
    return fail(errc::invalid_argument, "{}: the model has no tensor \"{}\" there", key, name);
  made.tensor = static_cast<std::size_t>(at - among.begin());
  made.axis = static_cast<std::size_t>(*axis);
  if (made.axis >= at->dims.size() || at->dims[made.axis] >= 0)
    return fail(errc::invalid_argument, "{}: axis {} of \"{}\" is not free: its shape is {}", key,
                made.axis, name, to_string(std::span{at->dims}));
  return made;
}

/// What the parameters of one NAME say, and who is said to be wrong.
struct length_parser {
  const signature& io;
  batching::padding& into;
  batching::padded_length made{};

  result<void> read(const std::string& what, const std::string& key, const std::string& value) {
    if (what == "inputs")
      return inputs(key, value);
    if (what == "outputs")
      return outputs(key, value);
    if (what == "lengths")
      return lengths(key, value);
    if (what == "mask")
      return mask(key, value);
    return fail(errc::invalid_argument,
                "unknown parameter \"{}\"; expected {}NAME. and inputs, outputs, lengths or mask",
                key, prefix);
  }

  result<void> inputs(const std::string& key, const std::string& text) {
    for (const auto& part : split_list(text)) {
      auto axis = parse_axis(key, part, '=', io.inputs);
      if (!axis)
        return propagate(std::move(axis));
      double value = 0;
      if (!axis->rest.empty()) {
        const auto* end = axis->rest.data() + axis->rest.size();
        const auto [at, failed] = std::from_chars(axis->rest.data(), end, value);
        if (failed != std::errc{} || at != end || !std::isfinite(value))
          return fail(errc::invalid_argument, "{}: expected a number to pad with, got \"{}\"", key,
                      axis->rest);
      }
      into.values.resize(io.inputs.size());
      into.values[axis->tensor] = value;
      made.inputs.push_back({axis->tensor, axis->axis});
    }
    return {};
  }

  result<void> outputs(const std::string& key, const std::string& text) {
    for (const auto& part : split_list(text)) {
      auto axis = parse_axis(key, part, '/', io.outputs);
      if (!axis)
        return propagate(std::move(axis));
      std::int64_t divisor = 1;
      if (!axis->rest.empty()) {
        const auto number = parse_number(axis->rest, 1);
        if (!number)
          return fail(errc::invalid_argument, "{}: divisor: {}", key, number.error().text);
        divisor = *number;
      }
      made.outputs.push_back({axis->tensor, axis->axis, divisor});
    }
    return {};
  }

  result<void> lengths(const std::string& key, const std::string& text) {
    auto numbers = parse_numbers(key, text);
    if (!numbers)
      return propagate(std::move(numbers));
    made.lengths = std::move(*numbers);
    std::sort(made.lengths.begin(), made.lengths.end());
    made.lengths.erase(std::unique(made.lengths.begin(), made.lengths.end()), made.lengths.end());
    return {};
  }

  result<void> mask(const std::string& key, const std::string& text) {
    const auto at = std::find_if(io.inputs.begin(), io.inputs.end(),
                                 [&](const auto& one) { return one.name == text; });
    if (at == io.inputs.end())
      return fail(errc::invalid_argument, "{}: no input \"{}\"", key, text);
    made.mask = static_cast<std::size_t>(at - io.inputs.begin());
    return {};
  }

  // A symbol of the model names its axes itself.
  void add_axes_called(const std::string& symbol) {
    const auto called = [&](const tensor_signature& one, std::size_t axis) {
      return one.dims[axis] < 0 && axis < one.dim_names.size() && one.dim_names[axis] == symbol
             && !(axis == 0 && io.max_batch_size > 0);
    };
    if (made.inputs.empty())
      for (std::size_t i = 0; i < io.inputs.size(); ++i)
        for (std::size_t axis = 0; axis < io.inputs[i].dims.size(); ++axis)
          if (called(io.inputs[i], axis))
            made.inputs.push_back({i, axis});
    if (made.outputs.empty())
      for (std::size_t i = 0; i < io.outputs.size(); ++i)
        for (std::size_t axis = 0; axis < io.outputs[i].dims.size(); ++axis)
          if (called(io.outputs[i], axis))
            made.outputs.push_back({i, axis, 1});
  }

  result<void> check(const std::string& key) const {
    if (made.inputs.empty())
      return fail(errc::invalid_argument,
                  "{}: expected {}.inputs, or the name of an axis of the model", key, key);
    for (const auto& one : made.inputs) {
      if (one.axis == 0 && io.max_batch_size > 0)
        return fail(errc::invalid_argument, "{}: axis 0 of \"{}\" is the batch", key,
                    io.inputs[one.input].name);
      if (io.inputs[one.input].type == dtype::string)
        return fail(errc::invalid_argument, "{}: \"{}\" is BYTES, which cannot be padded", key,
                    io.inputs[one.input].name);
    }
    for (const auto& one : made.outputs)
      if (one.axis == 0 && io.max_batch_size > 0)
        return fail(errc::invalid_argument, "{}: axis 0 of \"{}\" is the batch", key,
                    io.outputs[one.output].name);
    const auto in_mask = [&](const auto& one) { return one.input == *made.mask; };
    if (made.mask && std::none_of(made.inputs.begin(), made.inputs.end(), in_mask))
      return fail(errc::invalid_argument, "{}: mask: \"{}\" has no axis among the padded inputs",
                  key, io.inputs[*made.mask].name);
    return {};
  }
};

} // namespace

bool is_padding_parameter(std::string_view key) noexcept {
  return key.starts_with(prefix);
}

result<batching::padding> padding_of(const model_folder& of, const signature& io) {
  std::map<std::string, std::map<std::string, std::string>> said; // by NAME, then by what
  for (const auto& [key, value] : of.config.parameters) {
    if (!is_padding_parameter(key))
      continue;
    const auto dot = key.rfind('.');
    if (dot < prefix.size())
      return fail(errc::invalid_argument,
                  "model {}: unknown parameter \"{}\"; expected {}NAME. and inputs, outputs, "
                  "lengths or mask",
                  of.name, key, prefix);
    said[key.substr(prefix.size(), dot - prefix.size())][key.substr(dot + 1)] = value;
  }
  batching::padding made;
  const auto in_model = [&](const error& why) {
    return fail(why.code, "model {}: {}", of.name, why.text);
  };
  for (const auto& [name, parameters] : said) {
    length_parser parser{io, made};
    parser.made.name = name;
    const auto key = fmt::format("{}{}", prefix, name);
    for (const auto& [what, value] : parameters)
      if (auto ok = parser.read(what, fmt::format("{}.{}", key, what), value); !ok)
        return in_model(ok.error());
    parser.add_axes_called(name);
    if (auto ok = parser.check(key); !ok)
      return in_model(ok.error());
    made.lengths.push_back(std::move(parser.made));
  }
  return made;
}

} // namespace troupe::repository
