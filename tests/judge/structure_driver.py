"""A driver of the facet of structures alone, for a run of the suite as a user makes it."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

from structure_codecs import REFUSED, DigestOfNothing, StructureCodec
from transfer_buffer_codecs import RefusesTheForbidden

from conformance.judge.structures.judge import judge_structure
from conformance.verdict import Outcome
from conformance.wire.transfer_buffer import STRUCTURE

HELLO: dict[str, Any] = {
    "status": 0,
    "protocol": "1.0",
    "name": "structures",
    "version": "1",
    "profile": "msmq-4.0",
    "computer": "HOST",
    "facets": {"manager": ["hello"], "structures": ["encode", "decode"]},
    "clock": "real",
    "settle_ms": 0,
    "slack_ms": 0,
    "limits": {},
}


class RightStructures:
    """Answers as the documents say."""

    codec = StructureCodec

    def __init__(self, state_dir: Path) -> None:
        self._codec = self.codec()

    def handle(self, method: str, params: dict[str, Any], reply: Callable[[Any], None], pending: Any) -> None:
        if method == "hello":
            reply(HELLO)
        elif method == "structures.encode":
            if params["structure"] == STRUCTURE:
                answer = RefusesTheForbidden().call(method, **params)
                reply({"status": answer.status, **answer.values})
                return
            data = self._codec.encode(params["structure"], params["value"])
            forbidden = params["structure"] in ("TA_ADDRESS", "QUEUE_FORMAT") and any(
                verdict.outcome is Outcome.FAIL for verdict in judge_structure(params["structure"], data)
            )
            answer = {"status": REFUSED} if forbidden else {"data": base64.b64encode(data).decode("ascii")}
            reply({"status": 0, **answer})
        else:
            value = self._codec.decode(params["structure"], base64.b64decode(params["data"]))
            reply({"status": 0xC00E0006} if value is None else {"status": 0, "value": value})


class ForgetsTheDigest(RightStructures):
    """Leaves the digest of a certificate zero."""

    codec = DigestOfNothing
