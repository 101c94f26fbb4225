import pytest

from support import MADE_MODELS, Server


@pytest.fixture(scope="module")
def server():
    """A server with the small made models."""
    models = [MADE_MODELS / name for name in ("add", "identity", "tiny_conv")]
    with Server(*models) as running:
        yield running
