"""Packets judged by columns beside the same packets judged one by one."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from conformance.judge.columns import ColumnJudge, Outcomes, Slow, column_judge
from conformance.judge.packets import find, judge_packet, rules_of
from conformance.wire import Packet, dissect
from conformance.wire.columns.chunks import TCP, UDP
from conformance.wire.columns.table import value_of

GUARD = bytes([0xA5]) * 64
"""Between packets: a read beyond one of them sees bytes that are no part of another."""


class Beside:
    """judge: with the columns asked for. Packets go through it in chunks, each followed by bytes of no packet."""

    def __init__(self, keys: Sequence[str] = (), rows: int = 64) -> None:
        self.judge: ColumnJudge = column_judge(keys)
        self.chunk, self.counts = self.judge.chunk(rows), self.judge.counts(1 << 10)
        self.rows = rows
        self.left_out: Counter[Slow] = Counter()
        self.decided = 0

    def outcomes(self, packets: Sequence[bytes], udp: bool = False) -> list[tuple[int, ...] | Slow]:
        """The words of each packet's outcome, or why it has none. At most `rows` packets."""
        return [one for one, _ in self.rows_of(packets, udp)]

    def rows_of(self, packets: Sequence[bytes], udp: bool = False) -> list[tuple[tuple[int, ...] | Slow, list[int]]]:
        """As `outcomes`, and the row of columns of each."""
        buffer, at = bytearray(GUARD), []
        for packet in packets:
            at.append(len(buffer))
            buffer += packet + GUARD
        n, chunk = len(packets), self.chunk
        chunk.offsets[:n], chunk.lengths[:n] = at, [len(packet) for packet in packets]
        chunk.transport[:n] = UDP if udp else TCP
        slow = self.judge.judge(np.frombuffer(bytes(buffer), np.uint8), chunk, n, self.counts)
        assert slow == np.count_nonzero(chunk.slow[:n])
        out: list[tuple[tuple[int, ...] | Slow, list[int]]] = []
        for index in range(n):
            why = Slow(int(chunk.slow[index]))
            self.left_out[why] += why is not Slow.NOT
            self.decided += why is Slow.NOT
            words = why if why is not Slow.NOT else self.judge.words(self.counts, int(chunk.results[index]))
            row = chunk.columns[:, index].tolist() if chunk.columns.size else []
            out.append((words, row))
        self.at = at
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
        return [(one.requirement, one.outcome, one.readings) for one in how.said(words)]

    def compare_rules(self, packets: Sequence[bytes], how: Outcomes) -> None:
        """As `compare`, rule by rule: result, alternative and whether that is the default."""
        for data, words in zip(packets, self.outcomes(packets), strict=True):
            if isinstance(words, Slow):
                continue
            packet = dissect(data, transport=how.transport)
            for rule in rules_of(how.transport):
                alone = find(rule, packet, readings=how.readings, transport=how.transport)
                assert how.finding(rule, words) == alone, (rule.id, data.hex())

    def compare_fields(self, packets: Sequence[bytes], udp: bool = False) -> None:
        """Every column holds what `dissect` decoded, and is empty where it decoded nothing."""
        rows = self.rows_of(packets, udp)
        for data, (words, row), first in zip(packets, rows, self.at, strict=True):
            if isinstance(words, Slow):
                continue
            packet = dissect(data, transport="udp" if udp else "tcp")
            for key, column in self.judge.chunks.columns.columns.items():
                if column.hashed or key in FACTS:
                    continue
                assert value_of(column, row, data, first) == packet.fields.get(key), (key, data.hex())


FACTS = frozenset({"Packet.Counted", "Packet.Overrun", "Packet.Decided"})
"""What is decided after decoding, beside the fields."""


def one_by_one(data: bytes, how: Outcomes) -> list[tuple[object, ...]]:
    verdicts = judge_packet(data, profile=how.profile, readings=how.readings, level=how.level, transport=how.transport)
    return [(verdict.requirement, verdict.outcome, verdict.readings) for verdict in verdicts]


def fields_left_out(packet: Packet, keys: frozenset[str]) -> set[str]:
    """Decoded fields that have no column: nothing but elements of lists and a SID as text."""
    return {key for key in packet.fields if key not in keys and key != "SID.Text" and ".FormatNameList." not in key}
