#include "runtime/repository/schema_types.hpp"

namespace troupe::repository {

std::optional<dtype> type_of(schema::DataType type) {
  switch (type) {
    case schema::TYPE_BOOL: return dtype::boolean;
    case schema::TYPE_UINT8: return dtype::uint8;
    case schema::TYPE_UINT16: return dtype::uint16;
    case schema::TYPE_UINT32: return dtype::uint32;
    case schema::TYPE_UINT64: return dtype::uint64;
    case schema::TYPE_INT8: return dtype::int8;
    case schema::TYPE_INT16: return dtype::int16;
    case schema::TYPE_INT32: return dtype::int32;
    case schema::TYPE_INT64: return dtype::int64;
    case schema::TYPE_FP16: return dtype::float16;
    case schema::TYPE_FP32: return dtype::float32;
    case schema::TYPE_FP64: return dtype::float64;
    case schema::TYPE_STRING: return dtype::string;
    case schema::TYPE_BF16: return dtype::bfloat16;
    default: return std::nullopt;
  }
}

} // namespace troupe::repository
