"""Client for Troupe's MessagePack protocol: numpy arrays in, numpy arrays out."""

from .aio import AsyncClient
from .client import Client
from .codec import InferResult
from .errors import Code, TroupeError

__all__ = ["AsyncClient", "Client", "Code", "InferResult", "TroupeError"]
__version__ = "0.1.0"
