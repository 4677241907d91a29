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

from conformance.run_options import RunRequest, add_to_pytest

if TYPE_CHECKING:
    from conformance.explaining.continuation import Reference
    from conformance.explaining.quirks import KnownQuirk
    from conformance.harness.guarded_client import GuardedClient
    from conformance.harness.known_deviations import KnownDeviations
    from conformance.harness.recorder import Recorder, RunOptions
    from conformance.harness.run_session import RunSession

_SESSION = pytest.StashKey["RunSession"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the `--mq-*` options in their own group."""
    add_to_pytest(parser.getgroup("mqconform", "MSMQ conformance (mqconform)").addoption)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; start a run if an adapter is given.

    This happens before hypothesis's own plugin reads the seed, which a run sets.
    """
    config.addinivalue_line("markers", "requirement(*ids): requirements of the MSMQ specifications this test judges")
    config.addinivalue_line("markers", "ahead(part): the one example of this test, which may be played ahead")
    request = RunRequest.of_pytest(config.option)
    if request.requirements:
        from conformance.harness.test_selection import ByRequirement
        from conformance.spec.catalogue import current

        wanted = {current(name) for name in request.requirements}
        config.pluginmanager.register(ByRequirement(wanted), "mqconform-by-requirement")
    if config.option.mq_adapter:
        from conformance.harness.pytest_hooks import RunHooks

        hooks = RunHooks(config, request, _options(request, config))
        if hooks.distributed:
            from conformance.harness.worker_processes import Workers

            most = int(getattr(config.option, "maxfail", 0) or 0)
            config.pluginmanager.register(Workers(most), "mqconform-workers")
        session = config.stash[_SESSION] = hooks.session
        reference = cache(lambda: _reference(session, config))
        session.reference = lambda suite, repro: reference().check(suite, repro)
        if session.taping and not session.options.first_only and request.quirks:
            from conformance.harness.known_deviations import LazyDeviations

            loaded = _loaded(config, request.known)
            alone = hooks.worker == "main"
            session.past = LazyDeviations(lambda: _quirks(session, loaded, worker=None if alone else hooks.worker))
        config.pluginmanager.register(hooks, "mqconform-run")
        config.pluginmanager.register(hooks.chosen, "mqconform-chosen")
        if getattr(config.option, "allure_report_dir", None):
            from conformance.allure_live import AllureHooks

            config.pluginmanager.register(AllureHooks(config, hooks.session), "mqconform-allure")


def _options(asked: RunRequest, config: pytest.Config) -> RunOptions:
    """Return what the request asks of its tests. Raises UsageError for a word that does not exist."""
    from conformance.command_options import BadInput, check_chosen, check_situations, check_words
    from conformance.harness.recorder import RunOptions
    from conformance.spec.catalogue import assignment
    from conformance.spec.versions import DEFAULT_PROFILE

    try:
        check_words(profile=asked.profile, level=asked.level, readings=asked.readings)
        chosen = check_chosen(asked.chosen)
        return RunOptions(
            profile=asked.profile or DEFAULT_PROFILE,
            level=asked.level,
            readings=assignment(asked.readings, chosen),
            reading_set=asked.readings,
            seed=asked.seed,
            max_examples=asked.max_examples,
            stateful_steps=asked.steps,
            budget_s=asked.budget_s,
            chosen=chosen,
            first_only=getattr(config.option, "maxfail", 0) == 1,
            situations=check_situations(str(asked.situations)),
        )
    except BadInput as error:
        raise pytest.UsageError(str(error)) from None


def _loaded(config: pytest.Config, known: Path | str | None) -> Sequence[KnownQuirk]:
    """Return the quirks of the baseline, if one is given. Raises UsageError for a file that is none."""
    if known is None:
        return ()
    from conformance.explaining.quirks import usable
    from conformance.report.standing import BaselineError, read_quirks

    try:
        loaded, told = usable(read_quirks(Path(known)))
    except BaselineError as error:
        raise pytest.UsageError(str(error)) from None
    if not hasattr(config, "workerinput"):
        for sentence in told:
            config.stash[_SESSION].writer.note(sentence)
    return loaded


def _reference(session: RunSession, config: pytest.Config) -> Reference:
    """Return what plays a story before it is told as a failure of this run's implementation."""
    from conformance.explaining.continuation import reference_of
    from conformance.live.proxy import addresses, served

    made = reference_of(session, lambda rpc: served(addresses(1 if rpc else 0), rpc=rpc))
    config.add_cleanup(made.close)
    return made


def _quirks(session: RunSession, loaded: Sequence[KnownQuirk], worker: str | None) -> KnownDeviations:
    """Return what goes on behind the deviations of this run's implementation. worker: None if there is only one."""
    from conformance.explaining.quirks import Shared, quirks_of
    from conformance.harness.known_deviations import TOLD_TO_WORKERS

    return quirks_of(session, loaded, None if worker is None else Shared(session.out / TOLD_TO_WORKERS, worker))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove what the workers told each other: the run record has it."""
    if _SESSION in config.stash and not hasattr(config, "workerinput"):
        from conformance.files import remove_tree
        from conformance.harness.known_deviations import TOLD_TO_WORKERS

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
    judge.played = client.hello.plays
    session.note_epoch()
    if client.offers("reset"):
        with _faults_in_fixtures():
            client.call("reset")
    yield client


@pytest.fixture
def mq_other(request: pytest.FixtureRequest, mq: GuardedClient) -> Iterator[GuardedClient]:
    """A second manager, with a state of its own; a history resets it. Skips the test if there can be only one."""
    from conformance.files import scratch
    from conformance.harness.guarded_client import GuardedClient

    if not mq.keeps_state or not all(map(mq.offers, ("queues.create", "queues.open"))):
        pytest.skip("this connection has one manager")
    session = _session(request)
    assert session.current is not None
    with scratch("mqconform-other-") as folder:
        with _faults_in_fixtures():
            client = session.open_client(folder)
        try:
            yield GuardedClient(client, skips=True, until=session.current.share.at_last)
        finally:
            client.close()


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
