"""The pytest plugin: `pytest --pyargs conformance.suites --mq-adapter=CONNECTOR`.

Without `--mq-adapter` it only registers its options and fixtures; slow imports happen when an adapter is given.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.spec.versions import PROFILES_TEXT

if TYPE_CHECKING:
    from conformance.explaining.continuation import Reference
    from conformance.explaining.known_quirks import KnownQuirk
    from conformance.harness.guarded_client import GuardedClient
    from conformance.harness.known_deviations import Past
    from conformance.harness.recorder import Recorder, RunOptions
    from conformance.harness.run_session import RunSession

_SESSION = pytest.StashKey["RunSession"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the `--mq-*` options in their own group."""
    group = parser.getgroup("mqconform", "MSMQ conformance (mqconform)")
    add = group.addoption
    add(
        "--mq-adapter", metavar="CONNECTOR", help="implementation to judge: embedded, stdio:COMMAND, tcp:HOST:PORT, ..."
    )
    add("--mq-profile", metavar="PROFILE", help=f"MSMQ version, {PROFILES_TEXT}")
    add("--mq-level", default="must", metavar="LEVEL", help="must, should or may: weaker requirements only warn")
    add("--mq-readings", default="windows", metavar="SET", help="windows, strict or permissive")
    add(
        "--mq-reading",
        action="append",
        default=[],
        metavar="ID=ALTERNATIVE",
        help="accept only this alternative of a reading; may be given several times",
    )
    add("--mq-seed", default=0, type=int, metavar="N", help="seed of all generated examples (default 0)")
    add("--mq-label", metavar="TEXT", help="name of the run in its record")
    add("--mq-out", metavar="DIR", help="folder of the run record (default: reports/out/<time>)")
    add("--mq-max-examples", default=30, type=int, metavar="N", help="generated examples per test (default 30)")
    add("--mq-steps", default=30, type=int, metavar="N", help="most steps in one stateful example (default 30)")
    add(
        "--mq-situations",
        default="default",
        metavar="all|pairs|N",
        help="planned situations to play: all, all pairs, or so many (default: what fits a minute)",
    )
    add(
        "--mq-budget",
        type=float,
        metavar="SECONDS",
        help="divide this time among the suites; tests that do not fit are left out",
    )
    add("--mq-in-process", action="store_true", help="run embedded and python: drivers inside this process")
    add("--mq-no-quirks", action="store_true", help="let every deviation stand for itself, and end histories with it")
    add("--mq-quirks", metavar="TOML", help="a baseline, whose quirks are known from the beginning")
    add(
        "--mq-deadline",
        default=10_000,
        type=int,
        metavar="MS",
        help="time that the driver has for each answer (default 10000)",
    )
    add(
        "--mq-requirement",
        action="append",
        default=[],
        metavar="ID",
        help="only the tests that claim this requirement; may be given several times",
    )
    add(
        "--mq-disable",
        default="",
        metavar="IDS",
        help="switch off the checks of these requirements (to test the tests)",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; start a run if an adapter is given.

    This happens before hypothesis's own plugin reads the seed, which a run sets.
    """
    config.addinivalue_line("markers", "requirement(*ids): requirements of the MSMQ specifications this test judges")
    if config.option.mq_requirement:
        from conformance.harness.test_selection import ByRequirement
        from conformance.spec.catalogue import current

        wanted = {current(name) for name in config.option.mq_requirement}
        config.pluginmanager.register(ByRequirement(wanted), "mqconform-by-requirement")
    if config.option.mq_adapter:
        from conformance.harness.pytest_hooks import RunHooks

        hooks = RunHooks(config)
        if hooks.distributed:
            from conformance.harness.worker_processes import Workers

            most = int(getattr(config.option, "maxfail", 0) or 0)
            config.pluginmanager.register(Workers(most), "mqconform-workers")
        session = config.stash[_SESSION] = hooks.session
        reference = cache(lambda: _reference(session, config))
        session.reference = lambda suite, repro: reference().check(suite, repro)
        if session.taping and not session.options.first_only and not config.option.mq_no_quirks:
            from conformance.harness.known_deviations import Lazy

            loaded = _loaded(config)
            alone = hooks.worker == "main"
            session.past = Lazy(lambda: _quirks(session, loaded, worker=None if alone else hooks.worker))
        config.pluginmanager.register(hooks, "mqconform-run")
        config.pluginmanager.register(hooks.chosen, "mqconform-chosen")
        if getattr(config.option, "allure_report_dir", None):
            from conformance.allure_live import AllureHooks

            config.pluginmanager.register(AllureHooks(config, hooks.session), "mqconform-allure")


def _loaded(config: pytest.Config) -> Sequence[KnownQuirk]:
    """Return the quirks of the baseline, if one is given. Raises UsageError for a file that is none."""
    if config.option.mq_quirks is None:
        return ()
    from conformance.explaining.known_quirks import usable
    from conformance.report.standing import BaselineError, read_quirks

    try:
        loaded, told = usable(read_quirks(Path(config.option.mq_quirks)))
    except BaselineError as error:
        raise pytest.UsageError(str(error)) from None
    if not hasattr(config, "workerinput"):
        for sentence in told:
            config.stash[_SESSION].writer.note(sentence)
    return loaded


def _reference(session: RunSession, config: pytest.Config) -> Reference:
    """Return what plays a story before it is told as a failure of this run's implementation."""
    from conformance.explaining.continuation import reference_of
    from conformance.live.server import addresses, served

    made = reference_of(session, lambda: served(addresses(0)))
    config.add_cleanup(made.close)
    return made


def _quirks(session: RunSession, loaded: Sequence[KnownQuirk], worker: str | None) -> Past:
    """Return what goes on behind the deviations of this run's implementation. worker: None if there is only one."""
    from conformance.explaining.quirks import Shared, quirks_of
    from conformance.harness.known_deviations import TOLD_TO_WORKERS

    return quirks_of(session, loaded, None if worker is None else Shared(session.out / TOLD_TO_WORKERS, worker))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove what the workers told each other: the run record has it."""
    if _SESSION in config.stash and not hasattr(config, "workerinput"):
        from conformance.harness.known_deviations import TOLD_TO_WORKERS
        from conformance.scratch import remove_tree

        told = config.stash[_SESSION].out / TOLD_TO_WORKERS
        if told.is_dir():
            remove_tree(told)


def _session(request: pytest.FixtureRequest) -> RunSession:
    session = request.config.stash.get(_SESSION, None)
    if session is None:
        pytest.fail("no implementation to judge: name one with --mq-adapter, for example embedded", pytrace=False)
    return session


@contextlib.contextmanager
def _faults_in_fixtures() -> Iterator[None]:
    """Turn DriverGone into an Exception: pytest tears down a fixture that fails only after an Exception."""
    from conformance.harness.guarded_client import DriverGone

    try:
        yield
    except DriverGone as gone:
        raise gone.fault from None


@pytest.fixture
def run_options(request: pytest.FixtureRequest) -> RunOptions:
    """The options of the run."""
    return _session(request).options


@pytest.fixture
def judge(request: pytest.FixtureRequest) -> Iterator[Recorder]:
    """The recorder of this test's verdicts."""
    session = _session(request)
    assert session.current is not None
    yield session.current.judge


@pytest.fixture
def mq(request: pytest.FixtureRequest, judge: Recorder) -> Iterator[GuardedClient]:
    """The implementation, reset: it holds no queue, message or open handle of an earlier test."""
    from conformance.harness.guarded_client import GuardedClient

    session = _session(request)
    assert session.current is not None
    until = session.current.share.at_last
    client = GuardedClient(session.client(), skips=True, tape=judge.tape, heard=judge.heard, until=until)
    session.current.client = client
    session.note_epoch()
    if client.offers("reset"):
        with _faults_in_fixtures():
            client.call("reset")
    yield client


@pytest.fixture
def mq_need(mq: GuardedClient) -> Callable[..., None]:
    """`mq_need("queues.create", ...)`: skip the test, with a reason, if the driver lacks one of these methods."""
    from conformance.harness.guarded_client import NOT_OFFERED

    def need(*methods: str) -> None:
        missing = [method for method in methods if not mq.offers(method)]
        if missing:
            pytest.skip(f"{NOT_OFFERED}{', '.join(missing)}")

    return need


@pytest.fixture
def queue(mq: GuardedClient, mq_need: Callable[..., None]) -> dict[str, Any]:
    """A new private queue, opened twice: `format_name`, and the handles `receive` and `send`."""
    mq_need("queues.create", "queues.open")
    name = f"{mq.hello.computer}\\private$\\mqconform-{time.monotonic_ns():x}"
    with _faults_in_fixtures():
        format_name = mq.call("queues.create", path_name=name).values["format_name"]
        handles = {
            access: mq.call("queues.open", format_name=format_name, access=access).values["queue"]
            for access in ("receive", "send")
        }
    return {"format_name": format_name, **handles}
