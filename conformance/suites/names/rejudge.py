"""Runs an example of this suite again, from its repro file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import ValidationError

from conformance.harness.repro_files import NotRepeatable, no_story
from conformance.judge.names import NameCase, TextCase, judge_name
from conformance.suites.names.checks import (
    calls_alive,
    create_and_judge,
    create_and_open,
    create_restart_open,
    observe,
    open_and_judge,
    probe_queue,
)
from conformance.suites.names.texts import (
    PLAIN,
    judge_hostile,
    names_of,
    open_both,
    send_and_judge,
    set_and_judge,
    takes,
    text_queue,
)
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions


def rejudge(repro: Mapping[str, Any], client: Port, options: RunOptions) -> list[Verdict]:
    """Return the verdicts of one example on `client`. Raises NotRepeatable for a repro of another suite or format."""
    if client.offers("reset"):
        client.call("reset")
    try:
        if repro["kind"] == "name":
            case = NameCase.from_json(repro["case"])
            result = client.call("names.parse", text=case.text, form=case.form)
            return judge_name(case, observe(result), options.readings)
        if repro["kind"] == "create-name":
            return create_and_judge(repro["path_name"], client, no_story)
        if repro["kind"] == "create-accepted":
            return create_and_open(repro["path_name"], repro["demand"], client, no_story)
        if repro["kind"] == "create-restart":
            return create_restart_open(repro["path_names"], client, no_story)
        if repro["kind"] == "hostile-name":
            return [judge_hostile(repro["hostile"], client)[0]]
        if repro["kind"] == "open-name":
            probe_queue(client, create=True)
            return open_and_judge(repro["format_name"], repro["access"], repro["demand"], client, no_story)
        if repro["kind"] == "alive":
            probe_queue(client, create=True)
            return [calls_alive(client)]
        if repro["kind"] in ("text", "label", "given-out"):
            return _text(repro, client, options)
    except ValidationError as wrong:
        raise NotRepeatable(f"The repro file was not written by the suite names: {wrong}.") from None
    except (KeyError, TypeError) as missing:
        raise NotRepeatable(f"The repro file lacks {missing}: it was not written by the suite names.") from None
    raise NotRepeatable(f"The suite names has no examples of the kind {repro['kind']!r}.")


def _text(repro: Mapping[str, Any], client: Port, options: RunOptions) -> list[Verdict]:
    queue = text_queue(client)
    if queue is None:
        raise NotRepeatable("No queue could be created to run the example on.")
    if repro["kind"] == "given-out":
        return names_of(queue, client, options.profile)
    if repro["kind"] == "text":
        case = TextCase.from_json(repro["case"])
        takes(client, queue, case.property, PLAIN[case.property])
        return set_and_judge(case, queue, client, no_story, options)
    handles = open_both(client, queue)
    if handles is None:
        raise NotRepeatable("The queue to run the example on cannot be opened to send and receive.")
    return send_and_judge(repro["label"], handles, client, no_story, options)
