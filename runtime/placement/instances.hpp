#pragma once

#include "runtime/placement/resource_pool.hpp"

#include <string>
#include <vector>

namespace troupe::placement {

/// On what terms a model runs on a device that it may share with others.
struct instance_terms {
  int instances = 0; ///< batches of the model that the device may hold at once; 0: its tickets
  double share = 1;  ///< of the device's time, in proportion to the other models'
  std::vector<resource_need> resources; ///< what each batch holds while it runs
};

} // namespace troupe::placement
