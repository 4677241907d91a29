"""Conversations, extracted messages and EVE lines: what analysts get of captures, also of hostile ones."""

from __future__ import annotations

import json
import struct
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path

import build_captures
import build_packets as packets
import pytest

from conformance import BadInput
from conformance.capture import Endpoint
from conformance.captures import analyst_views, replay_captures
from conformance.captures.analyst_views import Looks, community_id, looking
from conformance.files import resource
from conformance.verdict import Outcome

CAPTURES = resource("fixtures/captures")
CONSISTENT, MICROSOFT = CAPTURES / "consistent-session.pcapng", CAPTURES / "mqqb-4.1.pcapng"
HOSTILE = (
    "../../etc/passwd",
    "a\0b",
    "\x1b[31mred\x07",
    "-rf /",
    "CON",
    "\ud800 alone",
    "é" * 100,
    "",
    "name\nother: value",
)


def session(*messages: bytes) -> bytes:
    """An opened connection that carries these packets."""
    return build_captures.short_session(b"".join(messages)).pcap()


def message(number: int, label: str, body: str = "body") -> bytes:
    """A message; a lone surrogate in its label is put there afterwards."""
    data = build_captures.message(number, "orders", label.replace("\ud800", "\ue000"), body).bytes()
    return data.replace("\ue000".encode("utf-16-le"), b"\x00\xd8")


def test_a_table_of_conversations_counts_each_direction(tmp_path: Path) -> None:
    found = replay_captures([CONSISTENT, MICROSOFT], out=tmp_path / "out", conversations=True)
    table = found.looked.conversations
    assert table is not None
    rows = {(Path(row.capture).name, row.connection, row.ends): row for row in table.rows}
    there = rows[CONSISTENT.name, 1, ("192.0.2.31:50001", "192.0.2.32:1801")]
    assert (there.packets, there.messages, there.deviations, there.stream) == ([9, 4], [6, 1], 0, 0)
    assert there.who == [str(build_captures.ALPHA_QM), str(build_captures.BETA_QM)]
    assert there.seconds == pytest.approx(2.314, abs=0.01)
    pings = rows[MICROSOFT.name, None, ("192.0.2.10:4057", "192.0.2.20:3527")]
    assert (pings.packets, pings.bytes, pings.stream) == ([1, 1], [24, 24], None)
    assert sum(sum(row.packets) for row in table.rows) == found.replay.packets
    failed = found.replay.outcomes[Outcome.FAIL]
    assert sum(row.deviations for row in table.rows) + table.elsewhere == failed > 0
    assert json.loads(json.dumps(table.to_json()))["rows"][0]["from"] == "192.0.2.31:4100"
    assert [one.data for kind, one in _evidence(found.record) if kind == "conversations"] == [table.to_json()]


def _evidence(record) -> list:  # type: ignore[no-untyped-def]
    return [(one.kind, one) for one in record.evidence.values()]


def test_conversations_beyond_the_bound_are_one_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analyst_views, "MAX_CONVERSATIONS", 2)
    monkeypatch.setattr(analyst_views, "_MAX_FRAMES", 3)
    found = replay_captures(CONSISTENT, out=tmp_path / "out", conversations=True)
    table = found.looked.conversations
    assert table is not None and len(table.rows) == 2
    assert sum(sum(row.packets) for row in table.rows) + table.more["packets"] == found.replay.packets
    assert table.more["conversations"] >= 2 and len(table._frames) == 3


def test_only_what_a_filter_selects_is_looked_at(tmp_path: Path) -> None:
    found = replay_captures(
        CONSISTENT, out=tmp_path / "out", filter="kind=UserMessage", conversations=True, extract=tmp_path / "ex"
    )
    table, out = found.looked.conversations, found.looked.extracted
    assert table is not None and out is not None
    assert sum(sum(row.packets) for row in table.rows) == out.written == found.replay.captures[0].selected


def test_messages_are_extracted_with_everything_but_their_names(tmp_path: Path) -> None:
    path, target = tmp_path / "hostile.pcap", tmp_path / "deep" / "ex"
    bodies = [f"body {at}" for at in range(len(HOSTILE))]
    path.write_bytes(session(*(message(at, *pair) for at, pair in enumerate(zip(HOSTILE, bodies, strict=True)))))
    found = replay_captures(path, out=tmp_path / "out", extract=target)
    assert found.looked.extracted is not None and found.looked.extracted.written == len(HOSTILE)
    names = sorted(one.name for one in target.iterdir())
    assert names == sorted([*(f"{at:06}.bin" for at in range(1, len(HOSTILE) + 1)), "index.json"])
    text = (target / "index.json").read_text(encoding="ascii")
    assert all(char >= " " or char == "\n" for char in text)
    index = json.loads(text)
    assert index["written"] == len(HOSTILE) and index["left_out"] == {}
    for one, label, body in zip(index["messages"], HOSTILE, bodies, strict=True):
        content = (target / one["file"]).read_bytes()
        assert content == body.encode() and one["body_sha256"] == sha256(content).hexdigest()
        assert (one["label"] or "") == label
        assert one["properties"]["UserHeader.MessageID"] == names.index(one["file"])
        assert (one["stream"], one["queue"]) == (0, "DIRECT=OS:beta\\private$\\orders")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["deep", "hostile.pcap", "out"]
    assert [each.name for each in target.parent.iterdir()] == ["ex"]


def test_what_is_left_out_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analyst_views, "MAX_MESSAGES", 3)
    monkeypatch.setattr(analyst_views, "MAX_BYTES", 50)
    path = tmp_path / "many.pcap"
    whole = session(*(message(at, "x", "y" * size) for at, size in enumerate((10, 60, 20, 20, 1, 5))))
    path.write_bytes(whole[:-40])
    found = replay_captures(path, out=tmp_path / "out", extract=tmp_path / "ex", allow_incomplete=True)
    index = json.loads((tmp_path / "ex" / "index.json").read_text(encoding="ascii"))
    assert [one["body_bytes"] for one in index["messages"]] == [10, 20, 20]
    assert index["left_out"] == {"beyond 50 bytes": 1, "beyond 3 messages": 1, "not whole": 1} or (
        sum(index["left_out"].values()) == 3 and index["left_out"]["beyond 50 bytes"] == 1
    )
    assert found.looked.extracted is not None and found.looked.extracted.to_json()["left_out"] == index["left_out"]


def test_a_folder_in_use_is_not_touched(tmp_path: Path) -> None:
    target = tmp_path / "ex"
    target.mkdir()
    (target / "mine").write_text("kept")
    for place, words in ((target, "is not empty"), (target / "mine", "is not a folder")):
        with pytest.raises(BadInput, match=words):
            replay_captures(CONSISTENT, out=tmp_path / "out", extract=place)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="is not a folder"):
        replay_captures(CONSISTENT, out=tmp_path / "out", extract=tmp_path / "link")
    assert [one.name for one in target.iterdir()] == ["mine"] and not (tmp_path / "out").exists()


def test_an_interrupted_extraction_leaves_nothing(tmp_path: Path) -> None:
    with (
        pytest.raises(RuntimeError),
        looking(Looks(extract=tmp_path / "ex", eve=tmp_path / "eve.json"), live=False) as found,
    ):
        assert found.extracted is not None and len(list(tmp_path.iterdir())) == 2
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for asked in ({"extract": tmp_path / "file" / "ex"}, {"eve": tmp_path / "no" / "eve.json"}):
        with pytest.raises(BadInput, match=r"cannot be written \(.+\)\.$"):
            replay_captures(CONSISTENT, out=tmp_path / "out", **asked)


@pytest.mark.parametrize("asked", [{"conversations": True}, {"extract": "ex"}, {"eve": "eve.json"}])
def test_columns_have_none_of_it(asked: dict[str, object], tmp_path: Path) -> None:
    option = f"--{next(iter(asked))}"
    with pytest.raises(BadInput, match=option):
        replay_captures(CONSISTENT, out=tmp_path / "out", columns=True, **asked)  # type: ignore[arg-type]


def test_eve_lines_tell_deviations_hints_and_conversations(tmp_path: Path) -> None:
    target = tmp_path / "eve.json"
    found = replay_captures(MICROSOFT, out=tmp_path / "out", eve=target)
    lines = [json.loads(line) for line in target.read_text(encoding="ascii").splitlines()]
    assert found.looked.eve is not None and found.looked.eve.lines == len(lines)
    alerts = [line for line in lines if line["event_type"] == "alert"]
    deviating = [one for one in alerts if one["alert"]["category"] == "MSMQ deviation"]
    counts = found.replay.outcomes
    wanted = sum(counts.get(one, 0) for one in (Outcome.FAIL, Outcome.WARN, Outcome.READING))
    assert len(deviating) == wanted > 0
    first = next(one for one in deviating if one["mqconform"]["requirement"] == "MQQB-3.1.5.3.1.client-guid")
    assert (first["src_ip"], first["src_port"], first["dest_port"]) == ("192.0.2.20", 1801, 49759)
    assert (first["pcap_cnt"], first["proto"], first["mqconform"]["stream"]) == (8, "TCP", 0)
    assert first["timestamp"] == "2006-03-10T04:51:50.189600+0000" or first["timestamp"].startswith("2006-03-10T04:51:")
    assert first["alert"]["severity"] == 2 and first["mqconform"]["outcome"] == "fail"
    hints = [one["mqconform"]["hint"]["id"] for one in alerts if one["alert"]["category"] == "MSMQ hint"]
    assert hints == ["example-identifiers"]
    assert len({one["flow_id"] for one in alerts if one.get("src_port") in (1801, 49759)}) == 1
    assert len(lines) - len(alerts) == 2 and all(0 < one["flow_id"] < 1 << 53 for one in alerts if "flow_id" in one)
    assert {one["alert"]["signature_id"] for one in alerts if one["mqconform"].get("requirement")} == {
        one["alert"]["signature_id"] for one in deviating
    }


def test_the_label_of_a_hostile_message_is_no_line_of_its_own(tmp_path: Path) -> None:
    broken = bytearray(message(1, "name\n{}\r\x1b[2J\u2028"))
    struct.pack_into("<I", broken, 0x34 - 4, 0)
    broken[1] ^= 0xFF
    path, target = tmp_path / "a.pcap", tmp_path / "eve.json"
    path.write_bytes(session(bytes(broken), packets.session_ack(1, 0, 0, 0, 0)))
    replay_captures(path, out=tmp_path / "out", eve=target, allow_incomplete=True)
    text = target.read_text(encoding="ascii")
    assert all(isinstance(json.loads(line), dict) for line in text.splitlines())
    assert all(char >= " " or char == "\n" for char in text)


def test_community_ids_are_those_of_the_published_examples() -> None:
    one, other = Endpoint("128.232.110.120", 34855), Endpoint("66.35.250.204", 80)
    assert community_id(one, other, 6) == community_id(other, one, 6) == "1:LQU9qZlK+B5F3KDmev6m5PMibrg="
    assert ip_address("::1") and community_id(Endpoint("::1", 1), Endpoint("::1", 2), 6).startswith("1:")
