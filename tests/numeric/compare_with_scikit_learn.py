#!/usr/bin/env python3
"""compare_with_scikit_learn.py TROUPE [--only PIPELINE…]

Trains small scikit-learn pipelines, converts them with skl2onnx and runs them through `troupe run`:
labels must be those of scikit-learn, probabilities and regressed values agree within
1e-5 + 1e-4 |expected|. Exits with 1 if anything differs.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType
from sklearn import compose, ensemble, linear_model, naive_bayes, neighbors, neural_network
from sklearn import impute, pipeline, preprocessing, svm, tree

ABSOLUTE, RELATIVE = 1e-5, 1e-4
ROWS, FEATURES = 300, 6
NAMES = np.array(["ash", "birch", "cedar"])


def make_data(classes, texts=False):
    random = np.random.default_rng(7)
    x = random.standard_normal((ROWS, FEATURES)).astype(np.float32)
    score = x[:, 0] + x[:, 1] * x[:, 2] + 0.3 * random.standard_normal(ROWS)
    if classes == 0:
        return x, score.astype(np.float32)
    y = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    return x, NAMES[y] if texts else y


def with_gaps(x):
    x = x.copy()
    x[::5, 1] = np.nan
    return x


def chain(*steps):
    return pipeline.make_pipeline(*steps)


def pipelines():
    """Name, model, number of classes (0: regression), text labels."""
    small = {"n_estimators": 20, "random_state": 0}
    yield "tree", tree.DecisionTreeClassifier(max_depth=5, random_state=0), 3, False
    yield "tree, binary", tree.DecisionTreeClassifier(max_depth=5, random_state=0), 2, False
    yield "forest", ensemble.RandomForestClassifier(**small), 3, False
    yield "forest, binary", ensemble.RandomForestClassifier(**small), 2, False
    yield "forest, text labels", ensemble.RandomForestClassifier(**small), 3, True
    yield "forest, 200 trees", ensemble.RandomForestClassifier(200, random_state=0), 2, True
    yield "extra trees", ensemble.ExtraTreesClassifier(**small), 3, False
    yield "boosting", ensemble.GradientBoostingClassifier(**small), 3, False
    yield "boosting, binary", ensemble.GradientBoostingClassifier(**small), 2, True
    yield "bagging", ensemble.BaggingClassifier(n_estimators=5, random_state=0), 2, False
    yield "logistic", linear_model.LogisticRegression(), 3, False
    yield "logistic, binary", linear_model.LogisticRegression(), 2, False
    yield "logistic, binary texts", linear_model.LogisticRegression(), 2, True
    yield "descent", linear_model.SGDClassifier(loss="log_loss", random_state=0), 3, False
    yield "linear svm", svm.LinearSVC(), 3, False
    yield "linear svm, binary", svm.LinearSVC(), 2, False
    yield "svm, probabilities", svm.SVC(probability=True, random_state=0), 3, False
    yield "svm, probabilities, binary", svm.SVC(probability=True, random_state=0), 2, True
    yield "svm, polynomial", svm.SVC(kernel="poly"), 3, False
    yield "svm, polynomial, binary", svm.SVC(kernel="poly"), 2, False
    yield "svm, sigmoid", svm.SVC(kernel="sigmoid"), 2, False
    yield "naive bayes", naive_bayes.GaussianNB(), 3, False
    yield "network", neural_network.MLPClassifier((8,), max_iter=60, random_state=0), 3, True
    yield "scaled logistic", chain(preprocessing.StandardScaler(), linear_model.LogisticRegression()), 3, True
    yield "ranged svm", chain(preprocessing.MinMaxScaler(), svm.SVC(probability=True, random_state=0)), 3, False
    yield "robust forest", chain(preprocessing.RobustScaler(), ensemble.RandomForestClassifier(**small)), 2, False
    for norm in ("l1", "l2", "max"):
        yield f"norm {norm}", chain(preprocessing.Normalizer(norm), linear_model.LogisticRegression()), 3, False
    yield "binarized", chain(preprocessing.Binarizer(threshold=0.1), linear_model.LogisticRegression()), 2, False
    yield "imputed forest", chain(impute.SimpleImputer(), ensemble.RandomForestClassifier(**small)), 2, False
    yield "imputed median", chain(impute.SimpleImputer(strategy="median"), tree.DecisionTreeClassifier(random_state=0)), 3, False
    yield "tree, regression", tree.DecisionTreeRegressor(max_depth=6, random_state=0), 0, False
    yield "forest, regression", ensemble.RandomForestRegressor(**small), 0, False
    yield "boosting, regression", ensemble.GradientBoostingRegressor(**small), 0, False
    yield "linear", linear_model.LinearRegression(), 0, False
    yield "ridge", chain(preprocessing.StandardScaler(), linear_model.Ridge()), 0, False
    yield "svr", svm.SVR(), 0, False
    yield "svr, polynomial", svm.SVR(kernel="poly", degree=2, coef0=1), 0, False
    yield "svr, linear", svm.LinearSVR(), 0, False
    yield "network, regression", neural_network.MLPRegressor(hidden_layer_sizes=(8,), max_iter=60, random_state=0), 0, False
    yield "neighbours, regression", neighbors.KNeighborsRegressor(3), 0, False


def read_output(directory, described):
    """Texts are written as KServe does: each behind its length."""
    file = directory / described["file"]
    if described["datatype"] != "BYTES":
        return np.load(file)
    content, texts = file.read_bytes(), []
    while content:
        length = int.from_bytes(content[:4], "little")
        texts.append(content[4:4 + length])
        content = content[4 + length:]
    return np.array(texts).reshape(described["shape"])


def run_troupe(program, model, inputs):
    with tempfile.TemporaryDirectory() as scratch:
        directory = pathlib.Path(scratch)
        (directory / "model.onnx").write_bytes(model.SerializeToString())
        command = [program, "run", directory / "model.onnx", "--output", directory / "out"]
        for index, (name, content) in enumerate(inputs.items()):
            np.save(directory / f"{index}.npy", content)
            command += ["--input", f"{name}={directory}/{index}.npy"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        listed = json.loads((directory / "out/manifest.json").read_text())["outputs"]
        return [read_output(directory / "out", one) for one in listed]


def texts_of(labels):
    return np.array([one.decode() if isinstance(one, bytes) else str(one) for one in labels.ravel()])


def share_of_allowed(expected, came):
    expected, came = np.asarray(expected, np.float64), np.asarray(came, np.float64)
    if expected.size != came.size:
        return float("inf")
    gap = np.abs(expected.ravel() - came.ravel()) / (ABSOLUTE + RELATIVE * np.abs(expected.ravel()))
    return float(np.max(gap, initial=0.0)) if np.isfinite(came).all() else float("inf")


def compare(program, model, x, inputs, classes, zip_map):
    options = {id(model): {"zipmap": zip_map}} if hasattr(model, "predict_proba") else None
    converted = to_onnx(model, initial_types=inputs["types"], options=options, target_opset={"": 18, "ai.onnx.ml": 3})
    came = run_troupe(program, converted, inputs["values"])
    if classes == 0:
        return share_of_allowed(model.predict(x), came[0])
    if (texts_of(came[0]) != texts_of(model.predict(x))).any():
        return float("inf")
    if hasattr(model, "predict_proba"):
        return share_of_allowed(model.predict_proba(x), came[1])
    return 0.0


def mixed_columns(program):
    """Numbers with gaps and texts, each in an input of its own."""
    import pandas
    random = np.random.default_rng(11)
    frame = pandas.DataFrame({
        "height": random.standard_normal(ROWS).astype(np.float32),
        "age": random.integers(1, 90, ROWS).astype(np.float32),
        "kind": NAMES[random.integers(0, 3, ROWS)],
        "count": random.integers(0, 4, ROWS),
    })
    frame.loc[::7, "age"] = np.nan
    y = NAMES[(frame["height"] + (frame["kind"] == "ash") > 0.3).astype(int)]
    numbers = chain(impute.SimpleImputer(), preprocessing.StandardScaler())
    columns = compose.make_column_transformer(
        (numbers, ["height", "age"]),
        (preprocessing.OneHotEncoder(handle_unknown="ignore"), ["kind"]),
        (preprocessing.OneHotEncoder(handle_unknown="ignore"), ["count"]))
    model = chain(columns, ensemble.RandomForestClassifier(20, random_state=0)).fit(frame, y)
    values = {name: frame[[name]].to_numpy() for name in frame}
    values["kind"] = values["kind"].astype("S")
    types = [("height", FloatTensorType([None, 1])), ("age", FloatTensorType([None, 1])),
             ("kind", StringTensorType([None, 1])), ("count", Int64TensorType([None, 1]))]
    return compare(program, model, frame, {"values": values, "types": types}, 2, False)


def main():
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("troupe")
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    failed = total = 0

    def report(name, measure):
        nonlocal failed, total
        total += 1
        try:
            share, text = measure(), ""
        except Exception as error:
            share, text = float("inf"), str(error)[:600]
        failed += share > 1
        if share > 1:
            print(f"{name:<32} {100 * share:>8.2f}%  WRONG {text}", flush=True)

    for number, (name, model, classes, texts) in enumerate(pipelines()):
        if options.only and name not in options.only:
            continue
        x, y = make_data(classes, texts)
        if name.startswith("imputed"):
            x = with_gaps(x)
        model.fit(x, y)
        inputs = {"values": {"x": x}, "types": [("x", FloatTensorType([None, FEATURES]))]}
        zip_map = number % 2 == 0 and hasattr(model, "predict_proba")
        report(name, lambda: compare(options.troupe, model, x, inputs, classes, zip_map))
    if not options.only or "mixed columns" in options.only:
        report("mixed columns", lambda: mixed_columns(options.troupe))
    print(f"{total - failed} of {total} pipelines agree with scikit-learn")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
