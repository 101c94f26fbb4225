#!/usr/bin/env python3
"""Checks that includes point one way between the folders of the tree, and that a library is included
only where docs/architecture.md lets it in.

    check_includes.py [ROOT]

A file belongs to the longest folder of ALLOWED that holds it. tests/X may include what X may include, X
itself, and the tests/ of both. Prints one line per breach; exit status 1 if there is one.
"""

import pathlib
import re
import sys

# folder: the folders of ours that its files may include (itself always)
BASE = ["kernels/base", "kernels/tensor"]
ALLOWED = {
    "kernels/base": [],
    "kernels/tensor": ["kernels/base"],
    "kernels": [],
    "runtime": ["kernels"],
    "protocol": BASE,
    "actors": ["runtime", "protocol", "kernels"],
    "clients": ["protocol", *BASE],
    "apps/ocr": ["actors/troupe.hpp", "protocol", "clients/cpp", "apps/common/kernel_waiting.hpp", *BASE],
    "apps": ["actors", "runtime", "protocol", "clients", "kernels"],
    "conformance": ["runtime", "kernels"],
    "bench": ["apps", "actors", "runtime", "protocol", "clients", "kernels"],
    "examples": ["troupe"],
}

# library header: the folders whose files may include it (under tests/ too)
LIBRARIES = {
    "caf/": ["actors"],
    "boost/asio": ["protocol", "actors", "clients", "apps", "bench"],
    "boost/beast": ["protocol", "clients", "apps", "bench"],
    "simdjson": ["protocol", "clients", "apps", "bench"],
    "msgpack": ["protocol", "clients", "bench"],
    "dnnl": ["kernels/cpu"],
    "oneapi/dnnl": ["kernels/cpu"],
    "hwy/": ["kernels"],
    "re2/": ["kernels/cpu/values"],
    "omp.h": ["kernels", "runtime/exec", "bench"],
    "google/protobuf": ["runtime/onnx", "runtime/repository", "protocol/grpc"],
    "opencv2/": ["apps/ocr"],
    "png.h": ["apps/ocr"],
    "jpeglib.h": ["apps/ocr"],
    "clipper.hpp": ["apps/ocr"],
    "CLI/": ["apps", "bench", "conformance"],
    "toml++/": ["apps", "runtime/pipeline"],
    "nlohmann/": ["runtime", "protocol", "clients", "apps", "bench"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCES = {".hpp", ".cpp", ".h"}


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def owner(path):
    holders = [f for f in ALLOWED if inside(path, f)]
    return max(holders, key=len) if holders else None


def breaches(file, text, headers):
    place = file.removeprefix("tests/")
    folder = owner(place)
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        target = match.group(2)
        for library, places in LIBRARIES.items():
            if target.startswith(library) and not any(inside(place, p) for p in places):
                yield f"{file}:{number}: {target} is for {', '.join(places)} only"
        if target not in headers or folder is None:
            continue
        allowed = [folder, *ALLOWED[folder]]
        if file != place:
            allowed += ["tests/" + a for a in allowed] + ["tests/support"]
        if not any(inside(target, a) for a in allowed):
            yield f"{file}:{number}: {folder}/ may not include {target}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    folders = {f.split("/")[0] for f in ALLOWED} | {"tests"}
    files = sorted(
        path.relative_to(root).as_posix()
        for folder in folders
        for path in (root / folder).rglob("*")
        if path.suffix in SOURCES
    )
    found = [
        breach
        for file in files
        for breach in breaches(file, (root / file).read_text(encoding="utf-8"), set(files))
    ]
    print("\n".join(found) if found else f"{len(files)} files: includes point the right way")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
