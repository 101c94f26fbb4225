#include "apps/ocr/image/decode.hpp"
#include "apps/ocr/image/exif.hpp"

#include <cstdio> // jpeglib.h wants it first

#include <jerror.h>
#include <jpeglib.h>

#include <array>
#include <csetjmp>

// libjpeg leaves by longjmp. Every function that calls it through a `setjmp` here holds nothing
// with a destructor; what must be freed belongs to `jpeg_reader`, whose methods return after the
// jump.

namespace troupe::ocr {
namespace {

constexpr int max_scans = 200; ///< a small progressive file may ask for endless passes
constexpr unsigned exif_marker = JPEG_APP0 + 1;

struct error_manager {
  jpeg_error_mgr base{};
  std::jmp_buf landing{};
  std::array<char, JMSG_LENGTH_MAX> text{};
};

[[noreturn]] void leave(j_common_ptr codec) {
  auto* errors = reinterpret_cast<error_manager*>(codec->err);
  errors->base.format_message(codec, errors->text.data());
  std::longjmp(errors->landing, 1);
}

// The library goes on after a file that ends early and paints the rest gray; here that is an error.
// Its other warnings are harmless oddities of real cameras.
void on_message(j_common_ptr codec, int level) {
  if (level < 0
      && (codec->err->msg_code == JWRN_JPEG_EOF || codec->err->msg_code == JWRN_HIT_MARKER))
    leave(codec);
}

void discard(j_common_ptr) {}

void on_progress(j_common_ptr codec) {
  auto* decoder = reinterpret_cast<j_decompress_ptr>(codec);
  if (decoder->input_scan_number > max_scans) {
    codec->err->msg_code = JERR_BAD_PROGRESSION;
    leave(codec);
  }
}

class jpeg_reader {
public:
  jpeg_reader() {
    codec_.err = jpeg_std_error(&errors_.base);
    errors_.base.error_exit = leave;
    errors_.base.emit_message = on_message;
    errors_.base.output_message = discard;
    progress_.progress_monitor = on_progress;
  }
  ~jpeg_reader() { jpeg_destroy_decompress(&codec_); }
  jpeg_reader(const jpeg_reader&) = delete;
  jpeg_reader& operator=(const jpeg_reader&) = delete;

  [[nodiscard]] bool read_header(std::span<const std::byte> file) {
    if (setjmp(errors_.landing) != 0)
      return false;
    jpeg_create_decompress(&codec_);
    codec_.progress = &progress_;
    jpeg_mem_src(&codec_, reinterpret_cast<const unsigned char*>(file.data()),
                 static_cast<unsigned long>(file.size()));
    jpeg_save_markers(&codec_, static_cast<int>(exif_marker), 0xffff);
    jpeg_read_header(&codec_, TRUE);
    four_channels_ = codec_.jpeg_color_space == JCS_CMYK || codec_.jpeg_color_space == JCS_YCCK;
    codec_.out_color_space = four_channels_ ? JCS_CMYK : JCS_EXT_BGR;
    return true;
  }

  [[nodiscard]] bool start() {
    if (setjmp(errors_.landing) != 0)
      return false;
    jpeg_start_decompress(&codec_);
    return true;
  }

  [[nodiscard]] bool read_row(std::uint8_t* to) {
    if (setjmp(errors_.landing) != 0)
      return false;
    JSAMPROW rows[] = {to};
    jpeg_read_scanlines(&codec_, rows, 1);
    return true;
  }

  [[nodiscard]] bool four_channels() const noexcept { return four_channels_; }
  /// Adobe's writers store ink as 255 - ink.
  [[nodiscard]] bool inverted_ink() const noexcept { return codec_.saw_Adobe_marker != FALSE; }
  [[nodiscard]] std::int64_t width() const noexcept { return codec_.image_width; }
  [[nodiscard]] std::int64_t height() const noexcept { return codec_.image_height; }
  [[nodiscard]] const char* message() const noexcept { return errors_.text.data(); }

  [[nodiscard]] int orientation() const noexcept {
    for (auto* marker = codec_.marker_list; marker != nullptr; marker = marker->next)
      if (marker->marker == exif_marker) {
        std::span bytes{reinterpret_cast<const std::byte*>(marker->data), marker->data_length};
        if (auto found = exif_orientation(bytes); found != 1)
          return found;
      }
    return 1;
  }

private:
  jpeg_decompress_struct codec_{};
  error_manager errors_{};
  jpeg_progress_mgr progress_{};
  bool four_channels_ = false;
};

void ink_to_bgr(const std::vector<std::uint8_t>& inks, bool inverted, std::uint8_t* bgr) {
  for (std::size_t i = 0; i < inks.size(); i += 4, bgr += 3)
    for (std::size_t c = 0; c < 3; ++c) {
      int light = inverted ? inks[i + c] : 255 - inks[i + c];
      int key = inverted ? inks[i + 3] : 255 - inks[i + 3];
      bgr[2 - c] = static_cast<std::uint8_t>(light * key / 255);
    }
}

} // namespace

result<image> decode_jpeg(std::span<const std::byte> file, const decode_limits& limits) {
  jpeg_reader reader;
  auto refusal = [&] { return fail(errc::invalid_argument, "JPEG image: {}", reader.message()); };
  if (!reader.read_header(file))
    return refusal();
  if (auto fits = check_size(reader.width(), reader.height(), limits); !fits)
    return propagate(std::move(fits));
  if (!reader.start())
    return refusal();

  image decoded(static_cast<int>(reader.width()), static_cast<int>(reader.height()));
  std::vector<std::uint8_t> inks(
      reader.four_channels() ? static_cast<std::size_t>(decoded.width) * 4 : 0);
  for (int y = 0; y < decoded.height; ++y) {
    if (!reader.read_row(inks.empty() ? decoded.row(y) : inks.data()))
      return refusal();
    if (!inks.empty())
      ink_to_bgr(inks, reader.inverted_ink(), decoded.row(y));
  }
  return upright(std::move(decoded), reader.orientation());
}

} // namespace troupe::ocr
