#include "kernels/cpu/tiled_copy.hpp"

#include "kernels/cpu/parallel.hpp"

#include <algorithm>
#include <cstring>

namespace troupe::cpu {

namespace {

constexpr std::int64_t tile = 16;

// to[c * to_stride .. ][r] = from[r * from_stride + c]: rows of the source are contiguous along c,
// rows of the target along r.
void turn(const std::uint32_t* from, std::uint32_t* to, std::int64_t rows, std::int64_t columns,
          std::int64_t from_stride, std::int64_t to_stride) {
  for (std::int64_t c0 = 0; c0 < columns; c0 += tile)
    for (std::int64_t r0 = 0; r0 < rows; r0 += tile) {
      const auto r_end = std::min(rows - r0, tile);
      const auto c_end = std::min(columns - c0, tile);
      const auto* source = from + r0 * from_stride + c0;
      auto* target = to + c0 * to_stride + r0;
      if (r_end == tile && c_end == tile) {
        std::uint32_t turned[tile][tile];
        for (std::int64_t r = 0; r < tile; ++r)
          for (std::int64_t c = 0; c < tile; ++c)
            turned[c][r] = source[r * from_stride + c];
        for (std::int64_t c = 0; c < tile; ++c)
          std::memcpy(target + c * to_stride, turned[c], sizeof turned[c]);
      } else {
        for (std::int64_t c = 0; c < c_end; ++c)
          for (std::int64_t r = 0; r < r_end; ++r)
            target[c * to_stride + r] = source[r * from_stride + c];
      }
    }
}

} // namespace

tiled_copy::tiled_copy(const strided_box& box, int threads)
    : box_{simplified(box)}, threads_{threads} {
  const auto last = box_.dims.size() - 1;
  if (box_.from_strides[last] == 1 || box_.to_strides[last] != 1 || box_.element_bytes != 4)
    return;
  for (std::size_t loop = 0; loop < last; ++loop)
    if (box_.from_strides[loop] == 1 && box_.dims[loop] > 1)
      row_ = loop;
  if (!row_)
    return;
  planes_.strides.resize(2);
  for (std::size_t loop = 0; loop < last; ++loop) {
    if (loop == *row_)
      continue;
    planes_.dims.push_back(box_.dims[loop]);
    planes_.strides[0].push_back(box_.from_strides[loop]);
    planes_.strides[1].push_back(box_.to_strides[loop]);
  }
  planes_.dims.push_back(1); // for_each_row wants an innermost loop
  planes_.strides[0].push_back(0);
  planes_.strides[1].push_back(0);
}

void tiled_copy::run_tiles(const std::byte* from, std::byte* to) const {
  const auto* source = reinterpret_cast<const std::uint32_t*>(from);
  auto* target = reinterpret_cast<std::uint32_t*>(to);
  const auto last = box_.dims.size() - 1;
  const auto rows = box_.dims[last];
  const auto columns = box_.dims[*row_];
  const auto to_stride = box_.to_strides[*row_];
  const auto part = [&](std::span<const std::int64_t> offsets, std::int64_t begin,
                        std::int64_t end) {
    turn(source + offsets[0] + begin, target + offsets[1] + begin * to_stride, rows, end - begin,
         box_.from_strides[last], to_stride);
  };
  const auto planes = planes_.outer();
  if (planes >= threads_) {
    parallel_for(threads_, planes, rows * columns, [&](std::int64_t begin, std::int64_t end) {
      for_each_row(planes_, begin, end,
                   [&](std::int64_t, auto offsets) { part(offsets, 0, columns); });
    });
    return;
  }
  for_each_row(planes_, 0, planes, [&](std::int64_t, auto offsets) {
    parallel_for(threads_, columns, rows, [&](std::int64_t begin, std::int64_t end) { //
      part(offsets, begin, end);
    });
  });
}

void tiled_copy::run(const std::byte* from, std::byte* to) const {
  const auto count = element_count(box_.dims);
  if (count == 0)
    return;
  if (row_)
    return run_tiles(from, to);
  // The longest of the outer loops is cut; a single loop is cut too.
  std::size_t cut = 0;
  for (std::size_t loop = 1; loop + 1 < box_.dims.size(); ++loop)
    if (box_.dims[loop] > box_.dims[cut])
      cut = loop;
  const auto bytes = static_cast<std::int64_t>(box_.element_bytes);
  parallel_for(threads_, box_.dims[cut], count / box_.dims[cut],
               [&](std::int64_t begin, std::int64_t end) {
                 auto part = box_;
                 part.dims[cut] = end - begin;
                 part.copy(from + begin * box_.from_strides[cut] * bytes,
                           to + begin * box_.to_strides[cut] * bytes);
               });
}

} // namespace troupe::cpu
