#include "apps/ocr/vision/direction.hpp"

namespace troupe::ocr {

std::vector<facing> settle_directions(std::span<const direction_guess> guesses, float sure) {
  std::vector<facing> facings;
  float balance = 0;
  for (const auto& guess : guesses) {
    if (guess.upside_down > sure) {
      facings.push_back(facing::upside_down);
      balance += guess.width;
    } else if (1 - guess.upside_down > sure) {
      facings.push_back(facing::upright);
      balance -= guess.width;
    } else {
      facings.push_back(facing::unsure);
    }
  }
  auto majority = balance > 0 ? facing::upside_down : facing::upright;
  for (auto& each : facings)
    if (each != majority)
      each = facing::unsure;
  return facings;
}

} // namespace troupe::ocr
