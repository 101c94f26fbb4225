#!/usr/bin/env bash
# Lays out a model repository with the three PP-OCRv4 networks that the OCR demo uses. They come out of
# a PyPI wheel, pinned by version and checksum.
#   scripts/fetch_models.sh [DIRECTORY]      default: models/
set -euo pipefail
. "$(dirname "$0")/common.sh"

target=${1:-$root/models}
wheel=rapidocr_onnxruntime-1.4.4-py3-none-any.whl
sum=971d7d5f223a7a808662229df1ef69893809d8457d834e6373d3854bc1782cbf

# name, file inside the wheel's model folder, sha256
networks=(
  "ocr_det ch_PP-OCRv4_det_infer.onnx d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9"
  "ocr_cls ch_ppocr_mobile_v2.0_cls_infer.onnx e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c"
  "ocr_rec ch_PP-OCRv4_rec_infer.onnx 48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b"
)

# Shapes are those of one row; axis 0 of every network is the batch.
config_of() {
  case $1 in
    ocr_det) cat <<-'PBTXT'
	name: "ocr_det"
	max_batch_size: 8
	input [ { name: "x" data_type: TYPE_FP32 dims: [ 3, -1, -1 ] } ]
	output [ { name: "sigmoid_0.tmp_0" data_type: TYPE_FP32 dims: [ 1, -1, -1 ] } ]
	dynamic_batching { }
	PBTXT
      ;;
    ocr_cls) cat <<-'PBTXT'
	name: "ocr_cls"
	max_batch_size: 32
	input [ { name: "x" data_type: TYPE_FP32 dims: [ 3, 48, 192 ] } ]
	output [ { name: "save_infer_model/scale_0.tmp_1" data_type: TYPE_FP32 dims: [ 2 ] } ]
	dynamic_batching { }
	PBTXT
      ;;
    ocr_rec) cat <<-'PBTXT'
	name: "ocr_rec"
	max_batch_size: 32
	input [ { name: "x" data_type: TYPE_FP32 dims: [ 3, 48, -1 ] } ]
	output [ { name: "softmax_11.tmp_0" data_type: TYPE_FP32 dims: [ -1, 6625 ] } ]
	dynamic_batching { }
	PBTXT
      ;;
  esac
}

complete() {
  for network in "${networks[@]}"; do
    read -r name _ digest <<<"$network"
    echo "$digest  $target/$name/1/model.onnx" | sha256sum --status -c 2>/dev/null || return 1
    config_of "$name" | cmp -s - "$target/$name/config.pbtxt" || return 1
  done
}
! complete || exit 0

"$root/scripts/venv.sh"
python=$root/.venv/bin/python
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

step "fetching the OCR networks (16 MB)"
quietly "$python" -m pip download --no-deps --only-binary :all: --disable-pip-version-check \
  -d "$scratch" rapidocr-onnxruntime==1.4.4
echo "$sum  $scratch/$wheel" | sha256sum --status -c || die "$wheel does not have the expected checksum"

for network in "${networks[@]}"; do
  read -r name file digest <<<"$network"
  mkdir -p "$target/$name/1"
  "$python" - "$scratch/$wheel" "rapidocr_onnxruntime/models/$file" "$target/$name/1/model.onnx" <<-'PY'
	import sys, zipfile
	wheel, member, destination = sys.argv[1:]
	with zipfile.ZipFile(wheel) as archive, open(destination, "wb") as out:
	    out.write(archive.read(member))
	PY
  echo "$digest  $target/$name/1/model.onnx" | sha256sum --status -c || die "$name: unexpected checksum"
  config_of "$name" >"$target/$name/config.pbtxt"
done
