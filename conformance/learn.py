"""`mqconform learn` as a function: learn the machine that an implementation follows, and compare it with the text's."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from conformance.command_options import BadInput, check_chosen, check_words
from conformance.files import new_scratch, remove_tree
from conformance.harness.connecting import check_connector, open_client
from conformance.harness.recorder import RunOptions
from conformance.histories.learning.alphabets import ALPHABETS, KILL, letter_names
from conformance.histories.learning.sides import Limits
from conformance.spec.catalogue import assignment, did_you_mean
from conformance.spec.versions import DEFAULT_PROFILE

if TYPE_CHECKING:
    from conformance.histories.learning.work import Learning

WHATS = tuple(ALPHABETS)
BUDGET_S = 120.0


class MissingExtra(Exception):
    """AALpy is not installed. The message is one sentence for the user."""


def need_learn() -> None:
    """Raise MissingExtra unless the package of the extra `learn` is installed."""
    if find_spec("aalpy") is None:
        raise MissingExtra("Learning needs aalpy, which is not installed: pip install 'mqconform[learn]'.")


def learn(
    *,
    what: str,
    adapter: str = "embedded",
    profile: str | None = None,
    readings: str = "windows",
    chosen: Sequence[str] = (),
    more_states: int = 1,
    budget_s: float | None = BUDGET_S,
    steps: int | None = None,
    kill: bool = False,
    without: Sequence[str] = (),
    in_process: bool = False,
    deadline_ms: int = 10_000,
    on_progress: Callable[[float, float, str], None] = lambda done, total, text: None,
) -> Learning:
    """Learn a machine and compare it with the specification's.

    what: a name of WHATS. more_states: how many states the implementation may have beyond those found, for the result
    to be complete. steps: letters to play at most. kill: with the letter that kills the manager. without: letters to
    leave out. Raises BadInput, MissingExtra, ConnectorError, DriverUnusable.
    """
    check_words(profile=profile, level="may", readings=readings)
    decided = check_chosen(chosen)
    left_out = _checked(what, without) | (set() if kill else {KILL})
    need_learn()
    check_connector(adapter, in_process=in_process)
    from conformance.histories.learning.work import work

    began = time.monotonic()
    options = RunOptions(
        profile=profile or DEFAULT_PROFILE,
        level="may",
        readings=assignment(readings, decided),
        reading_set=readings,
        chosen=decided,
    )
    state = new_scratch("mqconform-learn-")
    try:
        client = open_client(
            adapter, state_dir=state, in_process=in_process, deadline_ms=deadline_ms, profile=options.profile
        )
        try:
            limits = Limits(began + budget_s if budget_s is not None else float("inf"), steps)
            found = work(
                client, what, options, more_states=more_states, limits=limits, without=left_out, tell=on_progress
            )
        finally:
            client.close()
    finally:
        remove_tree(state)
    return replace(found, seconds=time.monotonic() - began)


def _checked(what: str, without: Sequence[str]) -> set[str]:
    """Return the letters to leave out. Raises BadInput, with the nearest name, for an unknown name."""
    if what not in ALPHABETS:
        raise BadInput(f"There is no machine {what!r}{did_you_mean(what, WHATS) or '.'} Known: {', '.join(WHATS)}.")
    known = letter_names(what)
    for name in without:
        if name not in known:
            hint = did_you_mean(name, known) or "."
            raise BadInput(f"The machine of a {what} has no letter {name!r}{hint} Letters: {', '.join(known)}.")
    return set(without)
