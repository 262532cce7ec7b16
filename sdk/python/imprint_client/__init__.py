"""Client of Imprint, the long-term memory service for AI agents."""

from imprint_client._async.client import AsyncImprint
from imprint_client._async.publisher import AsyncPublisher
from imprint_client._async.session import AsyncSession
from imprint_client._sync.client import Imprint
from imprint_client._sync.publisher import Publisher
from imprint_client._sync.session import Session
from imprint_client.errors import BufferFull, ImprintError, SignatureError
from imprint_client.retrying import Retries

__all__ = [
    "AsyncImprint",
    "AsyncPublisher",
    "AsyncSession",
    "BufferFull",
    "Imprint",
    "ImprintError",
    "Publisher",
    "Retries",
    "Session",
    "SignatureError",
]
