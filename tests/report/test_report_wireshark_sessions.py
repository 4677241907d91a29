"""The session rules in the dissector: what they say of a packet, `mqconform replay` says of it too."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import tshark
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from session_captures import capture_of
from session_edits import edit

from conformance.capture import Frame, read_capture
from conformance.captures.packet_rules import PacketRules
from conformance.judge.sessions import flow_steps as steps
from conformance.judge.sessions import registers as r
from conformance.judge.sessions.judge import SessionJudge
from conformance.judge.sessions.mutations import MUTATIONS, captured
from conformance.report import wireshark
from conformance.report.wireshark import dissector
from conformance.report.wireshark.sessions import lua_sessions
from conformance.report.wireshark.steps import UntranslatableError, lua_steps
from conformance.spec.catalogue import assignment
from conformance.verdict import Verdict

FIXTURES = Path(__file__).parents[2] / "fixtures"
CAPTURES = sorted(path for path in (FIXTURES / "captures").iterdir() if path.suffix != ".toml")
PROFILE = "msmq-6.0"
RULES = lua_sessions(profile=PROFILE, readings=assignment("windows"), level="must").written
OUTCOMES = ("pass", "fail", "warn", "reading")

Said = Counter[tuple[int, str, str]]
"""The record, the outcome and the requirement of each verdict."""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The dissector by readings."""
    found = {}
    for readings in ("windows", "strict"):
        found[readings] = tmp_path_factory.mktemp(readings) / "msmq.lua"
        source = dissector(profile=PROFILE, readings=assignment(readings)).source
        found[readings].write_text(source, encoding="utf-8")
    return found


def here(capture: Path, readings: str) -> Said:
    """What the session rules say."""
    judge, levels = SessionJudge(assignment(readings)), PacketRules(PROFILE, assignment(readings))
    verdicts: list[Verdict] = []
    records: dict[int | None, int] = {}
    for event in read_capture(capture):
        if isinstance(event, Frame):
            records[event.number] = event.record
        verdicts += judge.feed(event)
    levelled = [one for one in levels.levelled(verdicts) if isinstance(one, Verdict) and one.requirement in RULES]
    return Counter((records[one.frame], one.outcome.value, one.requirement) for one in levelled)


def there(lua: Path, capture: Path, *options: str) -> Said:
    """What the dissector says by these rules."""
    fields = [word for name in OUTCOMES for word in ("-e", f"msmq.{name}")]
    text = tshark.run(lua, capture, "-T", "fields", "-e", "frame.number", *fields, "-o", "msmq.passes:TRUE", *options)
    lines = [line.split("\t") for line in text.splitlines()]
    return Counter(
        (int(number), outcome, name)
        for number, *columns in lines
        for outcome, column in zip(OUTCOMES, columns, strict=True)
        for name in column.split(",")
        if name in RULES
    )


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.name)
def test_the_dissector_says_nothing_that_replay_does_not(capture: Path, scripts: dict[str, Path]) -> None:
    found = there(scripts["windows"], capture)
    assert found <= here(capture, "windows")


@pytest.mark.parametrize("requirement", RULES)
def test_each_rule_is_broken_in_the_same_packets(requirement: str, scripts: dict[str, Path], tmp_path: Path) -> None:
    capture, readings = tmp_path / "spoiled.pcap", MUTATIONS[requirement].readings
    capture.write_bytes(capture_of(MUTATIONS[requirement].broken()))
    found, wanted = there(scripts[readings], capture), here(capture, readings)
    assert found <= wanted
    assert any(name == requirement and outcome in ("fail", "warn") for _, outcome, name in found)


def spoiled(data: bytes, changes: list[tuple[str, int, int]]) -> bytes:
    """A classic capture whose records are lost, repeated, late, cut, or of a time before."""
    records, at = [], 24
    while at < len(data):
        end = at + 16 + int.from_bytes(data[at + 8 : at + 12], "little")
        records.append((data[at : at + 8], data[at + 8 : end]))
        at = end
    for kind, which, other in changes:
        place = which % len(records)
        time, rest = records.pop(place)
        after = min(len(records), place + other % 8)
        match kind:
            case "again":
                records[place:place] = [(time, rest)]
                records.insert(after, (records[min(after, len(records) - 1)][0], rest))
            case "late":
                records.insert(after, (records[max(0, after - 1)][0], rest))
            case "cut":
                size = min(54 + 20 * other, int.from_bytes(rest[:4], "little"))
                records.insert(place, (time, size.to_bytes(4, "little") + rest[4 : 8 + size]))
            case "back":
                second = max(0, int.from_bytes(time[:4], "little") - other)
                records.insert(place, (second.to_bytes(4, "little") + time[4:], rest))
    return data[:24] + b"".join(time + rest for time, rest in records)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(["consistent-session", "resending-session", "reconnecting-session", "served-session"]),
    edits=st.lists(
        st.tuples(
            st.sampled_from(["field", "field", "drop", "again", "swap", "later", "late", "lost"]),
            st.integers(0, 500), st.integers(0, 500), st.integers(0, 1 << 64),
        ),
        max_size=5,
    ),
    changes=st.lists(
        st.tuples(st.sampled_from(["lost", "again", "late", "cut", "back"]), st.integers(0, 500), st.integers(0, 9)),
        max_size=3,
    ),
    most=st.sampled_from([100, 400, 60_000]),
    waits=st.sampled_from(["TRUE", "FALSE"]),
)  # fmt: skip
def test_edited_captures(
    scripts: dict[str, Path],
    tmp_path: Path,
    name: str,
    edits: list[tuple[str, int, int, int]],
    changes: list[tuple[str, int, int]],
    most: int,
    waits: str,
) -> None:
    """Whatever is lost, late or wrong: nothing is said that replay does not say. most: bytes of a segment."""
    events = captured(name)
    for one in edits:
        edit(events, *one)
    capture = tmp_path / "edited.pcap"
    capture.write_bytes(spoiled(capture_of(events, most), changes))
    found = there(scripts["windows"], capture, "-o", f"tcp.reassemble_out_of_order:{waits}")
    assert found <= here(capture, "windows")


def test_a_second_pass_says_the_same(scripts: dict[str, Path]) -> None:
    capture = FIXTURES / "captures" / "resending-session.pcapng"
    found = there(scripts["windows"], capture)
    assert found and there(scripts["windows"], capture, "-2", "-R", "frame") == found


def steps_in_python(packets: list[list[int]]) -> list[list[int]]:
    """What `flow_steps` finds of each packet of one connection."""
    registers = r.Registers()
    base = registers.open(0, 0, complete=True).base
    registers.shared[r.READS_WINDOW] = registers.shared[r.READS_INCLUDED] = 3
    rows, found = registers.connections.rows, []
    rows[base + r.EXPRESS_MS], rows[base + r.RECOVERABLE_MS] = 2000, 500
    for side in r.SIDES:
        rows[base + side + r.NAMED] = rows[base + side + r.WINDOW] = 64
    for side, *values in packets:
        registers.ensure(1)
        steps.see(rows, base, side, registers.nodes, registers.shared, registers.out, *values)  # type: ignore[arg-type]
        found.append(registers.out[1 : registers.out[0]].tolist() + rows[base : base + r.NAMED].tolist())
    return found


DRIVER = """
local rows = setmetatable({}, { __index = function() return 0 end })
local nodes = { __index = function(_, place) return place % NODE == 0 and place / NODE + 1 or 0 end }
setmetatable(nodes, nodes)
for place, value in pairs(ROW) do rows[place] = value end
rows[AT.EXPRESS_MS], rows[AT.RECOVERABLE_MS] = 2000, 500
for _, side in ipairs(SIDES) do rows[side + AT.NAMED], rows[side + AT.WINDOW] = 64, 64 end
local shared = setmetatable(SHARED, { __index = function() return 0 end })
for _, packet in ipairs(PACKETS) do
  local out = { [0] = 1 }
  STEPS.see(rows, 0, packet[1], nodes, shared, out, table.unpack(packet, 2))
  for place = 1, out[0] - 1 do io.write(string.format("%.0f ", out[place])) end
  for place = 0, LAST do io.write(string.format("%.0f ", rows[place])) end
  io.write("\\n")
end
"""


def any_packets(count: int) -> list[list[int]]:
    """Packets of two sides, with counts that are often right."""
    pick = random.Random(41)
    sent, recoverable, found = [0, 0], [0, 0], []
    for number in range(count):
        side, kind = pick.randrange(2), pick.choice([0, 0, 0, 1, 2, 3, 3, 4])
        dm = pick.choice([0, 1, 1, 1, r.NONE if 2 * number > count else 1]) if kind < 3 else r.NONE
        sent[side] += kind < 3
        recoverable[side] += dm == 1
        header = [r.NONE] * 6
        if kind == 3 or (kind < 3 and pick.random() < 0.3):
            near = pick.choice([0, 0, 0, 1, -1, 70_000])
            flags = pick.choice([0, 1, 3, 5, pick.getrandbits(32)])
            lowest = max(0, recoverable[1 - side] - flags.bit_length() + pick.choice([1, 1, 1, 3]))
            header = [pick.choice([1, 64, 64, 65]), sent[1 - side] + near, lowest, flags, sent[side], recoverable[side]]
            header = [value & 0xFFFF if place != 3 else value for place, value in enumerate(header)]
        time = 10**9 + number * pick.choice([10**6, 10**8, 10**8 + 1])
        found.append([side, kind, time, number + 1, dm, *header, pick.choice([0, r.NONE, 2]), 0, 0])
    return found


def test_the_steps_find_in_lua_what_they_find_in_python(tmp_path: Path) -> None:
    packets = any_packets(3000)
    readings = assignment("permissive")
    rows = ",\n".join("{ " + ", ".join(map(str, row)) + " }" for row in packets)
    rows = rows.replace(str(r.NONE), "-2 ^ 63")
    rules = files(wireshark).joinpath("rules.lua").read_text(encoding="utf-8")
    made = lua_sessions(profile=PROFILE, readings=readings, level="must").source
    lua = tmp_path / "steps.lua"
    lua.write_text(
        f"{rules}\n{made}\nlocal LAST = {r.NAMED - 1}\nlocal PACKETS = {{\n{rows} }}\n{DRIVER}", encoding="utf-8"
    )
    capture = tshark.one_packet_records(tmp_path / "empty.pcap", [])
    wanted = steps_in_python(packets)
    found = [list(map(int, line.split())) for line in tshark.run(lua, capture).splitlines()]
    assert found == wanted
    assert {rule for row in wanted for rule in row[: -r.NAMED : 4]} > set(range(steps.DUE))


def _with_a_loop_in_a_list(values: Any) -> int:
    return sum(value for value in values)


def _with_a_product_as_truth(one: int, other: int) -> int:
    return one and other


def _with_an_unknown_call(one: int) -> int:
    return len(str(one))


@pytest.mark.parametrize("step", [_with_a_loop_in_a_list, _with_a_product_as_truth, _with_an_unknown_call])
def test_what_has_no_translation_is_refused(step: Callable[..., Any]) -> None:
    with pytest.raises(UntranslatableError, match=step.__name__):
        lua_steps([step], "STEPS")
