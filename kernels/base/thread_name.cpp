#include "kernels/base/thread_name.hpp"

#include <string>

#include <pthread.h>

namespace troupe {

void name_this_thread(const char* name) {
  pthread_setname_np(pthread_self(), std::string{name}.substr(0, 15).c_str());
}

} // namespace troupe
