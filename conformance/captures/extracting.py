"""Extracts the messages of captures to a folder: a file for each body, and one index with everything else.

No name in the folder comes from a message. The folder appears at the end, whole; until then it has a random name.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import IO

from conformance.capture import Event
from conformance.captures.engine import destination
from conformance.captures.onlookers import NotWrittenError, writing
from conformance.files import make_folder
from conformance.judge.sessions.context import Seen
from conformance.verdict import Json, Outcome, Verdict, worst

INDEX = "index.json"
MAX_MESSAGES, MAX_BYTES, MAX_INDEX = 100_000, 1 << 30, 1 << 30
"""Messages, bytes of their bodies and of the index that are written; the index counts the messages left out."""
FORMAT = 1
_MAX_VALUE = 4_096  # Characters of a text, or bytes, of a property that the index has.
_BODY, _LABEL = "MessagePropertiesHeader.MessageBody", "MessagePropertiesHeader.Label"
_MESSAGE = "UserMessage"


@dataclass(slots=True)
class Extraction:
    """An onlooker that writes messages. size, indexed: bytes of bodies and index. left_out: messages, by the reason."""

    folder: Path
    index: IO[str]
    written: int = 0
    size: int = 0
    indexed: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def packet(self, path: str, seen: Seen, sender: str, verdicts: Sequence[Verdict]) -> None:
        """Write a message. Raises NotWrittenError."""
        if seen.kind != _MESSAGE:
            return
        body = seen.packet.fields.get(_BODY)
        data = body if isinstance(body, bytes) else b""
        if seen.frame.trouble is not None or seen.packet.trouble:
            self.left_out["not whole"] += 1
        elif self.written >= MAX_MESSAGES:
            self.left_out[f"beyond {MAX_MESSAGES:,} messages"] += 1
        elif self.size + len(data) > MAX_BYTES:
            self.left_out[f"beyond {MAX_BYTES:,} bytes"] += 1
        elif self.indexed > MAX_INDEX:
            self.left_out[f"beyond {MAX_INDEX:,} bytes of the index"] += 1
        else:
            self._write(path, seen, sender, verdicts, data)

    def event(self, path: str, event: Event, verdicts: Sequence[Verdict]) -> None:
        """Do nothing."""

    def to_json(self) -> dict[str, Json]:
        """Return the counts as `--json` and the index tell them."""
        return {"written": self.written, "bytes": self.size, "left_out": dict(sorted(self.left_out.items()))}

    def _write(self, path: str, seen: Seen, sender: str, verdicts: Sequence[Verdict], body: bytes) -> None:
        name = f"{self.written + 1:06}.bin"
        line = json.dumps(_entry(name, path, seen, sender, verdicts, body))
        with writing(self.folder):
            (self.folder / name).write_bytes(body)
            self.index.write(("" if not self.written else ",\n") + line)
        self.written += 1
        self.size += len(body)
        self.indexed += len(line)


@contextmanager
def extraction(target: Path) -> Iterator[Extraction]:
    """Yield an extraction, whose folder becomes `target` at the end.

    Raises NotWrittenError, also for a folder in use.
    """
    check_target(target)
    draft = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with writing(target):
            make_folder(target.parent, above=False)
            draft.mkdir()
            index = (draft / INDEX).open("w", encoding="ascii")
        with index:
            with writing(target):
                index.write(f'{{"format": {FORMAT}, "messages": [\n')
            found = Extraction(draft, index)
            yield found
            with writing(target):
                index.write(f"\n], {json.dumps(found.to_json())[1:]}\n")
                index.flush()
        with writing(target):
            draft.replace(target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def check_target(target: Path) -> None:
    """Raise NotWrittenError unless this folder is new or empty."""
    with writing(target):
        if target.is_dir() and not target.is_symlink():
            if any(target.iterdir()):
                raise NotWrittenError(f"{target} is not empty; messages are extracted to a new folder.")
        elif target.is_symlink() or target.exists():
            raise NotWrittenError(f"{target} is not a folder; name a new one.")


def _entry(name: str, path: str, seen: Seen, sender: str, verdicts: Sequence[Verdict], body: bytes) -> dict[str, Json]:
    """Return what the index tells of a message."""
    frame, fields = seen.frame, seen.packet.fields
    outcome = worst(one.outcome for one in verdicts if one.frame in (None, frame.number))
    cut: list[Json] = []
    properties: dict[str, Json] = {}
    for key, value in fields.items():
        # Bits of a flags word that are clear go without saying, as do facts about a field.
        told = key in seen.packet.spans or (isinstance(value, int) and not isinstance(value, bool) and value != 0)
        if told and key not in (_BODY, _LABEL) and not key.startswith("Packet."):
            properties[key] = _as_json(key, value, cut)
    label = fields.get(_LABEL)
    return {
        "file": name,
        "capture": path,
        "packet": frame.number,
        "record": frame.record,
        "stream": frame.stream,
        "time": frame.time,
        "from": str(frame.source),
        "to": str(frame.destination),
        "sender": sender,
        "queue": destination(seen.packet),
        "label": _as_json("label", label, cut) if isinstance(label, str) else None,
        "body_bytes": len(body),
        "body_sha256": sha256(body).hexdigest(),
        "encrypted": bool(fields.get("MessagePropertiesHeader.PrivacyLevel")),
        "worst": (outcome or Outcome.PASS).value,
        "properties": properties,
        "cut": cut,
    }


def _as_json(key: str, value: object, cut: list[Json]) -> Json:
    """Return a value for JSON: bytes in hex, and what is too long cut and named."""
    if isinstance(value, (str, bytes)) and len(value) > _MAX_VALUE:
        cut.append(key)
        value = value[:_MAX_VALUE]
    if isinstance(value, bytes):
        return value.hex()
    return value if isinstance(value, (str, int)) else str(value)
