"""Opening queues by names that must be refused, and one that must not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from conformance.spec.constants import hresults
from conformance.verdict import Outcome, Verdict

KIND: Final = "open"
SECTION: Final = "MQDMPR-3.1.7.1.5"
ELSEWHERE: Final = "DIRECT=OS:MQCONFORM-ELSEWHERE\\private$\\q"

Step = Callable[..., None]


def opened(client: Any, step: Step, name: str, access: str) -> Any:
    """The result of opening a queue, told."""
    result = client.call("queues.open", format_name=name, access=access)
    told = hresults.name_of(result.status) if result.status is not None and not result.ok else None
    answer = "ok" if result.ok else f"fails with {told or result.status}"
    step(f"open {name} for {access} -> {answer}", {"method": "queues.open", "params": {"format_name": name}}, None)
    return result


def held(requirement: str, holds: bool, expected: Any = None, actual: Any = None) -> Verdict:
    """Whether a requirement holds."""
    if holds:
        return Verdict(requirement, Outcome.PASS, "queues.open")
    return Verdict(requirement, Outcome.FAIL, "queues.open", expected, actual)


def tried(client: Any, step: Step, repro: Mapping[str, Any]) -> Iterator[Verdict]:
    """The verdicts on opening `name`, where `{computer}` and `{manager}` stand for the implementation's own.

    It must fail as `word` says, with `code`; without a word it must be opened.
    """
    hello = client.hello
    name = str(repro["name"]).replace("{computer}", hello.computer).replace("{manager}", str(hello.queue_manager))
    word, code = repro.get("word"), repro.get("code")
    result = opened(client, step, name, str(repro["access"]))
    if word is None:
        yield held(f"{SECTION}.remote-send", result.ok, "ok", f"0x{result.status or 0:08X}")
        return
    yield held(f"{SECTION}.{word}", not result.ok, "fails", "ok")
    if result.status is not None:
        yield held(f"{SECTION}.{word}-code", result.status == code, f"0x{code:08X}", f"0x{result.status:08X}")
