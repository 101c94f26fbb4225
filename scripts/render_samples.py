#!/usr/bin/env python3
"""Renders images of English text and says what they show.

Two sets, each the same on every run:

  render_samples.py samples DIR            three pages to look at
  render_samples.py accuracy DIR [COUNT]   a set (100 unless told) to measure a reader with

Beside every NAME.png or NAME.jpg lies NAME.txt: the lines of text from top to bottom as a reader
holding the page upright sees them. One image in ten of the accuracy set, and one of the samples,
stands upside down.

Needs Pillow, numpy and Debian's packages fonts-dejavu-core, fonts-liberation, fonts-freefont-ttf and
fonts-open-sans. Files that exist already are written again.
"""

import random
import sys
from pathlib import Path

import numpy
from PIL import Image, ImageDraw, ImageFilter, ImageFont

FONT_ROOT = Path("/usr/share/fonts/truetype")
SANS = ["dejavu/DejaVuSans.ttf", "dejavu/DejaVuSans-Bold.ttf", "liberation/LiberationSans-Regular.ttf",
        "liberation/LiberationSans-Bold.ttf", "freefont/FreeSans.ttf", "freefont/FreeSansBold.ttf",
        "open-sans/OpenSans-Regular.ttf", "open-sans/OpenSans-Semibold.ttf"]
SERIF = ["dejavu/DejaVuSerif.ttf", "dejavu/DejaVuSerif-Bold.ttf",
         "liberation/LiberationSerif-Regular.ttf", "liberation/LiberationSerif-Bold.ttf",
         "freefont/FreeSerif.ttf", "freefont/FreeSerifBold.ttf"]
MONO = ["dejavu/DejaVuSansMono.ttf", "liberation/LiberationMono-Regular.ttf"]
FONTS = SANS + SERIF + MONO

WORDS = """
actor bridge carbon delta engine forest garden harbor island journal kernel lantern market nature
orange paper quarter river silver timber union valley window yellow zebra answer basket castle
dinner energy family gentle hunter insect jacket kitten letter morning number office planet question
record summer travel useful victor weather annual bottle coffee doctor empty future ground holiday
image jungle kitchen little mother narrow orchard picture quick report spring theory update village
winter across before change during either follow growth health income joined known large model north
other place quiet right seven three under value while young about black clear drive early first great
heavy inside joint light major never often power queue round small table until visit water exact
""".split()
UNITS = ["kg", "km", "EUR", "USD", "min", "GB"]
INKS = [(0, 0, 0), (20, 20, 60), (60, 10, 10), (10, 50, 20), (40, 40, 40), (70, 30, 90)]
PAPERS = [(255, 255, 255), (250, 246, 235), (235, 240, 250), (240, 250, 238), (252, 236, 236),
          (228, 228, 228)]


def font(name, size):
    path = FONT_ROOT / name
    if not path.exists():
        sys.exit(f"render_samples: {path} is missing; install fonts-{path.parent.name}")
    return ImageFont.truetype(str(path), size, layout_engine=ImageFont.Layout.BASIC)


def cased(word, rng):
    return rng.choice([word, word, word.capitalize(), word.upper()])


def phrase(rng, words):
    """A line of words, now and then with a number or a code in it."""
    parts = [cased(rng.choice(WORDS), rng) for _ in range(words)]
    kind = rng.randrange(5)
    if kind == 0:
        parts.insert(rng.randrange(len(parts) + 1), str(rng.randint(10, 99999)))
    elif kind == 1:
        parts.append(f"{rng.randint(1, 999)}.{rng.randint(0, 99):02d} {rng.choice(UNITS)}")
    elif kind == 2:
        parts[-1] += rng.choice([".", ","])
        if rng.random() < 0.5:
            parts.insert(0, f"{rng.choice('ABCDEFGHKLMNPRSTUVWXYZ')}{rng.randint(100, 999)}")
    return " ".join(parts)


def text_lines(rng, count, most_words):
    return [phrase(rng, rng.randint(1, most_words)) for _ in range(count)]


def background(size, paper, rng):
    """Plain, a gentle gradient, or grain like paper's."""
    width, height = size
    kind = rng.choice(["plain", "plain", "gradient", "grain"])
    pixels = numpy.empty((height, width, 3), numpy.float32)
    pixels[:] = paper
    if kind == "gradient":
        ramp = numpy.linspace(0, rng.uniform(-25, 25), width if rng.random() < 0.5 else height)
        pixels += ramp[None, :, None] if len(ramp) == width else ramp[:, None, None]
    elif kind == "grain":
        grain = numpy.random.default_rng(rng.randrange(2**32)).normal(0, 5, (height, width, 1))
        pixels += grain
    return Image.fromarray(pixels.clip(0, 255).astype(numpy.uint8))


def draw_page(lines, fonts, ink, make_background, margin=40, spacing=1.55):
    """Lines under one another, each in its font; the page is as large as they need."""
    boxes = [face.getbbox(line) for line, face in zip(lines, fonts)]
    width = max(box[2] for box in boxes) + 2 * margin
    heights = [int(sum(face.getmetrics()) * spacing / 1.2) for face in fonts]
    page = make_background((width, sum(heights) + 2 * margin))
    pen = ImageDraw.Draw(page)
    y = margin
    for line, face, height in zip(lines, fonts, heights):
        pen.text((margin, y), line, font=face, fill=ink)
        y += height
    return page


def worn(page, paper, rng):
    """What a scanner or a camera adds: a little tilt, blur and noise."""
    if rng.random() < 0.4:
        page = page.rotate(rng.uniform(-2.5, 2.5), Image.Resampling.BICUBIC, expand=True,
                           fillcolor=paper)
    if rng.random() < 0.3:
        page = page.filter(ImageFilter.GaussianBlur(rng.uniform(0.3, 0.8)))
    if rng.random() < 0.4:
        noise = numpy.random.default_rng(rng.randrange(2**32))
        pixels = numpy.asarray(page, numpy.float32)
        pixels = pixels + noise.normal(0, rng.uniform(2, 8), pixels.shape)
        page = Image.fromarray(pixels.clip(0, 255).astype(numpy.uint8))
    return page


def save(page, lines, target, quality=None):
    if quality:
        page.save(target.with_suffix(".jpg"), quality=quality)
    else:
        page.save(target.with_suffix(".png"))
    target.with_suffix(".txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def accuracy_image(index, folder):
    rng = random.Random(f"accuracy {index}")
    sizes = [rng.randint(20, 56)] * 8 if rng.random() < 0.6 else [rng.randint(20, 56) for _ in range(8)]
    name = rng.choice(FONTS)
    lines = text_lines(rng, rng.randint(1, 8), rng.choice([3, 4, 6]))
    ink, paper = rng.choice(INKS), rng.choice(PAPERS)
    if rng.random() < 0.15:
        ink, paper = paper, ink
    page = draw_page(lines, [font(name, size) for size in sizes[:len(lines)]], ink,
                     lambda size: background(size, paper, rng))
    page = worn(page, paper, rng)
    if index % 10 == 7:
        page = page.transpose(Image.Transpose.ROTATE_180)
    save(page, lines, folder / f"page_{index:03d}", rng.choice([None, None, 80, 92]))


def samples(folder):
    plain = lambda paper: lambda size: Image.new("RGB", size, paper)
    letter = ["The Morning Report", "Rain over the northern valley until noon,",
              "then clear skies and a light wind from", "the west. Temperatures reach 21 degrees.",
              "Page 3 of 48"]
    faces = [font("dejavu/DejaVuSerif-Bold.ttf", 52)] \
        + [font("liberation/LiberationSerif-Regular.ttf", 32)] * 3 \
        + [font("open-sans/OpenSans-Regular.ttf", 22)]
    save(draw_page(letter, faces, (25, 25, 25), plain((252, 250, 244))), letter, folder / "letter")

    sign = ["PLATFORM 9", "Express to Harbor City", "Departs 14:35"]
    faces = [font("dejavu/DejaVuSans-Bold.ttf", 72), font("dejavu/DejaVuSans.ttf", 44),
             font("dejavu/DejaVuSans.ttf", 36)]
    page = draw_page(sign, faces, (250, 250, 250), plain((20, 60, 120)))
    save(page, sign, folder / "sign", quality=90)

    label = ["FRAGILE", "Handle with care", "Order 58213-A", "Weight 12.5 kg"]
    faces = [font("liberation/LiberationSans-Bold.ttf", 64)] \
        + [font("liberation/LiberationSans-Regular.ttf", 36)] * 3
    page = draw_page(label, faces, (120, 20, 20), plain((235, 225, 205)))
    save(page.transpose(Image.Transpose.ROTATE_180), label, folder / "label_upside_down")


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in ("samples", "accuracy"):
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    if sys.argv[1] == "samples":
        samples(folder)
    else:
        for index in range(int(sys.argv[3]) if len(sys.argv) == 4 else 100):
            accuracy_image(index, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
