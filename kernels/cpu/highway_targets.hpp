#pragma once

// Instruction sets that our vector code is not compiled for; included before Highway. Nobody has
// SSSE3 without SSE4, and the vectors of SVE and RVV have no size at compile time, which arrays of
// vectors need and from which the short loops here gain nothing.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
