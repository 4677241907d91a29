"""Packets judged by columns beside the same packets judged one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from conformance.judge.columns import ColumnJudge, Outcomes, Slow, column_judge
from conformance.judge.columns.rule_trees import OutcomeCode
from conformance.judge.packets.judge import find, judge_packet, rules_of
from conformance.wire import dissect
from conformance.wire.columns.table import TCP, UDP, Chunks, value_of

GUARD = bytes([0xA5]) * 64
"""Between packets: a read beyond one of them sees bytes that are no part of another."""
FACTS = frozenset({"Packet.Counted", "Packet.Overrun", "Packet.Decided", "Packet.Cause", "Packet.DestinationListed"})
"""What is decided after decoding, beside the fields."""


class Beside:
    """Packets go through the judge in chunks, each between bytes of no packet. keys: of the columns asked for."""

    def __init__(
        self, keys: Sequence[str] = (), *, judge: ColumnJudge | None = None, rows: int = 64, capacity: int = 1 << 12
    ) -> None:
        self.judge = judge or column_judge(keys)
        self.chunk, self.counts = self.judge.chunk(rows), self.judge.counts(capacity)
        self.rows = rows
        self.at: list[int] = []
        self.left_out: Counter[Slow] = Counter()
        self.decided = 0

    @classmethod
    def of(cls, made: Chunks, code: Callable[[], OutcomeCode]) -> Beside:
        return cls(judge=ColumnJudge(made, code()))

    def outcomes(self, packets: Sequence[bytes], udp: bool = False) -> list[tuple[int, ...] | Slow]:
        """The words of each packet's outcome, or why it has none. At most `rows` packets."""
        return [words for words, _ in self.rows_of(packets, udp)]

    def rows_of(self, packets: Sequence[bytes], udp: bool = False) -> list[tuple[tuple[int, ...] | Slow, list[int]]]:
        """As `outcomes`, and the row of columns of each."""
        buffer, self.at = bytearray(GUARD), []
        for packet in packets:
            self.at.append(len(buffer))
            buffer += packet + GUARD
        n, chunk = len(packets), self.chunk
        chunk.offsets[:n], chunk.lengths[:n] = self.at, [len(packet) for packet in packets]
        chunk.transport[:n] = UDP if udp else TCP
        chunk.columns[:] = -1
        slow = self.judge.judge(np.frombuffer(bytes(buffer), np.uint8), chunk, n, self.counts)
        assert slow == np.count_nonzero(chunk.slow[:n])
        out: list[tuple[tuple[int, ...] | Slow, list[int]]] = []
        for index in range(n):
            why = Slow(int(chunk.slow[index]))
            self.left_out[why] += why is not Slow.NOT
            self.decided += why is Slow.NOT
            words = why if why is not Slow.NOT else self.judge.words(self.counts, int(chunk.results[index]))
            out.append((words, chunk.columns[:, index].tolist() if chunk.columns.size else []))
        return out

    def compare(self, packets: Iterable[bytes], how: Outcomes) -> list[tuple[int, ...] | Slow]:
        """Every packet judged here is judged as `judge_packet` does: verdict by verdict."""
        packets = list(packets)
        out: list[tuple[int, ...] | Slow] = []
        for first in range(0, len(packets), self.rows):
            part = packets[first : first + self.rows]
            for data, words in zip(part, self.outcomes(part), strict=True):
                out.append(words)
                if not isinstance(words, Slow):
                    assert self.said(how, words) == one_by_one(data, how), data.hex()
        return out

    def said(self, how: Outcomes, words: Sequence[int]) -> list[tuple[object, ...]]:
        return [(one.rule, one.requirement, one.outcome, one.readings) for one in how.said(words)]

    def compare_rules(self, packets: Sequence[bytes], how: Outcomes) -> None:
        """As `compare`, rule by rule: result, alternative and whether that is the default."""
        for first in range(0, len(packets), self.rows):
            part = packets[first : first + self.rows]
            for data, words in zip(part, self.outcomes(part), strict=True):
                if isinstance(words, Slow):
                    continue
                packet = dissect(data, transport=how.transport)
                for rule in rules_of(how.transport):
                    alone = find(rule, packet, readings=how.readings, transport=how.transport)
                    assert how.finding(rule, words) == alone, (rule.id, data.hex())

    def compare_fields(self, packets: Sequence[bytes], udp: bool = False) -> int:
        """Every column holds what `dissect` decoded, and is empty where it decoded nothing. How many were compared."""
        done = 0
        rows = self.rows_of(packets, udp)
        for data, (words, row), first in zip(packets, rows, self.at, strict=True):
            if isinstance(words, Slow):
                continue
            done += 1
            packet = dissect(data, transport="udp" if udp else "tcp")
            for key, column in self.judge.chunks.columns.columns.items():
                if not column.hashed and key not in FACTS and not key.endswith((".Misspelled", ".Outdated")):
                    assert value_of(column, row, data, first) == packet.fields.get(key), (key, data.hex())
        return done


def one_by_one(data: bytes, how: Outcomes) -> list[tuple[object, ...]]:
    verdicts = judge_packet(data, profile=how.profile, readings=how.readings, level=how.level, transport=how.transport)
    return [(verdict.rule, verdict.requirement, verdict.outcome, verdict.readings) for verdict in verdicts]
