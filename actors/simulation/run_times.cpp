#include "actors/simulation/run_times.hpp"

#include <algorithm>
#include <iterator>

namespace troupe::actors::simulation {

namespace {

const duration& any_of(const std::vector<duration>& times, std::mt19937_64& dice) {
  return times[dice() % times.size()];
}

duration scaled(duration of, double by) {
  return duration{static_cast<std::int64_t>(static_cast<double>(of.count()) * by)};
}

} // namespace

void run_times::add(std::size_t model, std::size_t device, std::size_t shape, std::int64_t rows,
                    duration took) {
  keep({model, device, shape}, rows, took);
  keep({model, any, shape}, rows, took);
  keep({model, device, any}, rows, took);
  keep({model, any, any}, rows, took);
}

// Of very many runs any is as likely to be kept as another one, the later ones a little more.
void run_times::keep(const key& of, std::int64_t rows, duration took) {
  auto& times = seen_[of][rows];
  if (times.size() < kept)
    times.push_back(took);
  else
    times[dice_() % kept] = took;
}

bool run_times::knows(std::size_t model) const {
  return seen_.contains({model, any, any});
}

const run_times::sizes& run_times::closest(std::size_t model, std::size_t device,
                                           std::size_t shape) const {
  for (const auto& of :
       {key{model, device, shape}, key{model, any, shape}, key{model, device, any}})
    if (const auto at = seen_.find(of); at != seen_.end())
      return at->second;
  return seen_.at({model, any, any});
}

duration run_times::draw(std::size_t model, std::size_t device, std::size_t shape,
                         std::int64_t rows, std::mt19937_64& dice) const {
  const auto& known = closest(model, device, shape);
  const auto above = known.lower_bound(rows);
  if (above != known.end() && (above->first == rows || above == known.begin()))
    return any_of(above->second, dice); // a smaller batch costs no more than the smallest seen
  const auto below = std::prev(above);
  const auto lower = any_of(below->second, dice);
  if (above == known.end())
    return scaled(lower, static_cast<double>(rows) / static_cast<double>(below->first));
  const auto share =
      static_cast<double>(rows - below->first) / static_cast<double>(above->first - below->first);
  return lower + scaled(any_of(above->second, dice) - lower, share);
}

} // namespace troupe::actors::simulation
