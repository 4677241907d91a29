"""What all tests need of the process they run in."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import documents as spec_documents
import pytest
from hypothesis import settings
from nightly import NIGHTLY
from shared import shared
from spreading import Spread, is_worker, long_first

from conformance.harness.hypothesis_settings import draw_from_the_seed_alone

if TYPE_CHECKING:
    from pathlib import Path

    from base_install import Base

# The hundreds of processes that tests start would compile every module again: a third of the time of a short run.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A job that a shell starts in the background ignores Ctrl-C, and so do its children: what tests interrupt must not.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What `nohup` starts ignores a hangup, and so do its children; those of a process that handles it do not.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)

# A push draws the same examples on every machine, whichever modules a worker has loaded; the nightly run draws others.
settings.register_profile("push", derandomize=True, database=None, deadline=None)
if not NIGHTLY:
    settings.load_profile("push")
draw_from_the_seed_alone()


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    spec_documents.mark(item)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if is_worker():
        long_first(items)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    yield  # behind the list of what was skipped
    line = spec_documents.summary(terminalreporter.stats.get("skipped", []))
    if line:
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def documents() -> Path:
    """The folder of the documents; without them the test is skipped."""
    return spec_documents.folder()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Spread | None:
    """In the place of `--dist worksteal`, `load` and so on; `--dist each` stays."""
    if config.getoption("dist") == "each":
        return None
    config.option.loadscopereorder = False
    return Spread(config, log)


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    """An environment with the base install alone."""
    from base_install import made_base, make_base

    return made_base(shared(tmp_path_factory, "base", make_base))


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """One session for all that needs one; without Java they are skipped, and fail with CI=true."""
    from spark_helpers import JAVA, SETTINGS, need_spark

    need_spark()
    from conformance.pipeline.spark import session

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", JAVA)
        with session("local[2]", settings=SETTINGS) as found:
            yield found


@pytest.fixture(autouse=True, scope="module")
def what_stays_is_looked_through_once() -> Iterator[None]:
    """Keep what the tests of a module made out of later collections of garbage."""
    yield
    gc.collect()
    gc.freeze()


class _Collections:
    """Freezes what a long collection of garbage has left.

    A worker keeps much of what its tests made, and drivers within it collect garbage whenever one ends. Grammars and
    explored states would be gone through each time, which takes seconds.
    """

    began = 0.0

    def __call__(self, phase: str, info: dict[str, int]) -> None:
        if info["generation"] == 2 and phase == "start":
            self.began = time.thread_time()
        elif info["generation"] == 2 and time.thread_time() - self.began > 0.1:
            gc.freeze()


gc.callbacks.append(_Collections())
