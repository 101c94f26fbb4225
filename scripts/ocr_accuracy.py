#!/usr/bin/env python3
"""How well the OCR pipeline reads, through a server, beside the package its networks come from.

  ocr_accuracy.py URL [DIRECTORY]     default: build/ocr_accuracy, rendered if it is not there

Sends the images of scripts/render_samples.py to the model `ocr` of a running server (tcp://HOST:PORT),
many at a time, and reads the same files with rapidocr-onnxruntime.

Character accuracy is 1 - d / n, where d is the sum over all images of the edit distance (insertions,
deletions, substitutions of one character) between the text found and the true one, and n the number of
true characters. A text is its lines in reading order, joined by line ends, which count as characters,
as do spaces. The second figure leaves all white space out of both texts: the recogniser was trained on
Chinese and seldom sees spaces, which the pipeline makes up for and the package does not. The package
does not turn the order of lines on a page that lies upside down; it is given the better of both orders.

Fails if the server's accuracy is below 98 % or, by either figure, below the package's.
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "clients" / "python"))
sys.path.insert(0, str(ROOT / "scripts"))

import render_samples
from troupe_client import Client

REQUIRED = 0.98
IN_FLIGHT = 8


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def without_spaces(text):
    return "".join(text.split())


class Score:
    """Sums over images, by both figures."""

    def __init__(self):
        self.errors = [0, 0]
        self.characters = [0, 0]

    def add(self, orders, truth):
        """`orders`: the lines found, in the orders among which the best counts."""
        for figure, form in enumerate((lambda text: text, without_spaces)):
            expected = form("\n".join(truth))
            self.errors[figure] += min(edit_distance(form("\n".join(lines)), expected)
                                       for lines in orders)
            self.characters[figure] += len(expected)

    def accuracy(self):
        return [1 - errors / count for errors, count in zip(self.errors, self.characters)]


def images_in(folder):
    if not folder.is_dir():
        folder.mkdir(parents=True)
        for index in range(100):
            render_samples.accuracy_image(index, folder)
    return sorted(path for path in folder.iterdir() if path.suffix in (".png", ".jpg"))


def truth_of(image):
    return image.with_suffix(".txt").read_text(encoding="utf-8").splitlines()


def read_by_server(url, images):
    """The lines of each image; several requests are on their way at once."""
    with Client(url) as client:
        def read(path):
            answer = client.infer("ocr", {"image": [path.read_bytes()]}, timeout=120)
            return [line.decode() for line in answer["text"]]

        with ThreadPoolExecutor(IN_FLIGHT) as pool:
            return list(pool.map(read, images))


def read_by_package(images):
    """The same by rapidocr-onnxruntime; kept beside the images, since it takes a minute or two."""
    kept = images[0].parent / "package.json"
    newest = max(path.stat().st_mtime for path in images)
    if kept.exists() and kept.stat().st_mtime > newest:
        return json.loads(kept.read_text(encoding="utf-8"))
    from rapidocr_onnxruntime import RapidOCR

    # One thread: ONNX Runtime's threads spin, and on a busy machine wait for each other.
    engine = RapidOCR(intra_op_num_threads=1)
    texts = []
    for path in images:
        found, _ = engine(str(path))
        texts.append([line[1] for line in found or []])
    kept.write_text(json.dumps(texts), encoding="utf-8")
    return texts


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    images = images_in(Path(sys.argv[2]) if len(sys.argv) == 3 else ROOT / "build" / "ocr_accuracy")
    ours, theirs = Score(), Score()
    for image, lines in zip(images, read_by_server(sys.argv[1], images), strict=True):
        ours.add([lines], truth_of(image))
        if lines != truth_of(image):
            print(f"{image.name}: {lines}\n    instead of {truth_of(image)}")
    for image, lines in zip(images, read_by_package(images), strict=True):
        theirs.add([lines, lines[::-1]], truth_of(image))

    print(f"{len(images)} images            characters  without spaces")
    for name, score in (("server", ours), ("rapidocr-onnxruntime", theirs)):
        print("{:22s} {:>9.2%} {:>15.2%}".format(name, *score.accuracy()))
    enough = ours.accuracy()[0] >= REQUIRED
    not_below = all(a >= b for a, b in zip(ours.accuracy(), theirs.accuracy()))
    return 0 if enough and not_below else 1


if __name__ == "__main__":
    sys.exit(main())
