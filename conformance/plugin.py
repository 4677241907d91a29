"""The pytest plugin: `pytest --pyargs conformance.suites --mq-adapter=CONNECTOR`.

Without `--mq-adapter` it registers its options and fixtures and does nothing else; heavy imports wait until then.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conformance.suites.guard import GuardedClient
    from conformance.suites.judging import Judge, RunOptions
    from conformance.suites.session import RunSession

_SESSION = pytest.StashKey["RunSession"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The `--mq-*` options, in a group of their own."""
    group = parser.getgroup("mqconform", "MSMQ conformance (mqconform)")
    add = group.addoption
    add(
        "--mq-adapter", metavar="CONNECTOR", help="implementation to judge: embedded, stdio:COMMAND, tcp:HOST:PORT, ..."
    )
    add("--mq-profile", metavar="PROFILE", help="MSMQ version, msmq-1.0 to msmq-6.0 (default msmq-4.0)")
    add("--mq-level", default="must", metavar="LEVEL", help="must, should or may: weaker demands only warn")
    add("--mq-readings", default="windows", metavar="SET", help="windows, strict or permissive")
    add(
        "--mq-reading",
        action="append",
        default=[],
        metavar="ID=ALTERNATIVE",
        help="accept this alternative of a reading alone; may be given several times",
    )
    add("--mq-seed", default=0, type=int, metavar="N", help="seed of all generated examples (default 0)")
    add("--mq-out", metavar="DIR", help="folder of the run record (default: reports/out/<time>)")
    add("--mq-max-examples", default=30, type=int, metavar="N", help="generated examples a test (default 30)")
    add("--mq-steps", default=30, type=int, metavar="N", help="most steps of one stateful example (default 30)")
    add("--mq-budget", type=float, metavar="SECONDS", help="start no further test once this time is spent")
    add("--mq-in-process", action="store_true", help="run embedded and python: drivers inside this process")
    add(
        "--mq-deadline",
        default=10_000,
        type=int,
        metavar="MS",
        help="give the driver up after this time (default 10000)",
    )
    add(
        "--mq-disable",
        default="",
        metavar="IDS",
        help="switch off the checks of these requirements (to test the tests)",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; with an adapter given, start a run.

    Before hypothesis's own plugin, which reads the seed that a run sets.
    """
    config.addinivalue_line("markers", "requirement(*ids): requirements of the MSMQ specifications this test judges")
    if config.option.mq_adapter:
        from conformance.suites.run_hooks import RunHooks

        hooks = RunHooks(config)
        config.stash[_SESSION] = hooks.session
        config.pluginmanager.register(hooks, "mqconform-run")
        if getattr(config.option, "allure_report_dir", None):
            from conformance.allure_live import AllureHooks

            config.pluginmanager.register(AllureHooks(config, hooks.session), "mqconform-allure")


def _session(request: pytest.FixtureRequest) -> RunSession:
    session = request.config.stash.get(_SESSION, None)
    if session is None:
        pytest.fail("no implementation to judge: name one with --mq-adapter, for example embedded", pytrace=False)
    return session


@contextlib.contextmanager
def _faults_in_fixtures() -> Iterator[None]:
    """A driver that breaks while a fixture is made raises an Exception: pytest clears up a fixture after no other."""
    from conformance.suites.guard import DriverGone

    try:
        yield
    except DriverGone as gone:
        raise gone.fault from None


@pytest.fixture
def run_options(request: pytest.FixtureRequest) -> RunOptions:
    """How the run was asked for."""
    return _session(request).options


@pytest.fixture
def judge(request: pytest.FixtureRequest) -> Iterator[Judge]:
    """The recorder of this test's verdicts."""
    session = _session(request)
    assert session.current is not None
    yield session.current.judge


@pytest.fixture
def mq(request: pytest.FixtureRequest, judge: Judge) -> Iterator[GuardedClient]:
    """The implementation, reset: no queue, message or open handle of an earlier test is left."""
    from conformance.suites.guard import GuardedClient

    session = _session(request)
    assert session.current is not None
    client = GuardedClient(session.client(), skips=True, tape=judge.tape)
    session.current.client = client
    session.note_epoch()
    if client.offers("reset"):
        with _faults_in_fixtures():
            client.call("reset")
    yield client


@pytest.fixture
def mq_need(mq: GuardedClient) -> Callable[..., None]:
    """`mq_need("queues.create", ...)`: skip, with a declared reason, what the driver does not offer."""

    def need(*methods: str) -> None:
        missing = [method for method in methods if not mq.offers(method)]
        if missing:
            pytest.skip(f"not offered by the driver: {', '.join(missing)}")

    return need


@pytest.fixture
def queue(mq: GuardedClient, mq_need: Callable[..., None]) -> dict[str, Any]:
    """A new private queue open twice: `format_name`, and handles `receive` and `send`."""
    mq_need("queues.create", "queues.open")
    name = f"{mq.hello.computer}\\private$\\mqconform-{time.monotonic_ns():x}"
    with _faults_in_fixtures():
        format_name = mq.call("queues.create", path_name=name).values["format_name"]
        handles = {
            access: mq.call("queues.open", format_name=format_name, access=access).values["queue"]
            for access in ("receive", "send")
        }
    return {"format_name": format_name, **handles}
