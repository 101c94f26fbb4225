"""What can go wrong, on the server or on the way."""

from __future__ import annotations

import enum
from typing import Any, Optional


class Code(str, enum.Enum):
    """The kinds of failure; names as on the wire."""

    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    FAILED_PRECONDITION = "FAILED_PRECONDITION"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    NOT_FOUND = "NOT_FOUND"
    ALREADY_EXISTS = "ALREADY_EXISTS"
    RESOURCE_EXHAUSTED = "RESOURCE_EXHAUSTED"
    CANCELLED = "CANCELLED"
    INTERNAL = "INTERNAL"
    UNIMPLEMENTED = "UNIMPLEMENTED"
    UNAVAILABLE = "UNAVAILABLE"
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"


class TroupeError(Exception):
    """A failure: ``code`` says of which kind, ``retry_after`` after how many seconds trying again may help."""

    def __init__(self, code: Code, text: str, retry_after: Optional[float] = None):
        super().__init__(text)
        self.code = code
        self.retry_after = retry_after

    @classmethod
    def from_wire(cls, value: Any) -> "TroupeError":
        """From the error object of a response or notification, whatever it holds."""
        if not isinstance(value, dict):
            return cls(Code.INTERNAL, f"the server failed: {value!r}")
        name = value.get("code")
        code = Code(name) if name in Code.__members__ else Code.INTERNAL
        wait = value.get("retry_after_ms")
        return cls(code, str(value.get("text", "")), wait / 1000 if isinstance(wait, int) and wait > 0 else None)
