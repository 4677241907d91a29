"""Options of a run: what a request asks for reaches pytest unchanged, and every way in has each of them."""

from __future__ import annotations

import inspect
from argparse import ArgumentParser
from dataclasses import fields, replace

from typer.main import get_command

from conformance.cli.app import app
from conformance.run import run
from conformance.run_options import RunRequest, add_to_pytest, declared

ASKED = RunRequest(
    adapter="stdio:./driver --queues a,b",
    requirements=["MQMQ-2.1.1.path", "MQMQ-2.1.2.direct"],
    profile="msmq-5.0",
    level="may",
    readings="strict",
    chosen=["R-MQMQ-port=letter", "R-MQMQ-body-type=any|listed"],
    seed=(1 << 64) - 1,
    out="a folder",
    max_examples=7,
    steps=8,
    situations="pairs",
    budget_s=1.5,
    deadline_ms=9,
    quirks=False,
    in_process=True,
    label="nightly 4.2",
    known="baseline.toml",
    disable=["MQMQ-2.1.1.path", "MQMQ-2.1.2.direct"],
)


def through_pytest(asked: RunRequest) -> RunRequest:
    parser = ArgumentParser()
    add_to_pytest(parser.add_argument)
    return RunRequest.of_pytest(parser.parse_args(list(asked.pytest_options())))


def test_pytest_is_asked_for_what_the_request_asks_for() -> None:
    assert through_pytest(ASKED) == ASKED
    assert through_pytest(RunRequest()) == replace(RunRequest(), requirements=(), chosen=(), disable=())
    own = [name for name, one in declared().items() if one.own]
    assert all(getattr(ASKED, name) != getattr(RunRequest(), name) for name in own), "an option that this test lacks"


def test_the_command_and_the_function_have_every_option() -> None:
    flags = {word for parameter in get_command(app).commands["run"].params for word in parameter.opts}  # type: ignore[attr-defined]
    assert {one.flag.partition("/")[0] for one in declared().values() if one.flag} <= flags
    assert list(inspect.signature(run).parameters) == [one.name for one in fields(RunRequest)]
