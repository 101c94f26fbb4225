"""The blocking client."""

from __future__ import annotations

import concurrent.futures
import socket
import threading
from typing import Any, Dict, List, Mapping, Optional, Sequence, TypeVar

from . import calls, codec
from .calls import Call
from .codec import InferResult, Parameters
from .errors import Code, TroupeError

Future = concurrent.futures.Future
T = TypeVar("T")


class Client:
    """A connection to one server. Thread-safe; any number of requests may be in flight."""

    def __init__(self, url: str, connect_timeout: float = 5.0, timeout: float = 60.0):
        host, port = codec.parse_url(url)
        self._timeout = timeout
        self._lock = threading.Lock()  # guards what follows
        self._write_lock = threading.Lock()
        self._waiting: Dict[int, Future] = {}
        self._next_id = 0
        self._closed: Optional[TroupeError] = None
        try:
            self._socket = socket.create_connection((host, port), connect_timeout)
        except OSError as e:
            raise TroupeError(Code.UNAVAILABLE, f"cannot connect to {host}:{port}: {e}") from None
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = threading.Thread(target=self._read, name="troupe-client", daemon=True)
        self._reader.start()

    # -- requests --------------------------------------------------------------------------------

    def submit(
        self,
        model: str,
        inputs: Mapping[str, Any],
        outputs: Optional[Sequence[str]] = None,
        version: str = "",
        id: str = "",
        parameters: Optional[Parameters] = None,
    ) -> "Future[InferResult]":
        """Sends a request and returns at once. ``cancel_request`` gives it up."""
        return self._send(calls.infer(model, inputs, outputs, version, id, parameters))

    def infer(
        self,
        model: str,
        inputs: Mapping[str, Any],
        outputs: Optional[Sequence[str]] = None,
        version: str = "",
        id: str = "",
        parameters: Optional[Parameters] = None,
        timeout: Optional[float] = None,
    ) -> InferResult:
        """Runs a model. ``inputs`` maps names to arrays; ``outputs`` names those wanted, all if None."""
        return self._wait(self.submit(model, inputs, outputs, version, id, parameters), timeout)

    def health(self, model: str = "", version: str = "", timeout: Optional[float] = None) -> Dict[str, Any]:
        """live, ready, protocol, server, version; with a model also model_ready."""
        return self._ask(calls.health(model, version), timeout)

    def models(self, timeout: Optional[float] = None) -> List[Dict[str, str]]:
        """name, version, state and reason of every model."""
        return self._ask(calls.models(), timeout)

    def metadata(self, model: str, version: str = "", timeout: Optional[float] = None) -> Dict[str, Any]:
        """name, versions, platform, inputs and outputs of a model."""
        return self._ask(calls.metadata(model, version), timeout)

    def stats(self, model: str = "", timeout: Optional[float] = None) -> List[Dict[str, Any]]:
        """Statistics of one model, or of all."""
        return self._ask(calls.stats(model), timeout)

    def load(self, model: str, timeout: Optional[float] = None) -> None:
        """Loads a model of the server's repository; returns when it is ready."""
        self._ask(calls.load(model), timeout)

    def unload(self, model: str, timeout: Optional[float] = None) -> None:
        self._ask(calls.unload(model), timeout)

    def cancel_request(self, future: Future) -> None:
        """Tells the server that nobody waits for this answer any more."""
        request_id = getattr(future, "request_id", None)
        if request_id is not None and not future.done():
            self._write([codec.encode_cancel(request_id)])

    # -- life ------------------------------------------------------------------------------------

    def close(self) -> None:
        """Ends the connection; what is in flight fails with CANCELLED."""
        self._fail(TroupeError(Code.CANCELLED, "the client was closed"))
        if threading.current_thread() is not self._reader:
            self._reader.join()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # -- inside ----------------------------------------------------------------------------------

    def _ask(self, what: Call[T], timeout: Optional[float]) -> T:
        return self._wait(self._send(what), timeout)

    def _wait(self, future: Future, timeout: Optional[float]) -> Any:
        timeout = self._timeout if timeout is None else timeout
        try:
            return future.result(timeout)
        except concurrent.futures.TimeoutError:
            if future.done():
                return future.result()
            self.cancel_request(future)
            raise TroupeError(Code.DEADLINE_EXCEEDED, f"no answer within {timeout} s") from None

    def _send(self, what: Call[Any]) -> Future:
        future: Future = Future()
        with self._lock:
            if self._closed:
                raise self._closed
            request_id = self._next_id
            self._next_id = (self._next_id + 1) & 0xFFFFFFFF
            future.request_id = request_id  # type: ignore[attr-defined]
            future.decode = what.decode  # type: ignore[attr-defined]
            self._waiting[request_id] = future
        try:
            pieces = what.encode(request_id)
        except BaseException:
            with self._lock:
                self._waiting.pop(request_id, None)
            raise
        self._write(pieces)
        return future

    def _write(self, pieces: List[Any]) -> None:
        try:
            with self._write_lock:
                for piece in codec.coalesced(pieces):
                    self._socket.sendall(piece)
        except OSError as e:
            self._fail(TroupeError(Code.UNAVAILABLE, f"the connection was lost: {e}"))

    def _read(self) -> None:
        decoder = codec.Decoder()
        why = TroupeError(Code.UNAVAILABLE, "the server closed the connection")
        try:
            while True:
                data = self._socket.recv(1 << 20)
                if not data:
                    break
                for request_id, result, error in decoder.feed(data):
                    if request_id is None:
                        why = error or why
                    else:
                        self._answer(request_id, result, error)
        except TroupeError as e:
            why = e
        except OSError as e:
            why = TroupeError(Code.UNAVAILABLE, f"the connection was lost: {e}")
        self._fail(why)

    def _answer(self, request_id: int, result: Any, error: Optional[TroupeError]) -> None:
        with self._lock:
            future = self._waiting.pop(request_id, None)
        if future is None or not future.set_running_or_notify_cancel():
            return
        try:
            if error is not None:
                raise error
            future.set_result(future.decode(result))  # type: ignore[attr-defined]
        except TroupeError as e:
            future.set_exception(e)

    def _fail(self, why: TroupeError) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = why
            waiting, self._waiting = self._waiting, {}
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._socket.close()
        for future in waiting.values():
            if future.set_running_or_notify_cancel():
                future.set_exception(why)
