"""`troupe run`, `bench` and `inspect` from the outside: output files, JSON, exit status, error lines."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

import numpy as np
import onnx

TROUPE = os.environ["TROUPE"]
MODELS = pathlib.Path(os.environ["MODELS"])


def model(name):
    return str(MODELS / name / "1" / "model.onnx")


def troupe(*arguments):
    return subprocess.run([TROUPE, *map(str, arguments)], capture_output=True, text=True, check=False)


class CommandLine(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def save(self, name, content):
        np.save(self.scratch / name, content)
        return self.scratch / name

    def refused(self, status, part, *arguments):
        done = troupe(*arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, r"\Atroupe: [^\n]+\n\Z")
        self.assertIn(part, done.stderr)
        self.assertEqual(done.stdout, "")

    def run_add(self, **files):
        inputs = [part for name, file in files.items() for part in ("--input", f"{name}={file}")]
        return ["run", model("add"), *inputs, "--output", self.scratch / "out"]

    def test_run_writes_a_file_per_output_and_a_manifest(self):
        a = self.save("a.npy", np.float32([[1, 2, 3, 4]]))
        b = self.save("b.npy", np.float32([[10, 20, 30, 40]]))
        done = troupe(*self.run_add(a=a, b=b))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        manifest = json.loads((self.scratch / "out/manifest.json").read_text())
        self.assertEqual(
            manifest["outputs"],
            [{"name": "sum", "file": "sum.npy", "datatype": "FP32", "shape": [1, 4]}],
        )
        np.testing.assert_array_equal(np.load(self.scratch / "out/sum.npy"), [[11, 22, 33, 44]])

    def test_run_takes_no_rows(self):
        none = self.save("none.npy", np.zeros((0, 4), np.float32))
        self.assertEqual(troupe(*self.run_add(a=none, b=none)).returncode, 0)
        self.assertEqual(np.load(self.scratch / "out/sum.npy").shape, (0, 4))

    def test_run_refuses_what_does_not_fit(self):
        good = self.save("good.npy", np.ones((1, 4), np.float32))
        double = self.save("double.npy", np.ones((1, 4)))
        wide = self.save("wide.npy", np.ones((1, 5), np.float32))
        fortran = self.save("fortran.npy", np.asfortranarray(np.ones((2, 4), np.float32)))
        objects = self.save("objects.npy", np.array([["a", None]], dtype=object))
        self.refused(1, "input 'b' takes FP32, but", *self.run_add(a=good, b=double))
        self.refused(1, "input 'b': axis 1 must be 4, but [1,5] came", *self.run_add(a=good, b=wide))
        self.refused(1, "Fortran order", *self.run_add(a=fortran, b=good))
        self.refused(1, "'|O'", *self.run_add(a=objects, b=good))
        self.refused(1, "nowhere.npy", *self.run_add(a=good, b="nowhere.npy"))
        self.refused(2, "input 'b' is missing", *self.run_add(a=good))
        self.refused(2, "no such input", *self.run_add(a=good, b=good, c=good))
        self.refused(1, "nowhere.onnx", "run", "nowhere.onnx", "--output", self.scratch)
        self.refused(1, "good.npy", "run", good, "--output", self.scratch)
        self.refused(2, "--output", "run", model("add"))

    def test_batch_invariance_takes_rows_that_are_proved_independent(self):
        def mean_of(dims):
            node = onnx.helper.make_node("ReduceMean", ["x"], ["y"], axes=[0])
            declared = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
                        for name, shape in (("x", dims), ("y", [1, 2]))]
            graph = onnx.helper.make_graph([node], "mean", declared[:1], declared[1:])
            opset = onnx.helper.make_opsetid("", 13)
            onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8),
                      self.scratch / "mean.onnx")

        x = self.save("x.npy", np.float32([[1, 2], [3, 4]]))
        run = ["run", self.scratch / "mean.onnx", "--input", f"x={x}", "--batch-invariant",
               "--output", self.scratch / "out"]
        mean_of(["n", 2])
        self.refused(1, "its rows cannot be batch-invariant: node 'ReduceMean_y'", *run)
        mean_of([2, 2])  # has one batch only
        self.assertEqual(troupe(*run).returncode, 0)

    def test_a_precision_that_is_not_built_is_refused(self):
        for precision in ("bf16", "f16", "int8"):
            self.refused(1, f"precision {precision}", "bench", model("add"), "--precision", precision)
        self.refused(2, "--precision", "bench", model("add"), "--precision", "q4")

    def test_bench_prints_the_agreed_keys(self):
        done = troupe("bench", model("tiny_conv"), "--shape", "x=2,3,9,7", "--seconds", "0.01", "--json",
                      "--threads", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        for key in ("min_ms", "p50_ms", "p99_ms", "runs", "load_ms", "peak_rss_mb", "arena_bytes",
                    "weight_bytes"):
            self.assertIn(key, answer)
        self.assertLessEqual(answer["min_ms"], answer["p50_ms"])
        self.assertLessEqual(answer["p50_ms"], answer["p99_ms"])
        self.assertGreaterEqual(answer["runs"], 1)

    def test_bench_profiles_every_step(self):
        shape = ("--shape", "x=1,3,8,8", "--threads", "1", "--seconds", "0.01")
        done = troupe("bench", model("tiny_conv"), *shape, "--profile")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("GFLOP/s", done.stdout)
        self.assertIn("/Conv_0", done.stdout)
        self.assertIn("not compute:", done.stdout)
        done = troupe("bench", model("tiny_conv"), *shape, "--profile", "--json")
        self.assertIn("/Conv_0", [row["node"] for row in json.loads(done.stdout)["profile"]["steps"]])

    def test_bench_asks_for_free_dims(self):
        self.refused(2, "--shape x=", "bench", model("tiny_conv"))
        self.refused(2, "no list of sizes", "bench", model("tiny_conv"), "--shape", "x=1,3,many")
        self.refused(2, "no such input", "bench", model("tiny_conv"), "--shape", "y=1,3,4,4")
        self.refused(1, "axis 1 must be 3", "bench", model("tiny_conv"), "--shape", "x=1,4,4,4")

    def test_inspect_shows_graph_kernels_and_memory(self):
        done = troupe("inspect", model("tiny_conv"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("input   x FP32 [batch,3,height,width]", done.stdout)
        self.assertIn("rows are independent", done.stdout)
        self.assertNotIn("plan for", done.stdout)
        done = troupe("inspect", model("tiny_conv"), "--plan", "--shape", "x=1,3,8,8")
        self.assertIn("plan for [1,3,8,8]", done.stdout)
        self.assertIn("declined", done.stdout)
        self.assertIn("memory: arena", done.stdout)

    def test_inspect_speaks_json_and_draws(self):
        shape = ("--shape", "x=1,3,8,8")
        done = troupe("inspect", model("tiny_conv"), "--plan", "--json", *shape)
        answer = json.loads(done.stdout)
        self.assertTrue(answer["rows_independent"])
        self.assertGreaterEqual(answer["plan"]["arena_bytes"], answer["plan"]["live_bound_bytes"])
        self.assertIn("Conv", [step["operator"] for step in answer["plan"]["steps"]])
        drawing = self.scratch / "plan.svg"
        done = troupe("inspect", model("tiny_conv"), "--svg", drawing, *shape)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(xml.etree.ElementTree.parse(drawing).getroot().tag.endswith("svg"))


if __name__ == "__main__":
    unittest.main()
