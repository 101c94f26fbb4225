#pragma once

namespace troupe {

/// Names the calling thread for debuggers and /proc; cut to 15 characters.
void name_this_thread(const char* name);

} // namespace troupe
