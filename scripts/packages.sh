# Sourced: the Debian 12 packages that Troupe needs, by purpose.

build=(
  build-essential cmake ninja-build ccache ca-certificates
  libcaf-dev
  libboost-dev libboost-test-dev
  libdnnl-dev ocl-icd-opencl-dev libhwy-dev libre2-dev
  libprotobuf-dev protobuf-compiler
  libmsgpack-cxx-dev libsimdjson-dev nlohmann-json3-dev libtomlplusplus-dev
  libspdlog-dev libfmt-dev libcli11-dev libexpected-dev
  libpng-dev libjpeg62-turbo-dev libopencv-imgproc-dev libpolyclipping-dev
  python3 python3-venv
  curl fonts-dejavu-core fonts-liberation fonts-freefont-ttf fonts-open-sans
)
# libonnx-testdata: the ONNX project's own operator tests. clang: fuzzers, format and lint.
test=(
  libonnx-testdata
  clang-14 libclang-rt-14-dev libomp-14-dev clang-format-14 clang-tidy-14
  dpkg-dev
)
# A compiler for 64-bit ARM, what fetches that architecture's packages, and what runs its programs here.
arm64=(g++-aarch64-linux-gnu mmdebstrap qemu-user)
