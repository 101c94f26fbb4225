"""What a client may ask, apart from how it waits: each call knows its bytes and how to read its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, Generic, List, Mapping, Optional, Sequence, TypeVar

from . import codec
from .codec import InferResult, Parameters

T = TypeVar("T")


@dataclass(frozen=True)
class Call(Generic[T]):
    encode: Callable[[int], List[Any]]
    """The pieces of the request frame with this id."""
    decode: Callable[[Any], T]
    """The result of the response."""


def infer(
    model: str,
    inputs: Mapping[str, Any],
    outputs: Optional[Sequence[str]],
    version: str,
    label: str,
    parameters: Optional[Parameters],
) -> Call[InferResult]:
    return Call(lambda n: codec.encode_infer(n, model, inputs, outputs, version, label, parameters),
                codec.decode_infer)


def health(model: str, version: str) -> Call[Dict[str, Any]]:
    return _about("health", model, version)


def models() -> Call[List[Dict[str, str]]]:
    return _about("models")


def metadata(model: str, version: str) -> Call[Dict[str, Any]]:
    return _about("metadata", model, version)


def stats(model: str) -> Call[List[Dict[str, Any]]]:
    return _about("stats", model, read=lambda result: result["model_stats"])


def load(model: str) -> Call[None]:
    return _about("load", model)


def unload(model: str) -> Call[None]:
    return _about("unload", model)


def _about(method: str, model: str = "", version: str = "", read: Callable[[Any], Any] = lambda result: result) -> Call[Any]:
    return Call(lambda n: [codec.encode_request(n, method, model, version)], lambda result: codec.readable(read, result))
