"""`troupe run` against ONNX Runtime on whole networks: three input shapes each, batches of 1, 3 and 8."""

import json
import subprocess

import numpy as np
import onnxruntime
import pytest

from support import MADE_MODELS, OCR_MODELS, TROUPE, report

BATCHES = (1, 3, 8)
IMAGES = {
    "ocr_det": (OCR_MODELS, "x", [(3, 96, 128), (3, 160, 160), (3, 64, 320)]),
    "ocr_rec": (OCR_MODELS, "x", [(3, 48, 320), (3, 48, 64), (3, 48, 203)]),
    "ocr_cls": (OCR_MODELS, "x", [(3, 48, 192), (3, 48, 100), (3, 32, 320)]),
    "resnet50": (MADE_MODELS, "input", [(3, 224, 224), (3, 64, 64), (3, 97, 131)]),
}


def image_inputs(name, shape, random):
    return {name: random.uniform(-1, 1, shape).astype(np.float32)}


def text_inputs(batch, length, random):
    mask = np.ones((batch, length), np.int64)
    mask[-1, length * 2 // 3:] = 0
    return {"input_ids": random.integers(0, 30522, (batch, length)),
            "attention_mask": mask,
            "token_type_ids": random.integers(0, 2, (batch, length))}


def cases():
    for model, (root, name, shapes) in IMAGES.items():
        for shape in shapes:
            yield pytest.param(root / model, lambda r, b, n=name, s=shape: image_inputs(n, (b, *s), r),
                               id=f"{model} {'x'.join(map(str, shape))}")
    for length in (128, 16, 57):
        yield pytest.param(MADE_MODELS / "minilm", lambda r, b, n=length: text_inputs(b, n, r),
                           id=f"minilm {length}")


@pytest.mark.parametrize("model, make", cases())
def test_outputs_agree_with_onnx_runtime(model, make, tmp_path, request):
    path = model / "1" / "model.onnx"
    session = onnxruntime.InferenceSession(path)
    names = [o.name for o in session.get_outputs()]
    for batch in BATCHES:
        inputs = make(np.random.default_rng(batch), batch)
        arguments = []
        for name, array in inputs.items():
            np.save(tmp_path / f"{name}.npy", array)
            arguments += ["--input", f"{name}={tmp_path / name}.npy"]
        subprocess.run([TROUPE, "run", path, *arguments, "--output", tmp_path / "out"], check=True,
                       capture_output=True, timeout=300)
        manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
        files = {o["name"]: tmp_path / "out" / o["file"] for o in manifest["outputs"]}
        assert list(files) == names
        for name, expected in zip(names, session.run(None, inputs)):
            actual = np.load(files[name])
            assert actual.shape == expected.shape and actual.dtype == expected.dtype
            report(f"{request.node.callspec.id}, batch {batch}: {name} differs by at most "
                   f"{np.abs(actual - expected).max():.1e}")
            np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-3)
