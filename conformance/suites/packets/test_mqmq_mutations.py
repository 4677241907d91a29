"""MS-MQMQ 2.2.18 to 2.2.20: decoding reserved values, singly and all at once, and a mutation of each rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from conformance.suites.packets.cases import HANDLED, either_case, mutated, refuse_case, same_case
from conformance.suites.packets.combinations import Change, changes, full_message, packet_with
from conformance.suites.packets.messages import base64_of, packet_of
from conformance.verdict import Outcome

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

Need = Callable[..., None]
_RESERVED = tuple(dict.fromkeys(change.requirement for change in changes()))


@pytest.mark.requirement(*_RESERVED)
def test_reserved_values_change_nothing(mq: Port, mq_need: Need, judge: Recorder) -> None:
    """A message with every header: each reserved bit, field and padding by itself, then all of them together."""
    mq_need("packets.decode")
    plain = packet_of(full_message())

    def differs(these: list[Change]) -> bool:
        data = packet_with(these)
        found = same_case(mq, plain, data, these[0].requirement, lambda *_: None, what="")
        return any(one.outcome is Outcome.FAIL for one in found)

    def judged(these: list[Change], what: str) -> None:
        data, requirement = packet_with(these), these[0].requirement
        repro = {"plain": base64_of(plain), "packet": base64_of(data), "requirement": requirement}
        judge.begin_example("packet", {"case": "same", **repro})
        judge.record(*same_case(mq, plain, data, requirement, judge.step, what=what))

    ignored = []
    for change in changes():
        judged([change], change.key)
        if not differs([change]):
            ignored.append(change)
    if ignored and differs(ignored):
        # Keep only the changes that the difference needs.
        for change in list(ignored):
            fewer = [one for one in ignored if one is not change]
            if fewer and differs(fewer):
                ignored = fewer
        judged(ignored, " and ".join(change.key for change in ignored))
    elif ignored:
        judged(ignored, "everything that is reserved")


@pytest.mark.requirement(*dict.fromkeys(one.requirement for one in HANDLED.values() if one.way == "refused"))
def test_what_cannot_be_read_is_refused(mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """Refuse each mutation that promises missing bytes or has no layout; read a valid packet before and after it."""
    mq_need("packets.decode")
    for rule, handled in mutated("refused"):
        data = rule.breaks.broken()
        repro = {"case": "refuse", "packet": base64_of(data), "requirement": handled.requirement}
        judge.begin_example("packet", repro)
        what = f"it breaks {rule.requirement}"
        judge.record(*refuse_case(mq, data, handled.requirement, run_options, judge.step, what=what))


@pytest.mark.requirement(*dict.fromkeys(one.requirement for one in HANDLED.values() if one.way == "same"))
def test_what_is_ignored_changes_nothing(mq: Port, mq_need: Need, judge: Recorder) -> None:
    """Each mutation of an ignored value is read as the packet it was made from."""
    mq_need("packets.decode")
    for rule, handled in mutated("same"):
        plain, data = rule.breaks.valid(), rule.breaks.broken()
        repro = {"plain": base64_of(plain), "packet": base64_of(data), "requirement": handled.requirement}
        judge.begin_example("packet", {"case": "same", **repro})
        judge.record(*same_case(mq, plain, data, handled.requirement, judge.step, what=rule.requirement))


@pytest.mark.requirement("MQDMPR-3.1.7.1.31.reads")
def test_other_mutations_are_survived(mq: Port, mq_need: Need, judge: Recorder, run_options: RunOptions) -> None:
    """Each mutation that a reader may read or refuse leaves the reading of the next packet unharmed."""
    mq_need("packets.decode")
    for rule in {rule.requirement: rule for rule, _ in mutated("either")}.values():
        data = rule.breaks.broken()
        judge.begin_example("packet", {"case": "either", "packet": base64_of(data)})
        judge.record(*either_case(mq, data, run_options, judge.step, what=rule.requirement))
