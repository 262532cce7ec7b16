"""Everything that a plugin imports; other modules of the service may change without notice.

`docs/plugins.md` describes the five kinds of plugin.
"""

from core.config import Settings
from core.context.retrievers import RetrievedText, Retriever, RetrieverQuery
from core.errors import Later, Never
from core.events.log import Emission
from core.events.pending import Pending
from core.events.publishing import Author, publish
from core.extraction.configured_extractor import RuleExtractor
from core.extraction.protocol import ExtractedUnit, Extractor, Reading, Window
from core.extraction.speakers import speaker_of
from core.inference.client import Call, ChatClient, OnCall
from core.inference.embedders import Embedder
from core.sessions.sessions import transcript
from core.storage.db import Tx
from core.types import Candidate, Category, Event, Evidence, Json, Message, Topic
from workers.delivery.notifiers import Notice, Notifier
from workers.dispatch.model import Job, Outcome
from workers.tools import Agent, Tools

__all__ = [
    "Agent",
    "Author",
    "Call",
    "Candidate",
    "Category",
    "ChatClient",
    "Embedder",
    "Emission",
    "Event",
    "Evidence",
    "ExtractedUnit",
    "Extractor",
    "Job",
    "Json",
    "Later",
    "Message",
    "Never",
    "Notice",
    "Notifier",
    "OnCall",
    "Outcome",
    "Pending",
    "Reading",
    "RetrievedText",
    "Retriever",
    "RetrieverQuery",
    "RuleExtractor",
    "Settings",
    "Tools",
    "Topic",
    "Tx",
    "Window",
    "publish",
    "speaker_of",
    "transcript",
]
