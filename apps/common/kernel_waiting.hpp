#pragma once

namespace troupe::apps {

/// Keeps the kernel threads of this program from spinning for long while they wait for each other.
/// libgomp's default, milliseconds of spinning at every barrier, multiplies the time of a run as
/// soon as anything else wants the cores: the server's own actors, a client on the same machine.
/// libgomp reads its settings when it is loaded, so the program starts itself again, once, with
/// GOMP_SPINCOUNT set. Does nothing where the user set that or OMP_WAIT_POLICY. First line of main:
/// no thread, no open file of ours may exist yet. A program that embeds the library is never
/// touched.
void limit_kernel_spinning(char** argv);

} // namespace troupe::apps
