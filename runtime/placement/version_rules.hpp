#pragma once

// Which version of a model a request gets. Versions are the names of a model's version folders:
// decimal numbers without leading zeros.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::placement {

/// What a model's configuration says of its versions.
struct version_rules {
  struct share {
    std::string version;
    std::uint32_t weight = 0; ///< in proportion to the others'
  };
  std::map<std::string, std::string, std::less<>> labels; ///< names of versions, such as "stable"
  std::vector<share> split; ///< of requests that ask for no version; empty: the highest number
};

/// Whether version `a` has the lower number. Of any length: no arithmetic.
[[nodiscard]] bool lower_version(std::string_view a, std::string_view b) noexcept;

/// Index of the version that `asked` names by number or label; where it is empty, of the one that
/// most requests get: the largest share, without a split the highest number. None if no version
/// served is meant.
[[nodiscard]] std::optional<std::size_t> choose_version(std::span<const std::string> versions,
                                                        const version_rules& rules,
                                                        std::string_view asked);

/// Chooses for one request after the other, and spreads those that ask for no version by the split:
/// of any run of requests as long as the sum of the weights, each version gets exactly its weight,
/// and no version waits for its turn longer than it must (smooth weighted round robin). Not
/// thread-safe.
class version_chooser {
public:
  version_chooser(std::vector<std::string> versions, version_rules rules);

  [[nodiscard]] std::span<const std::string> versions() const noexcept { return versions_; }
  [[nodiscard]] const version_rules& rules() const noexcept { return rules_; }

  /// As `choose_version`, but with turns.
  [[nodiscard]] std::optional<std::size_t> next(std::string_view asked);

private:
  struct turn {
    std::size_t version = 0;
    std::int64_t weight = 0;
    std::int64_t credit = 0;
  };

  std::vector<std::string> versions_;
  version_rules rules_;
  std::vector<turn> turns_; ///< of the versions in the split that are served
};

} // namespace troupe::placement
