#include "apps/common/npy_dict.hpp"

#include <charconv>
#include <optional>

namespace troupe::apps {
namespace {

constexpr std::size_t max_rank = 64; // numpy's own limit

/// Reads the few forms that a header's dict takes.
class header_reader {
public:
  explicit header_reader(std::string_view text) : rest_{text} {}

  result<npy_dict> read() {
    npy_dict made;
    int known = 0;
    if (!take('{'))
      return unexpected("'{'");
    while (!take('}')) {
      auto key = quoted();
      if (!key || !take(':'))
        return unexpected("a key and ':'");
      if (*key == "descr") {
        auto descr = quoted();
        if (!descr)
          return troupe::fail(errc::invalid_argument,
                              "its elements are records; only plain numbers are read");
        made.descr = *descr;
      } else if (*key == "fortran_order") {
        if (take_word("True"))
          made.fortran_order = true;
        else if (!take_word("False"))
          return unexpected("True or False");
      } else if (*key == "shape") {
        if (!read_shape(made.dims))
          return unexpected("a tuple of sizes");
      } else {
        return troupe::fail(errc::invalid_argument, "the header has an unknown key '{}'", *key);
      }
      ++known;
      take(',');
    }
    if (known != 3 || made.descr.empty())
      return troupe::fail(errc::invalid_argument,
                          "the header must have descr, fortran_order and shape, once each");
    return made;
  }

private:
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n'))
      rest_.remove_prefix(1);
  }

  bool take(char expected) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != expected)
      return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool take_word(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word))
      return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::optional<std::string> quoted() {
    skip_blanks();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"'))
      return std::nullopt;
    const auto end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string text{rest_.substr(1, end - 1)};
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool read_shape(shape& dims) {
    if (!take('('))
      return false;
    while (!take(')')) {
      skip_blanks();
      std::int64_t size = 0;
      const auto [end, failure] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (failure != std::errc{} || dims.size() == max_rank)
        return false;
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      dims.push_back(size);
      if (!take(',')) {
        skip_blanks();
        if (!rest_.starts_with(')'))
          return false;
      }
    }
    return true;
  }

  [[nodiscard]] tl::unexpected<error> unexpected(std::string_view expected) const {
    return troupe::fail(errc::invalid_argument, "the header has '{}' where {} was expected",
                        rest_.substr(0, 20), expected);
  }

  std::string_view rest_;
};

} // namespace

result<npy_dict> parse_npy_dict(std::string_view text) {
  return header_reader{text}.read();
}

} // namespace troupe::apps
