"""Frames of docs/msgpack-protocol.md from and to numpy: no sockets, no state but a decoder's buffer."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import msgpack
import numpy as np

from .errors import Code, TroupeError

Parameter = Union[bool, int, float, str]
Parameters = Mapping[str, Parameter]

REQUEST, RESPONSE, NOTIFICATION = 0, 1, 2
DEFAULT_PORT = 8003
MAX_RESPONSE_BYTES = 1 << 30

_NAMES = {
    "bool": "BOOL",
    "uint8": "UINT8", "uint16": "UINT16", "uint32": "UINT32", "uint64": "UINT64",
    "int8": "INT8", "int16": "INT16", "int32": "INT32", "int64": "INT64",
    "float16": "FP16", "bfloat16": "BF16", "float32": "FP32", "float64": "FP64",
}
_DTYPES = {wire: name for name, wire in _NAMES.items()}


@dataclass
class InferResult:
    """An answer to ``infer``. ``result["y"]`` is ``result.outputs["y"]``."""

    model_name: str
    model_version: str
    outputs: Dict[str, np.ndarray]
    id: str = ""
    parameters: Dict[str, Parameter] = field(default_factory=dict)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.outputs[name]


def _pack_strings(array: np.ndarray) -> bytes:
    parts: List[bytes] = []
    for element in array.ravel():
        if isinstance(element, str):
            element = element.encode()
        elif isinstance(element, (bytearray, memoryview)):
            element = bytes(element)
        if not isinstance(element, bytes):
            raise TroupeError(Code.INVALID_ARGUMENT,
                              f"an element of BYTES must be bytes or str, not {type(element).__name__}")
        parts += (struct.pack("<I", len(element)), element)
    return b"".join(parts)


def _unpack_strings(data: bytes, count: int) -> np.ndarray:
    array = np.empty(count, dtype=object)
    at = 0
    for i in range(count):
        if len(data) - at < 4:
            raise TroupeError(Code.INVALID_ARGUMENT, "BYTES of the answer end too early")
        (length,) = struct.unpack_from("<I", data, at)
        at += 4
        if len(data) - at < length:
            raise TroupeError(Code.INVALID_ARGUMENT, "BYTES of the answer end too early")
        array[i] = data[at:at + length]
        at += length
    return array


def _as_array(value: Any) -> np.ndarray:
    """Like numpy.asarray, but bytes keep their trailing zeros."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, (bytes, str)):
        array = np.empty((), dtype=object)
        array[()] = value
        return array
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, (bytes, bytearray, str)) for v in value):
        array = np.empty(len(value), dtype=object)
        array[:] = value
        return array
    return np.asarray(value)


def encode_tensor(array: np.ndarray) -> Tuple[str, Any]:
    """An array's wire datatype and its bytes."""
    if array.dtype.kind in "OSU":
        return "BYTES", _pack_strings(array)
    name = _NAMES.get(array.dtype.name)
    if name is None:
        raise TroupeError(Code.INVALID_ARGUMENT, f"numpy type {array.dtype} has no counterpart on the wire")
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    # Through uint8, since not every type (bfloat16) lends its memory.
    return name, memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))


def decode_tensor(datatype: str, shape: Sequence[int], data: bytes) -> np.ndarray:
    """A read-only view of ``data``; a fresh array for BYTES."""
    try:
        if datatype == "BYTES":
            return _unpack_strings(data, int(np.prod(shape, dtype=np.int64))).reshape(shape)
        name = _DTYPES.get(datatype)
        if name is None:
            raise TroupeError(Code.UNIMPLEMENTED, f"the answer holds a tensor of unknown type {datatype}")
        if name == "bfloat16":
            import ml_dtypes

            return np.frombuffer(data, np.uint16).view(ml_dtypes.bfloat16).reshape(shape)
        return np.frombuffer(data, np.dtype(name).newbyteorder("<")).reshape(shape)
    except ImportError:
        raise TroupeError(Code.UNIMPLEMENTED, "BF16 needs the package ml_dtypes") from None
    except (ValueError, TypeError) as e:
        raise TroupeError(Code.INVALID_ARGUMENT, f"a tensor of the answer cannot be read: {e}") from None


def encode_infer(
    request_id: int,
    model: str,
    inputs: Mapping[str, Any],
    outputs: Optional[Sequence[str]] = None,
    version: str = "",
    label: str = "",
    parameters: Optional[Parameters] = None,
) -> List[Any]:
    """The pieces of a request frame, in order, tensors without a copy where their memory allows."""
    described = []
    payloads = []
    for name, value in inputs.items():
        array = _as_array(value)
        datatype, data = encode_tensor(array)
        size = data.nbytes if isinstance(data, memoryview) else len(data)
        described.append({"name": name, "datatype": datatype, "shape": list(array.shape), "byte_size": size})
        payloads.append((size, data))
    header: Dict[str, Any] = {"model_name": model, "inputs": described}
    if version:
        header["model_version"] = version
    if label:
        header["id"] = label
    if parameters:
        header["parameters"] = dict(parameters)
    if outputs is not None:
        header["outputs"] = [{"name": name} for name in outputs]
    packer = msgpack.Packer()
    pieces = [
        b"".join((
            packer.pack_array_header(4), packer.pack(REQUEST), packer.pack(request_id), packer.pack("infer"),
            packer.pack_array_header(1 + len(payloads)), packer.pack(header),
        ))
    ]
    for size, data in payloads:
        if size > 0xFFFFFFFF:
            raise TroupeError(Code.INVALID_ARGUMENT, f"an input of {size} bytes is more than the protocol carries")
        pieces.append(struct.pack(">BI", 0xC6, size))
        pieces.append(data)
    return pieces


def coalesced(pieces: List[Any], small: int = 65536) -> List[Any]:
    """The same bytes in one piece if they are few: one packet instead of several."""
    size = sum(p.nbytes if isinstance(p, memoryview) else len(p) for p in pieces)
    return [b"".join(pieces)] if size <= small else pieces


def encode_request(request_id: int, method: str, model: str = "", version: str = "") -> bytes:
    about: Dict[str, str] = {}
    if model:
        about["model_name"] = model
    if version:
        about["model_version"] = version
    return msgpack.packb([REQUEST, request_id, method, [about] if about else []])


def encode_cancel(request_id: int) -> bytes:
    return msgpack.packb([NOTIFICATION, "cancel", [{"id": request_id}]])


def readable(read: Callable[[Any], Any], result: Any) -> Any:
    """What ``read`` makes of a result; an error if the result is not shaped as it expects."""
    try:
        return read(result)
    except (KeyError, TypeError, IndexError, AttributeError) as e:
        raise TroupeError(Code.INVALID_ARGUMENT, f"the answer cannot be read: {e!r}") from None


def decode_infer(result: Any) -> InferResult:
    return readable(_infer_result, result)


def _infer_result(result: Any) -> InferResult:
    header, payloads = result[0], result[1:]
    described = header["outputs"]
    if len(described) != len(payloads):
        raise TroupeError(Code.INVALID_ARGUMENT,
                          f"the answer lists {len(described)} tensors and carries {len(payloads)}")
    return InferResult(
        model_name=header["model_name"],
        model_version=header.get("model_version", ""),
        id=header.get("id", ""),
        parameters=header.get("parameters", {}),
        outputs={
            each["name"]: decode_tensor(each["datatype"], each["shape"], data)
            for each, data in zip(described, payloads)
        },
    )


class Decoder:
    """Whole frames out of a stream of bytes."""

    def __init__(self, max_bytes: int = MAX_RESPONSE_BYTES):
        self._unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, max_buffer_size=max_bytes)

    def feed(self, data: bytes) -> Iterator[Tuple[Optional[int], Any, Optional[TroupeError]]]:
        """For each response its id, its result and its error; the id of a notice is None."""
        try:
            self._unpacker.feed(data)
            for frame in self._unpacker:
                yield self._read(frame)
        except (msgpack.exceptions.UnpackException, msgpack.exceptions.BufferFull, ValueError) as e:
            raise TroupeError(Code.INVALID_ARGUMENT, f"the server's bytes are no frames: {e!r}") from None

    @staticmethod
    def _read(frame: Any) -> Tuple[Optional[int], Any, Optional[TroupeError]]:
        if isinstance(frame, list) and len(frame) == 4 and frame[0] == RESPONSE:
            _, request_id, error, result = frame
            return request_id, result, None if error is None else TroupeError.from_wire(error)
        if isinstance(frame, list) and len(frame) == 3 and frame[0] == NOTIFICATION:
            params = frame[2] if isinstance(frame[2], list) and frame[2] else [None]
            return None, None, TroupeError.from_wire(params[0]) if frame[1] == "error" else None
        raise TroupeError(Code.INVALID_ARGUMENT, "the server sent something that is no response")


def parse_url(url: str) -> Tuple[str, int]:
    """"tcp://HOST[:PORT]" or "HOST[:PORT]"."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        rest = url
    elif scheme != "tcp":
        raise TroupeError(Code.INVALID_ARGUMENT, f"this client speaks tcp://, not {scheme}://")
    host, separator, port = rest.rstrip("/").rpartition(":")
    if not separator or port.endswith("]"):
        host, port = rest.rstrip("/"), str(DEFAULT_PORT)
    if not host or not port.isdigit():
        raise TroupeError(Code.INVALID_ARGUMENT, f"{url!r} is no tcp://HOST[:PORT]")
    return host.strip("[]"), int(port)
