"""What a push leaves to the nightly run (`tox -e nightly`, which sets MQ_NIGHTLY): one table, with the reason for each.

A test takes its amounts from here by name, so that this page is the whole list.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import pytest

NIGHTLY = bool(os.environ.get("MQ_NIGHTLY"))
SEED = os.environ.get("MQ_NIGHTLY", "0")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Amount:
    """How many a push takes, and the nightly run. holds: what a push still shows, and what only the night can find."""

    push: int
    nightly: int
    holds: str


AMOUNTS = {
    # model, lock step and readings
    "model.seeds-of-a-possible-history": Amount(3, 12, "each workload is explained; rare histories at night"),
    "model.seeds-of-a-lost-message": Amount(2, 8, "a lost message is found; rare histories at night"),
    "model.seeds-of-a-message-given-twice": Amount(3, 8, "the removal is blamed; rare histories at night"),
    "model.operations-of-a-long-history": Amount(1_200, 16_000, "eight clients; as long as is promised at night"),
    "lock-step.walks": Amount(8, 400, "each plan by the model and the manager; rare walks at night, which has a seed"),
    "lock-step.walks-of-an-alternative": Amount(1, 60, "each alternative of a reading is walked; rare walks at night"),
    "lock-step.steps": Amount(40, 60, "as above"),
    "readings.walks-of-a-plan": Amount(0, 3, "the traces alone tell readings apart; walks beside them at night"),
    # rules of packets
    "packets.valid": Amount(60, 5_000, "valid messages of every kind accuse nobody; more at night"),
    "packets.changed-percent": Amount(2, 100, "changes of every kind are blamed on what was changed; all at night"),
    # rules of connections
    "sessions.conversations": Amount(25, 3_000, "conversations that follow the document accuse nobody; more at night"),
    # situations
    "situations.histories": Amount(50, 100_000, "some planned histories are replayed on the model; all at night"),
    # claims of walks
    "walks.seeds-of-the-claims": Amount(1, 4, "a claim holds with each seed: one shows a loss; more at night"),
    # features of operations
    "features.walks-of-a-plan": Amount(4, 200, "each plan is walked; rare combinations of cases at night"),
    # grammar
    "grammar.texts-of-a-rule": Amount(
        80, 20_000, "the second parser and the pattern agree on each rule of the newest version; rare texts at night"
    ),
    "grammar.texts-of-an-older-rule": Amount(
        12, 20_000, "a rule that an older version has in its own words is tried; rare texts at night"
    ),
    "grammar.texts-of-an-rfc-rule": Amount(6, 200, "each rule of each RFC is tried; rare texts at night"),
    "grammar.texts-for-lark": Amount(12, 200, "each Lark grammar is tried; rare texts at night"),
    "grammar.names-for-lalr": Amount(100, 20_000, "each kind of each version is tried; rare names at night"),
    "grammar.names-for-earley": Amount(40, 500, "a parser of a millisecond a character; rare names at night"),
    "grammar.mebibytes-of-a-text": Amount(1, 10, "a text is answered in linear time; ten times as long at night"),
    "grammar.examples": Amount(25, 2_000, "hypothesis looks for edges beside the drawn texts; more at night"),
    # wire and judge
    "judge.packets-of-the-embedded-codec": Amount(120, 10_000, "no rule fires on a right packet; rare ones at night"),
    "wire.names-in-a-list": Amount(100_000, 500_000, "fields stay few however many names there are"),
    "columns.packets-at-the-edge": Amount(4_000, 200_000, "no read beyond a packet; rare packets at night"),
    "columns.packs-changed-a-little": Amount(12, 1_000, "both codes judge alike; rare packets at night"),
    # pipeline
    "pipeline.broken-streams-read": Amount(250, 20_000, "the walk reads what is read one by one; rare breaks at night"),
    "pipeline.broken-streams-judged": Amount(60, 4_000, "all ways judge alike; rare breaks at night"),
    "pipeline.captures-like-replay": Amount(24, 500, "captures of every making judged as replay does; more at night"),
    "pipeline.examples": Amount(4, 300, "captures cut and ranged anywhere, beside every fixture; rare ones at night"),
    # adapter
    "adapter.seconds-against-a-hostile-driver": Amount(9, 10, "the budget of a run; by day it ends at a deviation"),
    "adapter.rounds-of-random-properties": Amount(5_000, 100_000, "each function meets each type; rare mixes at night"),
    # command line
    "cli.examples-of-a-whole-run": Amount(3, 30, "all suites from end to end; at night as many as a user gets"),
    "cli.situations-of-a-whole-run": Amount(100, 100_000, "the suite of situations is among them; all at night"),
    # names
    "names.examples-of-a-family": Amount(60, 240, "each family by an honest parser; rare members at night"),
}
"""By name: an amount of examples, texts, seeds or packets."""

SAMPLES = {
    "suites.claims-met": "the claims of four suites are swept; those of all at night, which takes a whole run",
    "lock-step.plans-of-an-alternative": "the plan that brings an alternative about; every plan at night",
    "readings.one-by-one": "alternatives all at once, and alone those that meet; each alone at night",
    "readings.switched": "one alternative of each kind in the embedded implementation; the others at night",
    "adapter.hostile-drivers": "a driver of each kind of excess (text, events, processes); all at night",
    "cli.formats-without-room": "all formats are written by one part of the program; each at night",
    "grammar.witnesses-of-older-versions": "each witness of the newest version; of older ones at night",
    "embedded.faults": "every third by the stories of its suite; one that was changed is tried by the suite, since "
    "its record has to be made again; each at night",
    "embedded.faults-without-a-suite": "every twentieth by its story; all at night, until their suite has a record",
    "names.profiles": "one profile at a push (the newest, which has all forms); the cases of an older one at night",
    "grammar.readings-of-older-versions": "each reading by the newest version it binds; in the older ones at night",
    "grammar.reading-sets-of-older-versions": "each reading set by the newest version, each version by that of Windows",
    "grammar.rfcs": "one RFC of four by both readers of ABNF, which they share with our own rules; all at night",
    "grammar.earley-of-older-versions": "an Earley parser takes seconds to make; older versions by the automata",
    "grammar.fixtures-of-older-versions": "each text of the fixtures by the newest version; the older ones at night",
    "selftest.faults": "a fault of histories and one of tables; each suite has its own tests that find defects; all at "
    "night",
    "selftest.network-faults": "of a datagram, of the opening and of a report; of counts and of time stamps at night, "
    "and every one by another test",
    "docs.examples": "each command's, but for that of selftest, which is run before them with another fault",
    "docs.lines-like-an-example": "a line with the command and the options of the command's own example is run as that "
    "example, in the same install; as it stands at night",
    "docs.languages-of-the-tutorial": "the page in Python, step by step; in Node.js its end is run as the template",
    "mono.signals": "RabbitMQ takes seconds to start: Ctrl-C at a push, SIGTERM at night",
    "cli.kits-installed": "all kits install by one line, which a test compares; one is installed at a push",
}
"""By name: of many cases a push takes some of each kind."""

ONLY = {
    "runlog.two-gigabytes": "2 GB are written and read four times; a push shows that memory does not grow with 20 MB",
    "cli.capture-of-a-gigabyte": "a push shows that memory does not grow with 300 sessions",
    "cli.pipeline-interrupted": "starts Java for each moment; a push interrupts Spark where it starts",
    "cli.interrupted-anywhere": "runs a command 40 times; a push interrupts it at named moments",
    "net.samba": "starts another hand's server, which is not installed everywhere; a push asks `serve`",
    "selftest.every-fault": "each fault is tried by whole runs, for an hour",
    "selftest.misblamed": "a push shows with runs that are replaced that such a fault fails, and what it is told as",
    "selftest.every-network-fault": "each fault of the network has runs of its own, which wait for timers",
    "features.values-told": "walks a million steps, for minutes; a push holds the tables against the steps",
    "grammar.strict-readings": "makes Earley parsers of the letter for minutes; the bulk path is held by the automata",
    "adapter.templates-default-run": "eight minutes of default runs; a push runs the suites that templates are for",
    "adapter.busy-machine": "twelve loops beside a driver on a real clock, for minutes; a push has slow drivers",
    "adapter.mqrt-watched": "valgrind and ThreadSanitizer take a minute each; a push has AddressSanitizer",
    "names.extremes": "an automaton of the whole grammar for each alternative; the suite's texts change seldom",
}
"""By name: tests of the night alone."""


def amount(name: str) -> int:
    """How many this run takes."""
    found = AMOUNTS[name]
    return found.nightly if NIGHTLY else found.push


def sample(name: str, every: Sequence[T], push: Sequence[T]) -> Sequence[T]:
    """All cases in the nightly run, and those of a push otherwise, none of which may be foreign to all of them."""
    assert name in SAMPLES and all(one in every for one in push)
    return every if NIGHTLY else push


def nightly_only(name: str) -> pytest.MarkDecorator:
    """Skip a test at a push, with the reason of the table."""
    return pytest.mark.skipif(not NIGHTLY, reason=f"{ONLY[name]}: MQ_NIGHTLY=1")


def fewer(number: int) -> int:
    """Examples of hypothesis: all at night, a third at a push, where tests of single cases stand beside the drawn."""
    return number if NIGHTLY else number // 3
