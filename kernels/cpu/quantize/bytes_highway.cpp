#include "kernels/cpu/quantize/bytes.hpp"

#include "kernels/cpu/highway_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/quantize/bytes_highway.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace troupe::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using namespace bytes;
using real_tag = hn::ScalableTag<float>;
using integer_tag = hn::ScalableTag<std::int32_t>;
template <class Byte>
using byte_tag = hn::Rebind<Byte, real_tag>; // as many as there are real numbers in a vector

// Calls `step(from, to)` for whole vectors, the last one of fewer elements through `spare`, where
// elements that are not there are zero.
template <class From, class To, class Step>
HWY_INLINE void for_each_vector(const From* x, std::int64_t count, To* y, const Step& step) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(real_tag{}));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    step(x + i, y + i);
  if (i == count)
    return;
  HWY_ALIGN From spare_x[hn::MaxLanes(real_tag{})] = {};
  HWY_ALIGN To spare_y[hn::MaxLanes(real_tag{})] = {};
  for (std::int64_t j = i; j < count; ++j)
    spare_x[j - i] = x[j];
  step(spare_x, spare_y);
  for (std::int64_t j = i; j < count; ++j)
    y[j] = spare_y[j - i];
}

// Rounds within the bounds and adds a whole number.
template <class Byte>
class rounding {
public:
  rounding(const byte_bounds& within, std::int32_t add)
      : low_{hn::Set(real_tag{}, static_cast<float>(within.lowest - add))},
        high_{hn::Set(real_tag{}, static_cast<float>(within.highest - add))}, add_{hn::Set(
                                                                                  integer_tag{},
                                                                                  add)} {}

  // Within the bounds a number is its last byte: nothing is left to saturate.
  HWY_INLINE void store(hn::Vec<real_tag> x, Byte* y) const {
    const hn::RebindToUnsigned<integer_tag> d;
    const auto nearest = hn::Add(hn::NearestInt(hn::Min(hn::Max(x, low_), high_)), add_);
    const auto last = hn::And(hn::BitCast(d, nearest), hn::Set(d, 0xFFU));
    hn::StoreU(hn::BitCast(byte_tag<Byte>{}, hn::U8FromU32(last)), byte_tag<Byte>{}, y);
  }

private:
  hn::Vec<real_tag> low_;
  hn::Vec<real_tag> high_;
  hn::Vec<integer_tag> add_;
};

template <class Byte>
HWY_INLINE hn::Vec<integer_tag> whole(const Byte* x) {
  return hn::PromoteTo(integer_tag{}, hn::LoadU(byte_tag<Byte>{}, x));
}

template <class Byte>
void quantize_to(const float* x, std::int64_t count, const meaning& of, const byte_bounds& within,
                 Byte* y) {
  const rounding<Byte> round{within, of.zero_point};
  const auto low = hn::Set(real_tag{}, static_cast<float>(within.lowest - of.zero_point));
  const auto scale = hn::Set(real_tag{}, of.scale);
  for_each_vector(x, count, y, [&](const float* from, Byte* to) HWY_ATTR {
    const auto real = hn::Div(hn::LoadU(real_tag{}, from), scale);
    round.store(hn::IfThenElse(hn::Eq(real, real), real, low), to);
  });
}

template <class Byte>
void dequantize_from(const Byte* x, std::int64_t count, const meaning& of, float* y) {
  const auto scale = hn::Set(real_tag{}, of.scale);
  const auto zero_point = hn::Set(integer_tag{}, of.zero_point);
  for_each_vector(x, count, y, [&](const Byte* from, float* to) HWY_ATTR {
    const auto real = hn::ConvertTo(real_tag{}, hn::Sub(whole(from), zero_point));
    hn::StoreU(hn::Mul(real, scale), real_tag{}, to);
  });
}

template <class A, class B, class Y>
void add_to(const A* a, const meaning& of_a, const B* b, const meaning& of_b, std::int64_t count,
            const meaning& of_y, const byte_bounds& within, Y* y) {
  // a ka + b kb + what the zero points come to, that of y included
  const auto by_a = of_a.scale / of_y.scale;
  const auto by_b = of_b.scale / of_y.scale;
  const auto a_factor = hn::Set(real_tag{}, by_a);
  const auto b_factor = hn::Set(real_tag{}, by_b);
  const auto rest = hn::Set(real_tag{}, static_cast<float>(of_y.zero_point)
                                            - static_cast<float>(of_a.zero_point) * by_a
                                            - static_cast<float>(of_b.zero_point) * by_b);
  const rounding<Y> round{within, 0};
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(real_tag{}));
  const auto vectors = count / lanes * lanes;
  const auto sum = [&](const A* from_a, const B* from_b, Y* to) HWY_ATTR {
    const auto real_a = hn::ConvertTo(real_tag{}, whole(from_a));
    const auto real_b = hn::ConvertTo(real_tag{}, whole(from_b));
    round.store(hn::MulAdd(real_a, a_factor, hn::MulAdd(real_b, b_factor, rest)), to);
  };
  for (std::int64_t i = 0; i < vectors; i += lanes)
    sum(a + i, b + i, y + i);
  if (vectors == count)
    return;
  HWY_ALIGN A spare_a[hn::MaxLanes(real_tag{})] = {};
  HWY_ALIGN B spare_b[hn::MaxLanes(real_tag{})] = {};
  HWY_ALIGN Y spare_y[hn::MaxLanes(real_tag{})] = {};
  for (auto i = vectors; i < count; ++i) {
    spare_a[i - vectors] = a[i];
    spare_b[i - vectors] = b[i];
  }
  sum(spare_a, spare_b, spare_y);
  for (auto i = vectors; i < count; ++i)
    y[i] = spare_y[i - vectors];
}

// Calls `use` with the address as one of signed or unsigned bytes.
template <class Use>
void as_bytes(const std::byte* at, bool is_signed, const Use& use) {
  if (is_signed)
    use(reinterpret_cast<const std::int8_t*>(at));
  else
    use(reinterpret_cast<const std::uint8_t*>(at));
}

template <class Use>
void as_bytes(std::byte* at, bool is_signed, const Use& use) {
  if (is_signed)
    use(reinterpret_cast<std::int8_t*>(at));
  else
    use(reinterpret_cast<std::uint8_t*>(at));
}

void quantize_all(const float* x, std::int64_t count, const meaning& of, const byte_bounds& within,
                  std::byte* y) {
  as_bytes(y, of.is_signed, [&](auto* to) { quantize_to(x, count, of, within, to); });
}

void dequantize_all(const std::byte* x, std::int64_t count, const meaning& of, float* y) {
  as_bytes(x, of.is_signed, [&](const auto* from) { dequantize_from(from, count, of, y); });
}

void add_all(const std::byte* a, const meaning& of_a, const std::byte* b, const meaning& of_b,
             std::int64_t count, const meaning& of_y, const byte_bounds& within, std::byte* y) {
  as_bytes(a, of_a.is_signed, [&](const auto* from_a) {
    as_bytes(b, of_b.is_signed, [&](const auto* from_b) {
      as_bytes(y, of_y.is_signed,
               [&](auto* to) { add_to(from_a, of_a, from_b, of_b, count, of_y, within, to); });
    });
  });
}

} // namespace
} // namespace troupe::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe::cpu::bytes {
namespace {
HWY_EXPORT(quantize_all);
HWY_EXPORT(dequantize_all);
HWY_EXPORT(add_all);
} // namespace

void quantize(const float* x, std::int64_t count, const meaning& of, const byte_bounds& within,
              std::byte* y) {
  HWY_DYNAMIC_DISPATCH(quantize_all)(x, count, of, within, y);
}

void dequantize(const std::byte* x, std::int64_t count, const meaning& of, float* y) {
  HWY_DYNAMIC_DISPATCH(dequantize_all)(x, count, of, y);
}

void add(const std::byte* a, const meaning& of_a, const std::byte* b, const meaning& of_b,
         std::int64_t count, const meaning& of_y, const byte_bounds& within, std::byte* y) {
  HWY_DYNAMIC_DISPATCH(add_all)(a, of_a, b, of_b, count, of_y, within, y);
}

} // namespace troupe::cpu::bytes
#endif
