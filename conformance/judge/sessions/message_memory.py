"""Remembered messages: a table of them, and the bytes or objects that they are read from.

A capture remembers tens of thousands of messages, and hardly any is ever asked for. What compiled code has judged is
remembered by the place of its bytes: in the capture, as long as it is there, and then in a copy. It becomes an object
when it is asked for; what the rules have judged one by one is an object from the beginning.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from conformance.judge.sessions.context import digest_of
from conformance.judge.sessions.keys import Name, guid_of_words, guid_words
from conformance.judge.sessions.messages import Head, Known
from conformance.judge.sessions.tables import (
    DATA,
    FRAME,
    KNOWN_WHERE,
    NEXT,
    OLDEST,
    Recent,
)

_DIGEST: Final = 16
"""Bytes of the digest of a body."""


@dataclass(frozen=True, slots=True)
class Bytes:
    """Bytes of messages. first: the number of the first packet that may be in them.

    apart: they are without their bodies, and behind each is the digest of its body.
    """

    first: int
    view: Any
    apart: bool = False


class Memory(Recent):
    """See `Messages.known`.

    kept: the messages that are objects, by their rows. copies: bytes of the others, in the order of their packets.
    capture: those of the capture that is read, as long as `owner` lives, who keeps them in their place.
    """

    width = 5

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[int, Known] = {}
        self.copies: list[Bytes] = []
        self.capture: Bytes | None = None
        self.owner: object = None

    def get(self, key: Name) -> Known | None:
        """Return a remembered message."""
        row = self.find((*guid_words(key[0]), key[1]))
        return None if row < 0 else self.known(row)

    def setdefault(self, key: Name, new: Known) -> Known:
        """Return a remembered message, which is `new` if none has the key."""
        words = (*guid_words(key[0]), key[1])
        row = self.find(words)
        if row >= 0:
            return self.known(row)
        row = self.row(words)
        self.fill(row, (new.frame, -1))
        self.kept[row] = new
        return new

    def known(self, row: int) -> Known:
        """Return the message of a row."""
        frame, where, size, body_at, body_size = self.words[row + DATA : row + DATA + self.width]
        if where < 0:
            return self.kept[row]
        body_at, buffer = body_at if body_size else 0, self._bytes(frame)
        if buffer.apart:
            end = where + size - body_size
            head = Head(bytes(buffer.view[where:end]), body_at, body_size)
            return Known(frame, head, bytes(buffer.view[end : end + _DIGEST]))
        return known_in(buffer.view, frame, where, size, where + body_at, body_size)

    def keep(self, row: int, known: Known) -> None:
        """Keep a message whose bytes are about to go."""
        self.words[row + KNOWN_WHERE] = -1
        self.kept[row] = known

    def items(self) -> Iterator[tuple[Name, Known]]:
        """Yield all messages, the oldest first."""
        for row in self.rows():
            high, low, number = self.words[row : row + NEXT]
            yield (guid_of_words(high, low), number), self.known(row)

    def forget(self, oldest: int) -> None:
        """See `Table.forget`."""
        words = self.words
        while (row := words[OLDEST]) >= 0 and words[row + FRAME] <= oldest:
            self.kept.pop(row, None)
            super().forget(words[row + FRAME])

    def read_from(self, buffer: Any, first: int, owner: object) -> None:
        """Take notice that packets from the number `first` on are in this buffer, as long as the owner lives."""
        if self.capture is None or self.owner is not owner or owner is None:
            self.capture, self.owner = Bytes(first, memoryview(buffer)), owner

    def leave(self) -> None:
        """Let go of the bytes of the capture, and of copies of forgotten messages."""
        oldest = self.words[self.words[OLDEST] + FRAME] if len(self) else 1 << 62
        while len(self.copies) > 1 and self.copies[1].first <= oldest:
            del self.copies[0]
        self.capture = self.owner = None

    def pack(self) -> None:
        """Take all bytes together, without bodies, and let go of the others."""
        parts: list[Any] = []
        end, words = 0, self.words
        for row in self.rows():
            frame, where, size, body_at, body_size = words[row + DATA : row + DATA + self.width]
            if where >= 0:
                buffer = self._bytes(frame)
                begin = where + body_at if body_size else where
                if buffer.apart:
                    parts.append(buffer.view[where : where + size - body_size + _DIGEST])
                else:
                    body, view = begin + body_size, buffer.view
                    parts += (view[where:begin], view[body : where + size], digest_of(view[begin:body]))
            else:
                head = self.kept[row].kept
                if not isinstance(head, Head):
                    continue
                parts += (head.data, self.kept.pop(row).body)
                size, body_at, body_size = len(head.data) + head.size, head.at, head.size
            self.fill(row, (frame, end, size, body_at if body_size else 0, body_size))
            end += size - body_size + _DIGEST
        self.copies, self.capture, self.owner = [Bytes(0, b"".join(parts), apart=True)], None, None

    def renew(self) -> dict[int, int]:
        """See `Table.renew`."""
        kept, moved = self.kept, super().renew()
        self.kept = {moved[row]: known for row, known in kept.items() if row in moved}
        self.capture = self.owner = None
        for row in self.rows():
            frame, where, size, body_at, body_size = self.words[row + DATA : row + DATA + self.width]
            if where < 0 and isinstance(self.kept[row], Known):
                continue
            end = where + size + (_DIGEST - body_size) * self._bytes(frame).apart
            if not (0 <= where <= end <= len(self._bytes(frame).view) and 0 <= body_at <= size - body_size <= size):
                raise ValueError("a message is outside of its bytes")
        return moved

    def _bytes(self, frame: int) -> Bytes:
        """Return the bytes that a packet is in."""
        if self.capture is not None and frame >= self.capture.first:
            return self.capture
        return self.copies[max(0, bisect_right(self.copies, frame, key=lambda one: one.first) - 1)]


def known_in(buffer: Any, frame: int, start: int, size: int, body_at: int, body_size: int) -> Known:
    """Return the message at a place in a buffer. body_at, body_size: of its body."""
    whole = memoryview(buffer)
    data = bytes(whole[start:body_at]) + bytes(whole[body_at + body_size : start + size])
    return Known(frame, Head(data, body_at - start, body_size), digest_of(whole[body_at : body_at + body_size]))
