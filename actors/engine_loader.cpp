#include "actors/engine_loader.hpp"

#include "kernels/open_device.hpp"
#include "runtime/pipeline/parse.hpp"
#include "runtime/placement/engine_executable.hpp"
#include "runtime/repository/configure.hpp"
#include "runtime/repository/ensemble.hpp"
#include "runtime/repository/instances.hpp"
#include "runtime/repository/version_labels.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <system_error>

namespace troupe::actors {

namespace {

constexpr std::int64_t max_warm_up_elements = std::int64_t{1} << 26;

result<batching::policy> policy_of(const batching_options& with) {
  if (with.max_batch < 1 || with.min_batch < 1 || with.max_wait.count() < 0)
    return fail(
        errc::invalid_argument,
        "batching: expected a min_batch and max_batch of at least 1 and a max_wait of at least "
        "0, got {}, {} and {} us",
        with.min_batch, with.max_batch, with.max_wait.count());
  if (with.preset == "explicit") {
    batching::policy made;
    made.min_rows = with.min_batch;
    made.max_wait = with.max_wait;
    made.max_rows = with.max_batch;
    made.work_conserving = with.max_wait.count() == 0;
    return made;
  }
  auto made = batching::preset(with.preset);
  if (made) {
    made->max_rows = std::min(made->max_rows, with.max_batch);
    made->objective = with.objective;
  }
  return made;
}

// One row of zeros for every input, where dims that the model leaves free are given; otherwise
// none.
std::vector<std::vector<tensor>> warm_up_of(const repository::configured_model& configured) {
  std::vector<tensor> inputs;
  for (const auto& declared : configured.io.inputs) {
    if (declared.internal) {
      inputs.emplace_back(); // the server's
      continue;
    }
    if (declared.any_rank || declared.type == dtype::string)
      return {}; // nothing to make up
    shape dims(declared.dims.begin(), declared.dims.end());
    if (configured.io.max_batch_size > 0)
      dims[0] = 1;
    if (const auto at = configured.warm_up.find(declared.name); at != configured.warm_up.end())
      dims = at->second;
    const auto elements = checked_element_count(
        std::span<const std::int64_t>{dims.data(), dims.size()}, max_warm_up_elements);
    if (!elements)
      return {};
    const auto bytes = static_cast<std::size_t>(*elements) * size_of(declared.type);
    auto block = allocate_aligned(std::max<std::size_t>(bytes, 1));
    std::memset(block.get(), 0, bytes);
    const auto* data = block.get();
    inputs.push_back({declared.type, std::move(dims), {std::move(block), {data, bytes}}});
  }
  return {inputs};
}

// Weights that one packed the other can read.
bool share_memory(const device_properties& a, const device_properties& b) {
  return a.host_visible && b.host_visible && a.kind == b.kind;
}

result<loaded_model> load_version(const repository::model_folder& folder,
                                  const repository::version_folder& version,
                                  const repository::serving_defaults& defaults,
                                  const loading_setup& setup) {
  auto buckets = repository::batch_buckets(folder);
  if (!buckets)
    return propagate(std::move(buckets));
  loaded_model made;
  made.version = version.version;
  exec::model_options options;
  options.batch_buckets = std::move(*buckets);
  options.tuning = setup.tuning;
  options.repository = setup.with.model_repository;
  auto invariant = repository::batch_invariant(folder, setup.with.batch_invariant);
  if (!invariant)
    return propagate(std::move(invariant));
  options.batch_invariant = *invariant;
  options.plan_memory = setup.plans;
  std::vector<std::string_view> kinds;
  for (const auto& on : setup.devices)
    kinds.push_back(on->properties().kind);
  auto terms = repository::instances_on(folder, kinds);
  if (!terms)
    return propagate(std::move(terms));
  std::vector<std::shared_ptr<exec::model>> models(setup.devices.size());
  for (std::size_t i = 0; i < setup.devices.size(); ++i) {
    made.terms.push_back((*terms)[i].value_or(placement::instance_terms{}));
    made.on.emplace_back();
    made.shares_weights.push_back(false);
    if (!(*terms)[i])
      continue;
    const auto& on = setup.devices[i];
    const auto other = std::find_if(models.begin(), models.end(), [&](const auto& one) {
      return one && share_memory(one->on().properties(), on->properties());
    });
    made.shares_weights.back() = other != models.end();
    auto model = other == models.end() ? exec::model::load(version.file, on, options)
                                       : exec::model::beside(**other, on, options);
    if (!model)
      return propagate(std::move(model));
    models[i] = std::move(*model);
    made.on.back() = placement::make_executable(models[i]);
  }
  const auto& loaded =
      **std::find_if(models.begin(), models.end(), [](const auto& one) { return one != nullptr; });
  made.properties.insert(loaded.optimised().metadata.begin(), loaded.optimised().metadata.end());
  for (const auto* tensors : {&loaded.io().inputs, &loaded.io().outputs})
    for (const auto& one : *tensors)
      if (one.sequence)
        return fail(errc::unimplemented, "'{}' is a sequence, which no protocol carries", one.name);
  const auto& first = **std::find_if(made.on.begin(), made.on.end(),
                                     [](const auto& one) { return one != nullptr; });
  auto configured = repository::configure(
      folder, first.io(), first.rows_independent() ? "" : first.why_rows_depend(), defaults);
  if (!configured)
    return propagate(std::move(configured));
  if (options.batch_invariant && configured->io.max_batch_size > 0 && !first.rows_independent())
    return fail(errc::invalid_argument,
                "model {}: its rows cannot be batch-invariant: {}; expected max_batch_size: 0",
                folder.name, first.why_rows_depend());
  for (const auto& note : configured->notes)
    spdlog::info("model {}, version {}: {}", folder.name, version.version, note);
  made.warm_up = warm_up_of(*configured);
  made.io = std::move(configured->io);
  made.settings.batching = configured->batching;
  made.settings.priorities = std::move(configured->priorities);
  made.settings.max_queue_rows = configured->max_queue_rows;
  made.settings.softmax = std::move(configured->softmax);
  made.settings.padding = std::move(configured->padding);
  made.settings.sequences = std::move(configured->sequences);
  made.settings.stateless = made.settings.sequences == nullptr;
  // Weights are packed with the first plans: what the file takes is a fair guess before that.
  std::error_code unknown;
  const auto on_disk = std::filesystem::file_size(version.file, unknown);
  made.weight_bytes = std::max<std::size_t>(first.weight_bytes(), unknown ? 0 : on_disk);
  return made;
}

result<loader> loader_of(result<repository::model_folder> folder, const loading_setup& setup) {
  if (!folder)
    return propagate(std::move(folder));
  auto policy = policy_of(setup.with.batching);
  if (!policy)
    return propagate(std::move(policy));
  const repository::serving_defaults defaults{*policy, setup.with.batching.max_batch,
                                              static_cast<std::int64_t>(setup.with.max_queue_rows)};
  return [folder = std::move(*folder), defaults, setup]() -> result<std::vector<loaded_model>> {
    auto rules = repository::version_rules_of(folder);
    if (!rules)
      return propagate(std::move(rules));
    std::vector<loaded_model> made;
    for (const auto& version : folder.versions) {
      auto one = load_version(folder, version, defaults, setup);
      if (!one)
        return fail(one.error().code, "version {}: {}", version.version, one.error().text);
      one->rules = *rules;
      made.push_back(std::move(*one));
    }
    return made;
  };
}

// A pipeline is no more than its declaration; the models that come with it are loaded by their own
// names, where they are not there yet.
result<std::vector<loaded_model>> load_pipeline(pipeline::definition declared,
                                                const loading_setup& setup) {
  auto made = std::make_shared<composition>();
  for (const auto& [name, file] : declared.models) {
    auto part = loader_for(name, file, setup);
    if (!part)
      return fail(part.error().code, "{}: {}", declared.origin, part.error().text);
    made->brings[name] = {std::move(*part), file.lexically_normal().string()};
  }
  made->declared = std::move(declared);
  std::vector<loaded_model> loaded(1);
  loaded.front().version = "1";
  loaded.front().composed = std::move(made);
  return loaded;
}

loader pipeline_loader(const std::filesystem::path& file, const loading_setup& setup) {
  return [file, setup]() -> result<std::vector<loaded_model>> {
    auto declared = pipeline::read_file(file);
    if (!declared)
      return propagate(std::move(declared));
    return load_pipeline(std::move(*declared), setup);
  };
}

// The highest version of an ensemble is as good as any: they differ in nothing.
loader ensemble_loader(repository::model_folder folder, const loading_setup& setup) {
  return [folder = std::move(folder), setup]() -> result<std::vector<loaded_model>> {
    auto declared = repository::ensemble_of(folder);
    if (!declared)
      return propagate(std::move(declared));
    for (const auto& note : folder.config.warnings)
      spdlog::info("model {}: {}", folder.name, note);
    auto loaded = load_pipeline(std::move(*declared), setup);
    if (loaded)
      loaded->front().version = folder.versions.back().version;
    return loaded;
  };
}

// A model's folder, or a pipeline's.
result<loader> folder_loader(const std::string& name, const std::filesystem::path& folder,
                             const loading_setup& setup) {
  std::error_code ignored;
  if (const auto file = folder / repository::pipeline_file;
      std::filesystem::is_regular_file(file, ignored))
    return pipeline_loader(file, setup);
  auto found = repository::read_model(name, folder);
  if (found && found->config.ensemble)
    return ensemble_loader(std::move(*found), setup);
  return loader_of(std::move(found), setup);
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos
         && name.find('\0') == std::string::npos;
}

} // namespace

loading_setup loading_for(options with, std::vector<std::shared_ptr<troupe::device>> devices) {
  const auto bytes =
      with.plan_memory_bytes
          ? with.plan_memory_bytes
          : exec::plan_budget::default_for(devices.front()->properties().memory_bytes);
  return {std::move(with), std::move(devices), std::make_shared<exec::plan_budget>(bytes), nullptr};
}

result<std::vector<std::shared_ptr<troupe::device>>>
open_devices(const std::vector<std::string>& addresses) {
  if (addresses.empty())
    return fail(errc::invalid_argument, "devices: expected at least one, such as \"cpu\"");
  std::vector<std::shared_ptr<troupe::device>> opened;
  for (const auto& address : addresses) {
    auto one = open_device(address);
    if (!one)
      return propagate(std::move(one));
    opened.push_back(std::move(*one));
  }
  return opened;
}

result<loader> loader_for(const std::string& name, const std::filesystem::path& from,
                          loading_setup setup) {
  if (!is_plain_name(name))
    return fail(errc::invalid_argument, "model name: expected no slash, got \"{}\"", name);
  std::error_code ignored;
  if (std::filesystem::is_directory(from, ignored))
    return folder_loader(name, from, setup);
  if (from.extension() == ".toml")
    return pipeline_loader(from, setup);
  return loader_of(repository::single_file(name, from), setup);
}

result<model_source> repository_source(loading_setup setup) {
  if (auto policy = policy_of(setup.with.batching); !policy)
    return propagate(std::move(policy));
  const auto root = setup.with.model_repository;
  if (root.empty())
    return model_source{};
  if (auto names = repository::list_models(root); !names)
    return propagate(std::move(names));
  model_source source;
  source.list = [root] {
    auto names = repository::list_models(root);
    return names ? std::move(*names) : std::vector<std::string>{};
  };
  source.find = [root, setup](const std::string& name) -> result<loader> {
    // The name comes from a client: it must not lead out of the repository.
    if (!is_plain_name(name))
      return fail(errc::not_found, "model {}: not found", name);
    return folder_loader(name, root / name, setup);
  };
  return source;
}

} // namespace troupe::actors
