#pragma once

#include "actors/commons.hpp"
#include "actors/troupe.hpp"
#include "actors/wiring.hpp"
#include "protocol/listener.hpp"

#include <boost/asio/thread_pool.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

namespace troupe::actors {

/// The actors of one runtime: their wiring, their start and their end; and the service that
/// connections see. Thread-safe.
class system final : public protocol::service {
public:
  explicit system(system_parts parts);
  ~system() override; ///< stop(0)

  // -- protocol::service ------------------------------------------------------------------------
  [[nodiscard]] result<protocol::admission> admit(std::size_t bytes) override;
  std::shared_ptr<protocol::call> infer(inference_request request, protocol::admission units,
                                        part_fn on_part) override;
  [[nodiscard]] bool live() const noexcept override { return true; }
  [[nodiscard]] bool ready() const noexcept override;
  void metadata(std::string model, std::string version,
                answer<protocol::model_metadata> done) override;
  void model_ready(std::string model, std::string version, answer<bool> done) override;
  void index(answer<std::vector<protocol::model_index_entry>> done) override;
  void statistics(std::string model, answer<std::vector<protocol::model_statistics>> done) override;
  void load(std::string model, answer<void> done) override;
  void unload(std::string model, answer<void> done) override;

  // -- beyond the service -----------------------------------------------------------------------
  /// `what.done` is called once in any case.
  void load(load_request what);
  void drop(std::string model, answer<void> done);
  /// Everything that was to be loaded at start is.
  void set_ready() noexcept { loaded_ = true; }

  /// Opens a listener and keeps it until the system stops; its port.
  [[nodiscard]] result<std::uint16_t> open(std::unique_ptr<protocol::listener> listener);
  /// Not ready from now on, but still serving.
  void set_unready() noexcept { loaded_ = false; }
  /// As in runtime.
  void hurry() noexcept { shared_->live->hurry(); }
  /// New requests are refused and listeners closed; those accepted are answered until the deadline,
  /// the rest with `unavailable`; listeners finish sending; then every actor ends.
  void stop(std::chrono::milliseconds drain);

  [[nodiscard]] const commons& shared() const noexcept { return *shared_; }

private:
  void ask(query question);

  caf::actor_system_config config_;
  commons_ptr shared_ = std::make_shared<commons>();
  boost::asio::thread_pool offload_;
  std::unique_ptr<caf::actor_system> actors_;
  supervisor_actor supervisor_;
  std::vector<ingress_actor> listeners_;
  const bool clients_may_load_;
  std::atomic<bool> loaded_{false};
  std::atomic<bool> stopped_{false};
};

} // namespace troupe::actors
