"""The client for asyncio."""

from __future__ import annotations

import asyncio
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, TypeVar

from . import calls, codec
from .calls import Call
from .codec import InferResult, Parameters
from .errors import Code, TroupeError

T = TypeVar("T")


class AsyncClient:
    """A connection to one server, for one event loop. Made by ``await AsyncClient.connect(url)``."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, timeout: float):
        self._stream = reader
        self._writer = writer
        self._timeout = timeout
        self._waiting: Dict[int, Tuple["asyncio.Future[Any]", Call[Any]]] = {}
        self._next_id = 0
        self._closed: Optional[TroupeError] = None
        self._task = asyncio.ensure_future(self._read())

    @classmethod
    async def connect(cls, url: str, connect_timeout: float = 5.0, timeout: float = 60.0) -> "AsyncClient":
        host, port = codec.parse_url(url)
        try:
            reader, writer = await asyncio.wait_for(asyncio.open_connection(host, port), connect_timeout)
        except (OSError, asyncio.TimeoutError) as e:
            raise TroupeError(Code.UNAVAILABLE, f"cannot connect to {host}:{port}: {e}") from None
        return cls(reader, writer, timeout)

    async def infer(
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
        return await self._call(calls.infer(model, inputs, outputs, version, id, parameters), timeout)

    async def health(self, model: str = "", version: str = "", timeout: Optional[float] = None) -> Dict[str, Any]:
        """live, ready, protocol, server, version; with a model also model_ready."""
        return await self._call(calls.health(model, version), timeout)

    async def models(self, timeout: Optional[float] = None) -> List[Dict[str, str]]:
        """name, version, state and reason of every model."""
        return await self._call(calls.models(), timeout)

    async def metadata(self, model: str, version: str = "", timeout: Optional[float] = None) -> Dict[str, Any]:
        """name, versions, platform, inputs and outputs of a model."""
        return await self._call(calls.metadata(model, version), timeout)

    async def stats(self, model: str = "", timeout: Optional[float] = None) -> List[Dict[str, Any]]:
        """Statistics of one model, or of all."""
        return await self._call(calls.stats(model), timeout)

    async def load(self, model: str, timeout: Optional[float] = None) -> None:
        """Loads a model of the server's repository; returns when it is ready."""
        await self._call(calls.load(model), timeout)

    async def unload(self, model: str, timeout: Optional[float] = None) -> None:
        await self._call(calls.unload(model), timeout)

    async def close(self) -> None:
        """Ends the connection; what is in flight fails with CANCELLED."""
        self._fail(TroupeError(Code.CANCELLED, "the client was closed"))
        await asyncio.gather(self._task, return_exceptions=True)

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def _call(self, what: Call[T], timeout: Optional[float]) -> T:
        if self._closed:
            raise self._closed
        request_id = self._next_id
        self._next_id = (self._next_id + 1) & 0xFFFFFFFF
        pieces = what.encode(request_id)
        future: "asyncio.Future[Any]" = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = (future, what)
        # All pieces before the first await: no other request comes between them.
        for piece in codec.coalesced(pieces):
            self._writer.write(piece)
        limit = self._timeout if timeout is None else timeout
        try:
            return await asyncio.wait_for(self._flushed(future), limit)
        except asyncio.TimeoutError:
            self._give_up(request_id)
            raise TroupeError(Code.DEADLINE_EXCEEDED, f"no answer within {limit} s") from None
        except asyncio.CancelledError:
            self._give_up(request_id)
            raise

    async def _flushed(self, future: "asyncio.Future[Any]") -> Any:
        try:
            await self._writer.drain()
        except OSError as e:
            self._fail(TroupeError(Code.UNAVAILABLE, f"the connection was lost: {e}"))
        return await future

    def _give_up(self, request_id: int) -> None:
        if self._waiting.pop(request_id, None) and not self._closed:
            self._writer.write(codec.encode_cancel(request_id))

    async def _read(self) -> None:
        decoder = codec.Decoder()
        why = TroupeError(Code.UNAVAILABLE, "the server closed the connection")
        try:
            while True:
                data = await self._stream.read(1 << 20)
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
        future, what = self._waiting.pop(request_id, (None, None))
        if future is None or what is None or future.done():
            return
        try:
            if error is not None:
                raise error
            future.set_result(what.decode(result))
        except TroupeError as e:
            future.set_exception(e)

    def _fail(self, why: TroupeError) -> None:
        if self._closed:
            return
        self._closed = why
        self._writer.close()
        waiting, self._waiting = self._waiting, {}
        for future, _ in waiting.values():
            if not future.done():
                future.set_exception(why)
