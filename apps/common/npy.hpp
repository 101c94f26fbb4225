#pragma once

#include "kernels/base/result.hpp"
#include "kernels/tensor/tensor.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace troupe::apps {

/// numpy's name of an element type in a .npy header, such as "<f4"; empty for bfloat16 and string,
/// which numpy does not have.
[[nodiscard]] std::optional<std::string> npy_descr(dtype type);

/// Decodes a file in numpy's .npy format, versions 1 to 3: little-endian numbers and booleans in C
/// order; fixed-size strings (S) and raw bytes (V) become elements of type string, S without its
/// trailing zeros. invalid_argument on anything else (Fortran order, big-endian, objects, unicode,
/// a size that does not match the content), saying what came. Never allocates more than the file
/// holds, twice over.
[[nodiscard]] result<tensor> parse_npy(shared_bytes file);

/// Reads and decodes a file; the error names it.
[[nodiscard]] result<tensor> read_npy(const std::filesystem::path& file);

/// A .npy file, version 1, of a row-major tensor whose type numpy has.
[[nodiscard]] std::string npy_header(dtype type, std::span<const std::int64_t> dims);

} // namespace troupe::apps
