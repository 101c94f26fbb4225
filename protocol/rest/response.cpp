#include "protocol/rest/response.hpp"

#include "protocol/rest/json_text.hpp"
#include "protocol/server_identity.hpp"

#include <array>
#include <ctime>

namespace troupe::protocol::rest {
namespace {

std::string_view reason_of(int status) noexcept {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 411: return "Length Required";
    case 413: return "Payload Too Large";
    case 415: return "Unsupported Media Type";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 499: return "Client Closed Request";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return "Unknown";
  }
}

} // namespace

std::size_t response::bytes() const noexcept {
  std::size_t all = body.size();
  for (const auto& each : tail)
    all += each.size();
  return all;
}

int status_of(errc code, bool as_triton) noexcept {
  switch (code) {
    case errc::invalid_argument:
    case errc::failed_precondition: return 400;
    case errc::unauthenticated: return 401;
    case errc::permission_denied: return 403;
    case errc::not_found: return 404;
    case errc::already_exists: return 409;
    case errc::resource_exhausted: return as_triton ? 503 : 429;
    case errc::cancelled: return 499;
    case errc::internal: return 500;
    case errc::unimplemented: return 501;
    case errc::unavailable: return 503;
    case errc::deadline_exceeded: return as_triton ? 503 : 504;
  }
  return 500;
}

response error_response(int status, std::string_view text) {
  response answer;
  answer.status = status;
  answer.body = "{\"error\":";
  append_lossy(answer.body, text);
  answer.body += '}';
  return answer;
}

response error_response(const error& failure, bool as_triton) {
  auto answer = error_response(status_of(failure.code, as_triton), failure.text);
  answer.retry_after_ms = failure.retry_after_ms;
  return answer;
}

std::string format_head(const response& answer, bool keep_alive) {
  std::array<char, 40> date{};
  const std::time_t now = std::time(nullptr);
  std::tm split{};
  gmtime_r(&now, &split);
  // The C locale's names, which a program keeps unless it asks for others.
  const auto length = std::strftime(date.data(), date.size(), "%a, %d %b %Y %H:%M:%S GMT", &split);

  auto head = fmt::format("HTTP/1.1 {} {}\r\nServer: {}/{}\r\nDate: {}\r\nContent-Length: {}\r\n",
                          answer.status, reason_of(answer.status), server_name, server_version,
                          std::string_view{date.data(), length}, answer.bytes());
  if (answer.has_tail)
    head += fmt::format(
        "Content-Type: application/octet-stream\r\nInference-Header-Content-Length: {}\r\n",
        answer.body.size());
  else if (!answer.body.empty())
    head += "Content-Type: application/json\r\n";
  if (answer.retry_after_ms > 0)
    head += fmt::format("Retry-After: {}\r\n",
                        answer.retry_after_ms / 1000 + (answer.retry_after_ms % 1000 != 0));
  if (!answer.allow.empty())
    head += fmt::format("Allow: {}\r\n", answer.allow);
  head += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return head;
}

} // namespace troupe::protocol::rest
