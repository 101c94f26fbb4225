"""Real text out of real images: the samples by every door, files that are no images, and accuracy."""

import json
import subprocess
import sys

import pytest

from support import BUILD, OCR_MODELS, ROOT, Server, report

sys.path.insert(0, str(ROOT / "scripts"))
sys.path.insert(0, str(ROOT / "clients" / "python"))

import ocr_accuracy
import render_samples
from troupe_client import Client, TroupeError

TROUPE_OCR = BUILD / "bin" / "troupe-ocr"


@pytest.fixture(scope="module")
def server():
    with Server("--model-repository", OCR_MODELS) as running:
        yield running


@pytest.fixture(scope="module")
def client(server):
    with Client(server.url("msgpack")) as connected:
        yield connected


@pytest.fixture(scope="module")
def samples():
    folder = BUILD / "samples"
    folder.mkdir(parents=True, exist_ok=True)
    render_samples.samples(folder)
    return sorted(path for path in folder.iterdir() if path.suffix in (".png", ".jpg"))


def troupe_ocr(*arguments):
    return subprocess.run([TROUPE_OCR, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def test_the_samples_are_read_right(client, samples):
    assert len(samples) >= 3
    for path in samples:
        answer = client.infer("ocr", {"image": [path.read_bytes()]}, timeout=120)
        lines = [line.decode() for line in answer["text"]]
        assert lines == ocr_accuracy.truth_of(path), path.name
        assert answer["boxes"].shape == (len(lines), 4, 2)
        assert answer["scores"].min() > 0.5
        steps = {name: round(ms) for name, ms in answer.parameters.items() if name.endswith("_ms")}
        assert set(steps) >= {"decode_ms", "detect_ms", "classify_ms", "recognise_ms"}
        report(f"ocr {path.name}: {steps}")


def test_several_images_of_a_request_are_told_apart(client, samples):
    answer = client.infer("ocr", {"image": [path.read_bytes() for path in samples]}, timeout=120)
    for index, path in enumerate(samples):
        lines = [text.decode() for text, image in zip(answer["text"], answer["image_index"])
                 if image == index]
        assert lines == ocr_accuracy.truth_of(path)


@pytest.mark.parametrize("file, reason", [
    (b"", "got no bytes"),
    (b"hello", "expected a PNG or JPEG file"),
    (b"\x89PNG\r\n\x1a\n" + bytes(100), "PNG image"),
    (b"\xff\xd8\xff\xe0" + bytes(100), "JPEG image"),
])
def test_what_is_no_image_gets_a_clear_error(client, file, reason):
    with pytest.raises(TroupeError, match=reason):
        client.infer("ocr", {"image": [file]})


def test_an_image_cut_short_gets_a_clear_error_and_the_next_is_read(client, samples):
    whole = samples[0].read_bytes()
    with pytest.raises(TroupeError, match="input image, element 0"):
        client.infer("ocr", {"image": [whole[:len(whole) // 2]]})
    assert len(client.infer("ocr", {"image": [whole]}, timeout=120)["text"]) > 0


def test_the_program_prints_the_text_by_every_door(server, samples):
    expected = "".join(line + "\n" for line in ocr_accuracy.truth_of(samples[0]))
    for door in (["--models", OCR_MODELS], ["--url", server.url("msgpack")],
                 ["--url", server.url("http")]):
        done = troupe_ocr(*door, samples[0])
        assert (done.returncode, done.stdout, done.stderr) == (0, expected, ""), door


def test_the_program_tells_images_apart_and_speaks_json(server, samples):
    url = server.url("msgpack")
    both = troupe_ocr("--url", url, *samples[:2])
    for path in samples[:2]:
        assert f"== {path} ==\n{ocr_accuracy.truth_of(path)[0]}\n" in both.stdout
    images = json.loads(troupe_ocr("--json", "--url", url, samples[0]).stdout)["images"]
    assert [line["text"] for line in images[0]["lines"]] == ocr_accuracy.truth_of(samples[0])
    assert images[0]["timings_ms"]["detect_ms"] > 0


def test_the_program_reports_errors_in_one_line(server, samples, tmp_path):
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"nothing")
    done = troupe_ocr("--url", server.url("msgpack"), broken, samples[0])
    assert done.returncode == 1
    assert done.stderr.startswith(f"troupe: {broken}: ") and done.stderr.count("\n") == 1
    assert ocr_accuracy.truth_of(samples[0])[0] in done.stdout
    assert troupe_ocr().returncode == 2


def test_accuracy_is_high_and_not_below_the_package(server):
    done = subprocess.run([sys.executable, ROOT / "scripts" / "ocr_accuracy.py", server.url("msgpack"),
                           BUILD / "ocr_accuracy"], capture_output=True, text=True, timeout=1500)
    for line in done.stdout.splitlines()[-3:]:
        report(line)
    assert done.returncode == 0, done.stdout + done.stderr
