"""Ideal answers: what an object that follows the tables answers. They tell which requirements a plan can judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from conformance.activex.expected import Held, Invoke, Readings, Seen, refusing
from conformance.activex.plans import Act, Plan
from conformance.activex.states import MADE
from conformance.activex.statuses import E_NOTIMPL, S_OK
from conformance.activex.step import new, step
from conformance.activex.tables import CLASSES
from conformance.activex.values import Variant
from conformance.verdict import Verdict

E_FAIL = 0x80004005


@dataclass(slots=True)
class Objects:
    """The objects of a plan by their names in it, and the readings they are judged by."""

    readings: Readings
    held: dict[str, Held] = field(default_factory=dict)

    def do(self, act: Act, seen: Seen | None) -> tuple[Verdict, ...]:
        """Judge the answer to an act, and keep what it leads to. seen: None for a creation."""
        if act.call is None:
            assert act.coclass is not None
            self.held[act.object] = new(act.coclass)
            return ()
        assert seen is not None
        before = self.held[act.object]
        self.held[act.object], verdicts = step(before, act.call, seen, self.readings)
        if act.gives is not None and seen.status == S_OK:
            self.held[act.gives] = Held(*MADE[before.coclass, act.call.member])
        return verdicts


def ideal(held: Held, call: Invoke) -> Seen:
    """Return the answer that the tables demand; where they leave a choice, one of the answers they allow."""
    member = CLASSES[held.coclass][call.member]
    if member.unimplemented:
        return Seen(E_NOTIMPL)
    check = refusing(member, held, call)
    if check is not None:
        return Seen(E_FAIL if check.status is None else check.status)
    if call.kind == "put":
        taken = member.takes is None or member.takes.admits(call.arguments[-1])
        return Seen(S_OK if taken or member.refusal is None else member.refusal)
    if call.kind == "get":
        return Seen(S_OK, _value(held, call.member))
    return Seen(S_OK)


def _value(held: Held, name: str) -> Variant:
    member = CLASSES[held.coclass][name]
    put = held.values.get(member.kept_as or "")
    if put is not None and name == "BodyLength":
        return Variant("I4", len(put.value) if isinstance(put.value, bytes) else 0)
    return put or member.initial or Variant("EMPTY")


def judged(plans: Iterable[Plan], readings: Mapping[str, tuple[str, ...]] | None = None) -> tuple[str, ...]:
    """Return the requirements that plans judge, in the order in which an ideal object meets them."""
    found: dict[str, None] = {}
    for plan in plans:
        objects = Objects(readings or {})
        for act in plan:
            seen = None if act.call is None else ideal(objects.held[act.object], act.call)
            found.update(dict.fromkeys(verdict.requirement for verdict in objects.do(act, seen)))
    return tuple(found)
