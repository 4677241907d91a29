"""Run the calls of a repro file again and judge them again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conformance.adapter.errors import NotAccepted
from conformance.harness.recorder import ConformanceFailure, Recorder
from conformance.harness.repro_files import EndedEarly, NotRepeatable
from conformance.histories.history import FORMAT, History, NameTaken
from conformance.histories.operations.table import stored_call
from conformance.model import BadCall, Model
from conformance.spec.catalogue import catalogue
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions

MAX_CALLS = 10_000  # a walk makes a few dozen


def rejudge(repro: Mapping[str, Any], client: Port, options: RunOptions) -> list[Verdict]:
    """Return the verdicts of the calls in `repro["calls"]`, up to the first failure.

    Raises NotRepeatable when the repro data is not what `History` writes. Raises EndedEarly when a call makes no sense
    any more because the implementation answers differently, or when too many model states are possible to judge.
    """
    verdicts: list[Verdict] = []
    judge = Recorder(options, lambda verdict, count: verdicts.append(verdict))
    stored = repro.get("calls")
    if not isinstance(stored, list) or not all(isinstance(raw, dict) for raw in stored) or len(stored) > MAX_CALLS:
        raise NotRepeatable(f"The repro file must have a list of at most {MAX_CALLS:,} calls.")
    if repro.get("format") != FORMAT:
        raise NotRepeatable(f"The calls of the repro file have format {repro.get('format')!r}, not {FORMAT}.")
    try:
        calls = [(stored_call(_plain(raw)), bool(raw.get("expires")), _shows(raw)) for raw in stored]
    except BadCall as bad:
        raise NotRepeatable(f"The repro file holds a call that this version does not know: {bad}.") from None
    history = History(client, judge, Model(options.readings))
    try:
        for call, expires, shows in calls:
            if expires:
                history.expire(call)
            else:
                history.do(call, shows=shows)
    except ConformanceFailure as failure:
        judge.flush()
        return [*verdicts, failure.verdict]
    except NameTaken as name:
        at = f"Call {len(history.calls) + 1} of {len(calls)} gives the name {name} again"
        why = "while what has it is still there: the story cannot tell the two apart, and shows nothing of anybody"
        raise EndedEarly(f"{at}, {why}.") from None
    except BadCall as bad:
        at = f"before call {len(history.calls) + 1} of {len(calls)}"
        why = "the implementation now answers differently, and the call makes no sense any more"
        raise EndedEarly(f"The history ended early, {at}: {why} ({bad}).") from None
    except NotAccepted as lacking:
        judge.flush()
        why = f"the implementation does not offer {lacking.what}"
        raise EndedEarly(f"The history ended early: {why}.", verdicts) from None
    if history.states.capped:
        raise EndedEarly("The history ended early: too many model states are possible to judge it.")
    judge.flush()
    return verdicts


def _plain(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in raw.items() if name not in ("expires", "shows")}


def _shows(raw: Mapping[str, Any]) -> str | None:
    shows = raw.get("shows")
    if shows is not None and (not isinstance(shows, str) or shows not in catalogue().requirements):
        raise NotRepeatable("The repro file holds a call that shows a requirement this version does not know.")
    return shows
