"""Opens queues by names that must be refused, and runs a stored history or opening again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from conformance.harness.repro_files import NotRepeatable, no_story
from conformance.histories import history as histories
from conformance.runlog.events import Told
from conformance.spec.catalogue import reading_id
from conformance.spec.constants.codes import status_text
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions

KIND: Final = "open"
SECTION: Final = "MQDMPR-3.1.7.1.5"
UNKNOWN: Final = reading_id("R-MQDMPR-open-unknown-for-send")
ELSEWHERE: Final = "DIRECT=OS:MQCONFORM-ELSEWHERE\\private$\\q"

Step = Callable[..., None]


def opened(client: Any, step: Step, name: str, access: str) -> Any:
    """Open a queue, tell it in the story, and return the result."""
    result = client.call("queues.open", format_name=name, access=access)
    told = result.status if result.status is None else status_text(result.status)
    answer = "ok" if result.ok else f"fails with {told}"
    step(Told(f"open {name} for {access}", answer), {"method": "queues.open", "params": {"format_name": name}}, None)
    return result


def holds_or_fails(requirement: str, holds: bool, expected: Any = None, actual: Any = None) -> Verdict:
    """Return a verdict: PASS if the requirement holds, otherwise FAIL."""
    if holds:
        return Verdict(requirement, Outcome.PASS, "queues.open")
    return Verdict(requirement, Outcome.FAIL, "queues.open", expected, actual)


def judge_open(
    client: Any, step: Step, repro: Mapping[str, Any], readings: Mapping[str, Sequence[str]]
) -> Iterator[Verdict]:
    """Open `name`, with the implementation's own `{computer}` and `{manager}` put in, and judge the answer.

    The open must fail as `word` says, with `code`; without a word it must succeed.
    """
    hello = client.hello
    name = str(repro["name"]).replace("{computer}", hello.computer).replace("{manager}", str(hello.queue_manager))
    word, code = repro.get("word"), repro.get("code")
    result = opened(client, step, name, str(repro["access"]))
    if word is None:
        yield holds_or_fails(f"{SECTION}.remote-send", result.ok, "ok", f"0x{result.status or 0:08X}")
        return
    allowed = readings[UNKNOWN] if word == "not-found-send" else ()
    if result.ok and "accepted" in allowed:
        made = opened(client, step, name, "receive").ok
        verdict = holds_or_fails(f"{SECTION}.{word}", not made, "fails, or makes no queue", "the queue is there")
        outcome = verdict.outcome if made or allowed[0] == "accepted" else Outcome.READING
        yield replace(verdict, outcome=outcome, readings=((UNKNOWN, "accepted"),))
        return
    refused = ((UNKNOWN, "refused"),) if len(allowed) > 1 else ()
    yield replace(holds_or_fails(f"{SECTION}.{word}", not result.ok, "fails", "ok"), readings=refused)
    if result.status is not None:
        yield holds_or_fails(f"{SECTION}.{word}-code", result.status == code, f"0x{code:08X}", f"0x{result.status:08X}")


def rejudge(repro: Mapping[str, Any], client: Port, options: RunOptions) -> list[Verdict]:
    """Return the verdicts of one example on `client`. Raises NotRepeatable for a repro of another suite or format."""
    if repro.get("kind") != KIND:
        return histories.rejudge(repro, client, options)
    word, code = repro.get("word"), repro.get("code")
    texts = isinstance(repro.get("name"), str) and repro.get("access") in ("send", "receive", "peek")
    if not texts or not isinstance(word, str | None) or (word is not None and type(code) is not int):
        raise NotRepeatable("The repro file holds no name to be opened.")
    if client.offers("reset"):
        client.call("reset")
    return list(judge_open(client, no_story, repro, options.readings))
