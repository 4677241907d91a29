"""`python -m tools.situations list` and `show`: what the planned histories meet, and one with its history."""

from __future__ import annotations

import json
import subprocess

from commands import command
from tests_cli import one_sentence

from conformance.histories.situations import object_book
from conformance.histories.situations.book import load
from conformance.histories.situations.situation import space
from conformance.judge.dialogues.walk_plans import METHOD, SITUATIONS
from conformance.judge.dialogues.walk_plans import situations as wanted
from conformance.verdict import ExitCode


def situations(*words: str) -> subprocess.CompletedProcess[str]:
    return command(*words, module="tools.situations")


def test_every_operation_is_listed() -> None:
    rows = json.loads(situations("list", "--json").stdout)
    assert [row["method"] for row in rows] == [*space().features, METHOD, *object_book.space().features]
    for row in rows:
        assert row["pairs"] + row["triples"] + row["whole"] == row["planned"] + row["not_met"] + sum(
            row["unreachable"].values()
        )
    last = situations("list", "--operation", "queues.purge").stdout.splitlines()[-1]
    assert last.startswith(f"{len(space().of_method('queues.purge'))} situations: ")
    wrong = situations("list", "--operation", "queues.purg")
    assert "did you mean queues.purge?" in one_sentence(wrong, ExitCode.BAD_INPUT)


def test_a_situation_is_shown_with_its_history() -> None:
    planned = load().histories[3]
    at, number = next((at, numbers[0]) for at, numbers in enumerate(planned.met) if numbers)
    shown = situations("show", str(number)).stdout
    assert str(space().situation(number)) in shown
    assert f"history 3 meets it with call {at + 1}" in shown
    told = json.loads(situations("show", str(space().situation(number)), "--json").stdout)
    assert told["number"] == number
    assert told["steps"] and len(told["history"]["calls"]) == len(told["history"]["story"])


def test_situations_of_objects_are_shown_by_their_member() -> None:
    name = "MSMQMessage.Priority: form=put, value=most"
    lines = situations("show", name).stdout.splitlines()
    assert lines[0].startswith(name)
    assert any(line.startswith("  > ") and "Priority = 7" in line for line in lines)
    told = json.loads(situations("show", name, "--json").stdout)
    assert told["operation"] == "MSMQMessage.Priority"
    assert told["steps"] and len(told["history"]["acts"]) == len(told["history"]["story"])
    never = situations("show", "MSMQMessage.Priority: form=get, value=most").stdout
    assert "only a put has a value" in never
    last = situations("list", "--operation", "MSMQMessage.Priority").stdout.splitlines()[-1]
    assert last == "44 situations: 40 planned, 4 not reachable, 0 not met"


def test_situations_of_a_network_are_shown_with_their_walk() -> None:
    lines = situations("show", f"{METHOD}: half-close/first-byte/express/acceptor/open").stdout.splitlines()
    assert "half-close-express" in lines[1] and any("half-close first byte" in line for line in lines)
    never = json.loads(situations("show", f"{METHOD}: double/before/express/acceptor/open", "--json").stdout)
    assert never["walk"] is None and never["unreachable"] == "it happens to a whole packet"
    last = situations("list", "--operation", METHOD).stdout.splitlines()[-1]
    assert (
        last == f"{len(SITUATIONS)} situations: {len(wanted())} planned, "
        f"{len(SITUATIONS) - len(wanted())} not reachable, 0 not met"
    )
    wrong = situations("show", f"{METHOD}: half-close/first-byte/express/acceptor/opn")
    assert "did you mean half-close/first-byte/express/acceptor/open?" in one_sentence(wrong, ExitCode.BAD_INPUT)


def test_a_situation_that_no_history_meets_says_why() -> None:
    number, why = next(iter(load().unreachable.items()))
    assert why in situations("show", str(number)).stdout


def test_an_unknown_situation_is_told() -> None:
    for name in ("nothing", "999999999", "messages.receive: time_out=none"):
        assert one_sentence(situations("show", name), ExitCode.BAD_INPUT)
