#!/usr/bin/env bash
# update_lists.sh BUILD: brings every list up to what the built program does. New entries get a reason
# made from the error; better ones are written by hand and kept as long as the case fails.
set -euo pipefail
build=$(realpath "$1")
here=$(dirname "$(readlink -f "$0")")
debian=/usr/share/libonnx-testdata/data
"$here/write.sh" "$here/../.." "$build/onnx_node_tests"
update() { "$build/bin/conformance" "$1" --list "$here/lists/$2.txt" --write-list; }
update "$debian/node" onnx_1.12_node
update "$debian/simple" onnx_1.12_simple
update "$debian/pytorch-converted" onnx_1.12_pytorch_converted
update "$debian/pytorch-operator" onnx_1.12_pytorch_operator
update "$build/onnx_node_tests" onnx_1.23_node
