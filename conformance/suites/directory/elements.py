"""Stories of names of several elements: what is opened, what is refused, and where a message then comes to.

MS-MQDMPR 3.1.7.1.5, 3.1.7.1.27, 3.1.7.3.8. The shape of the name, the access, and the element that cannot be opened
are crossed, online and offline. Offline no section says whether a list is resolved: a refusal of one is no fault.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.spec.constants.hresults import (
    MQ_ERROR_QUEUE_NOT_FOUND,
    MQ_ERROR_UNSUPPORTED_ACCESS_MODE,
    MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
)
from conformance.spec.constants.properties import PROPERTIES
from conformance.suites.directory.public_queues import Queue
from conformance.suites.directory.scene import NOWHERE, OTHER_ID, Scene, ids
from conformance.suites.story_table import Untold

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.verdict import Json

_OPENS, _LISTS = "MQDMPR-3.1.7.1.5.", "MQDMPR-3.1.7.3.8."
_COPIES: Final = "MQDMPR-3.1.7.1.27.multiple-destinations"
_SUFFIXES: Final = ("JOURNAL", "DEADLETTER", "DEADXACT")
_ACCESSES: Final = (("receive", "deny_none"), ("peek", "deny_none"), ("send", "deny_receive"), ("send", "deny_none"))


def _listed(scene: Scene, *members: str) -> str:
    return f"DL={scene.enter('distribution_list', members=list(members))}"


def _two(scene: Scene, names: Sequence[str]) -> str:
    return ",".join((names[0], names[-1]))


def _three(scene: Scene, names: Sequence[str]) -> str:
    return ",".join(names)


def _list(scene: Scene, names: Sequence[str]) -> str:
    return _listed(scene, *names)


def _nested(scene: Scene, names: Sequence[str]) -> str:
    return _listed(scene, names[0], _listed(scene, *names[1:]))


def _beside(scene: Scene, names: Sequence[str]) -> str:
    return f"{names[0]},{_listed(scene, *names[1:])}"


def _doubled(scene: Scene, names: Sequence[str]) -> str:
    return _listed(scene, *names, names[0].upper(), names[-1].lower())


SHAPES: Final[Mapping[str, Callable[[Scene, Sequence[str]], str]]] = MappingProxyType(
    {"two": _two, "three": _three, "list": _list, "nested": _nested, "beside": _beside, "doubled": _doubled}
)
"""How a name of several elements is made of the names of its queues."""
_WITH_LISTS: Final = ("list", "nested", "beside", "doubled")


def _opened(scene: Scene, name: str, access: str = "send", share: str = "deny_none") -> Result:
    return scene.call(f"open {name} for {access}", "queues.open", format_name=name, access=access, share=share)


def _active(scene: Scene) -> Json:
    """Return the names of the active queues; None from a driver that does not tell them."""
    if not scene.mq.offers("management.get"):
        return None
    numbers = [PROPERTIES["PROPID_MGMT_MSMQ_ACTIVEQUEUES"].value]
    answer = scene.call("ask which queues are active", "management.get", target={"type": "machine"}, properties=numbers)
    values = answer.values.get("values") or [{}]
    return sorted(str(each).lower() for each in values[0].get("value") or ())


def _lies(scene: Scene, state: str) -> None:
    if state == "offline":
        scene.lie("read", "site", {"result": "DirectoryNotConnected"})
        scene.call("read a site", "directory.read", **{"class": "site"})


def _counts(scene: Scene, names: Sequence[str]) -> list[int]:
    return [int(scene.call("count", "queues.counts", format_name=name).values.get("messages", -1)) for name in names]


def _queues(scene: Scene, **properties: Json) -> tuple[str, str]:
    """Create a private and a public queue, and return their names. Raises Untold."""
    path = f"{scene.mq.hello.computer}\\private$\\a"
    params: dict[str, Any] = {"path_name": path, **({"properties": properties} if properties else {})}
    if not scene.call("create a private queue", "queues.create", **params).ok:
        raise Untold("no queue could be created")
    return f"DIRECT=OS:{path}", Queue(scene, "c", **properties).names["public"]


def opened(scene: Scene, shape: str, state: str) -> None:
    """A name of queues here and elsewhere is opened for send alone, as a whole or not at all."""
    if shape == "nested" and scene.reads("R-MQDMPR-expand-format-name", "one-pass"):
        raise Untold("a list in a list need not be looked at")
    scene.used()
    first, last = _queues(scene)
    names = (first, "DIRECT=OS:OTHER\\private$\\b", last)
    lost = {f"DIRECT=OS:{scene.mq.hello.computer}\\private$\\lost": [MQ_ERROR_QUEUE_NOT_FOUND]}
    lost[f"PUBLIC={NOWHERE}"] = [MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION]
    if scene.reads("R-MQDMPR-unknown-public-queue-status", "queue-not-found"):
        lost[f"PUBLIC={NOWHERE}"].append(MQ_ERROR_QUEUE_NOT_FOUND)
    rows: list[tuple[tuple[str, ...], str | None]] = [(names, None)]
    rows += [(each, name) for name in lost for each in ((name, *names[1:]), (*names[:-1], name))]
    made = [(SHAPES[shape](scene, each), missing) for each, missing in rows]
    _lies(scene, state)
    unsure = state == "offline" and shape in _WITH_LISTS
    before = _active(scene)
    for (name, missing), (access, share) in itertools.product(made, _ACCESSES):
        answer = _opened(scene, name, access, share)
        found = {"status": answer.status}
        if (access, share) == _ACCESSES[-1] and missing is None:
            if unsure and not answer.ok:
                continue
            words = ids(_OPENS, "multiple-element-success expanded expanded-replaces")
            scene.shows(words, answer.ok, {"opened": True}, found)
            _sends(scene, answer, names[::2])
            before = _active(scene)  # a queue elsewhere, in which the message waits
            continue
        if access != "send":
            demand, codes = f"{_OPENS}multiple-element-access", [MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION]
        elif share == "deny_receive":
            demand, codes = f"{_OPENS}multiple-element-share", [MQ_ERROR_UNSUPPORTED_ACCESS_MODE]
        else:
            demand, codes = f"{_OPENS}multiple-element-failed-element", lost[str(missing)]
        scene.shows(demand, not answer.ok, {"opened": False}, found)
        code = f"{_OPENS}multiple-element-status" if demand.endswith("failed-element") else f"{demand}-code"
        if not unsure:
            scene.shows(code, answer.status in codes, list(codes), answer.status)
        after = _active(scene)
        scene.shows((demand, f"{_OPENS}refused-no-handle"), after == before, before, after)


def _sends(scene: Scene, answer: Result, here: Sequence[str]) -> None:
    """Send to a handle of several queues, judge that one message comes to each of those here, and close it."""
    if not answer.ok:
        return
    handle, before = answer.values["queue"], _counts(scene, here)
    scene.call("send to all", "messages.send", queue=handle, message={"label": "to all"})
    counts, wanted = _counts(scene, here), [each + 1 for each in before]
    scene.shows((_COPIES, f"{_LISTS}list-replaced", f"{_LISTS}joined"), counts == wanted, list(wanted), list(counts))
    scene.call("close it", "queues.close", queue=handle)


def transacted(scene: Scene, shape: str, state: str) -> None:
    """A message that is sent in a transaction comes to each element with its commit, and to none without it."""
    if shape == "nested" and scene.reads("R-MQDMPR-expand-format-name", "one-pass"):
        raise Untold("a list in a list need not be looked at")
    scene.used()
    here = _queues(scene, PROPID_Q_TRANSACTION=1)
    name = SHAPES[shape](scene, (here[0], here[1], here[1]))
    _lies(scene, state)
    answer = _opened(scene, name)
    if not answer.ok:
        raise Untold("the name cannot be opened")
    for word, more in (("abort", 0), ("commit", 1)):
        begun = scene.call("begin a transaction", "transactions.begin").values.get("transaction")
        params: dict[str, Any] = {"queue": answer.values["queue"], "message": {"label": word}, "transaction": begun}
        if not scene.call("send to all in the transaction", "messages.send", **params).ok:
            raise Untold("nothing can be sent in a transaction")
        scene.call(f"{word} it", f"transactions.{word}", transaction=begun)
        counts = _counts(scene, here)
        scene.shows((_COPIES, f"{_LISTS}list-replaced"), counts == [more, more], [more, more], list(counts))


def single(scene: Scene, state: str) -> None:
    """One is left of elements equal but for their case, and is opened as if it were the whole name."""
    scene.used()
    private, public = _queues(scene)
    rows = [[each, each.upper(), each.lower()] for each in (private, public)]
    names = [*map(",".join, rows), *(_listed(scene, *row) for row in rows)]
    _lies(scene, state)
    for name, access in itertools.product(names, ("receive", "peek", "send")):
        answer = _opened(scene, name, access)
        if state == "offline" and name.startswith("DL=") and not answer.ok:
            continue
        demands = (f"{_LISTS}one-left-name", f"{_OPENS}expanded-replaces")
        scene.shows(demands, answer.ok, {"opened": True}, {"status": answer.status})
        if answer.ok:
            scene.call("close it", "queues.close", queue=answer.values["queue"])


def machines(scene: Scene, state: str) -> None:
    """A name of a computer is refused for send, whichever of its queues it names; so is a public one nobody knows."""
    scene.mq.need("format_names", "machine")
    scene.used()
    _lies(scene, state)
    before = _active(scene)
    for guid, suffix in itertools.product((scene.guid, scene.guid.upper(), OTHER_ID), _SUFFIXES):
        answer = _opened(scene, f"MACHINE={guid};{suffix}")
        scene.shows(f"{_OPENS}machine-access", not answer.ok, {"opened": False}, {"status": answer.status})
        code = MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION
        scene.shows(f"{_OPENS}machine-access-code", answer.status == code, code, answer.status)
    unknown = _opened(scene, f"PUBLIC={NOWHERE}")
    scene.shows(f"{_OPENS}public-not-found", not unknown.ok, {"opened": False}, {"status": unknown.status})
    after = _active(scene)
    scene.shows((f"{_OPENS}refused-no-handle", f"{_OPENS}machine-access"), after == before, before, after)


_REFUSED: Final = ids(_OPENS, "multiple-element-access multiple-element-share multiple-element-failed-element")
_CLAIMS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "opened": (
            *_REFUSED,
            *ids(_OPENS, "multiple-element-access-code multiple-element-share-code multiple-element-status"),
            *ids(_OPENS, "refused-no-handle multiple-element-success expanded expanded-replaces"),
            *(_COPIES, f"{_LISTS}list-replaced", f"{_LISTS}joined"),
        ),
        "transacted": (_COPIES, f"{_LISTS}list-replaced"),
        "single": (f"{_LISTS}one-left-name", f"{_OPENS}expanded-replaces"),
        "machines": ids(_OPENS, "machine-access machine-access-code public-not-found refused-no-handle"),
    }
)


def claims_of(name: str) -> tuple[str, ...]:
    """Return the ids of the requirements that a story can show."""
    return _CLAIMS[name.split("-")[1]]


_STATES: Final = ("online", "offline")
STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {
        **{
            f"elements-{word}-{shape}-{state}": partial(act, shape=shape, state=state)
            for word, act in (("opened", opened), ("transacted", transacted))
            for shape in SHAPES
            for state in _STATES
        },
        **{
            f"elements-{word}-{state}": partial(act, state=state)
            for word, act in (("single", single), ("machines", machines))
            for state in _STATES
        },
    }
)
