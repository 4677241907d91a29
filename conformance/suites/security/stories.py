"""Stories about rights and descriptors. Each is told by its name alone; `STORIES` has them all.

MS-MQMQ 2.2.3, 2.2.23, 2.2.24, MS-MQMP 3.1.4.6, 3.1.4.7, MS-MQDMPR 3.1.1.1, 3.1.1.2.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import pytest

from conformance.model import rights
from conformance.model.descriptors import (
    ALLOW,
    AUDIT,
    DACL,
    DENY,
    EVERY_PART,
    GROUP,
    INHERIT_ONLY,
    INHERITED,
    OWNER,
    SACL,
    Descriptor,
    Entry,
    encoded,
)
from conformance.model.rights import EVERYBODY
from conformance.spec.constants.hresults import (
    MQ_ERROR_ILLEGAL_SECURITY_DESCRIPTOR,
    MQ_ERROR_PRIVILEGE_NOT_HELD,
    MQ_ERROR_SECURITY_DESCRIPTOR_TOO_SMALL,
)
from conformance.spec.followed_readings import either
from conformance.suites.security import arrivals, crossings, new_queues, of_objects, sends
from conformance.suites.security.scene import (
    MACHINE,
    MACHINE_ACTS,
    MACHINE_OF,
    OPENS,
    PART_IDS,
    QUEUE_ACTS,
    QUEUE_OF,
    Scene,
    allow,
    parts_of,
    plain_json,
    queue_target,
)
from conformance.suites.story_table import StoryTable, Untold, on
from conformance.verdict import Json, Outcome, Verdict

KIND: Final = "story"
Story = Callable[[Scene], None]
_SOMEBODY: Final = "S-1-5-21-11-22-33-4444"  # nobody who calls
_EACH: Final = ("every", "first")
_SET, _GET = "MQMP-3.1.4.6.", "MQMP-3.1.4.7."
_DESCRIPTORS: Final[Mapping[str, str]] = {"queue": "MQDMPR-3.1.1.2.security", "machine": "MQDMPR-3.1.1.1.security"}
_MASKS: Final[Mapping[str, str]] = {name: f"{demand}-access-mask" for name, demand in _DESCRIPTORS.items()}


def right_of_a_queue(scene: Scene, word: str, *, without: bool) -> None:
    """A user has one right of a queue, or all but one, and tries everything."""
    mask, user = rights.QUEUE_RIGHTS[word], scene.plain()
    combined = not without and mask.bit_count() > 1
    mask = rights.QUEUE_ALL & ~mask if without else mask
    name = scene.queue()
    descriptor = Descriptor(scene.owner, None, (allow(user.sid, mask),))
    scene.given(queue_target(name), descriptor, DACL)
    also = f"{QUEUE_OF}{word}", "MQMQ-2.2.24.declaration"
    scene.judge_acts(QUEUE_ACTS, name, descriptor, user, QUEUE_OF, also, combined=combined)


def right_of_the_manager(scene: Scene, word: str, *, without: bool) -> None:
    """A user has one right of the manager, or all but one, and tries everything."""
    mask, user = rights.MACHINE_RIGHTS[word], scene.plain()
    combined = not without and mask.bit_count() > 1
    mask = rights.MACHINE_ALL & ~mask if without else mask
    with scene.machine_as(allow(user.sid, mask)) as descriptor:
        found = scene.descriptor(MACHINE, DACL)
        scene.expect(_MASKS["machine"], found.dacl == descriptor.dacl, plain_json(descriptor), plain_json(found))
        also = f"{MACHINE_OF}{word}", "MQMQ-2.2.23.declaration"
        scene.judge_acts(MACHINE_ACTS, "", descriptor, user, MACHINE_OF, also, combined=combined)


_KINDS: Final[Mapping[str, tuple[int, str, int]]] = {
    "allow-user": (ALLOW, "user", 0),
    "deny-user": (DENY, "user", 0),
    "allow-group": (ALLOW, "group", 0),
    "deny-group": (DENY, "group", 0),
    "allow-everybody": (ALLOW, "everybody", 0),
    "deny-everybody": (DENY, "everybody", 0),
    "allow-other": (ALLOW, "other", 0),
    "deny-other": (DENY, "other", 0),
    "allow-inherited": (ALLOW, "user", INHERITED),
    "deny-inherited": (DENY, "user", INHERITED),
    "allow-to-inherit": (ALLOW, "user", INHERIT_ONLY),
    "deny-to-inherit": (DENY, "group", INHERIT_ONLY),
}
_FIRST: Final = rights.DELETE_MESSAGE | rights.WRITE_MESSAGE
_SECOND: Final = rights.PEEK_MESSAGE | rights.WRITE_MESSAGE


def pairs_of_entries(scene: Scene, first: str) -> None:
    """A DACL has an entry of one kind and then one of each kind: the order of the list decides, and what adds up."""
    user = scene.one("a member of a group", lambda one: bool(one.groups))
    sids = {"user": user.sid, "group": min(user.groups), "everybody": EVERYBODY, "other": _SOMEBODY}
    name = scene.queue()
    for second in _KINDS:
        entries = tuple(
            Entry(kind, mask, sids[who], flags)
            for (kind, who, flags), mask in ((_KINDS[first], _FIRST), (_KINDS[second], _SECOND))
        )
        descriptor = Descriptor(scene.owner, None, entries)
        scene.given(queue_target(name), descriptor, DACL)
        scene.judge_acts(OPENS, name, descriptor, user, QUEUE_OF)


def lists_of_a_kind(scene: Scene, kind: str) -> None:
    """A queue has an empty DACL or none at all, or one whose entries allow and deny nothing of it."""
    user, name = scene.plain(), scene.queue()
    dacl = {
        "empty": (),
        "absent": None,
        "audited": (Entry(AUDIT, rights.QUEUE_ALL, user.sid),),
        "of-another-user": (allow(_SOMEBODY, rights.QUEUE_ALL),),
    }[kind]
    descriptor = Descriptor(scene.owner, None, dacl)
    scene.given(queue_target(name), descriptor, DACL)
    scene.judge_acts(QUEUE_ACTS, name, descriptor, user, QUEUE_OF)


def two_queues(scene: Scene) -> None:
    """A user has all rights of one queue and none of another: each queue has a descriptor of its own."""
    user = scene.plain()
    made = {}
    for entries in ((allow(user.sid, rights.QUEUE_ALL),), ()):
        name = scene.queue()
        made[name] = Descriptor(scene.owner, None, entries)
        scene.given(queue_target(name), made[name], DACL)
    for name, descriptor in reversed(made.items()):
        scene.judge_acts(QUEUE_ACTS[:-2], name, descriptor, user, QUEUE_OF, (_DESCRIPTORS["queue"],))


def owner_without_entry(scene: Scene, *, denied: bool) -> None:
    """The owner of a queue has no entry in its DACL, or one that denies everything."""
    user = scene.one("a plain domain user", lambda one: one.domain_user and not (one.guest or one.privileges))
    with scene.machine_as(allow(EVERYBODY, rights.MACHINE_ALL)):
        name = scene.queue(user.sid)
        found = scene.descriptor(queue_target(name), OWNER)
        if found.owner != user.sid:
            raise Untold("the queue belongs to somebody else than who created it")
        dacl = (Entry(DENY, rights.QUEUE_ALL, user.sid),) if denied else ()
        descriptor = Descriptor(user.sid, None, dacl)
        scene.given(queue_target(name), descriptor, DACL)
        scene.judge_acts(QUEUE_ACTS, name, descriptor, user, QUEUE_OF)


def right_taken_away(scene: Scene) -> None:
    """A queue is open when a user loses the rights that it was opened with (R-MQMQ-right-checked-at)."""
    user, name = scene.plain(), scene.queue()
    full = Descriptor(scene.owner, None, (allow(user.sid, rights.QUEUE_ALL),))
    scene.given(queue_target(name), full, DACL)
    handles = {}
    for access in ("send", "receive"):
        opened = scene.call(f"open {name} with {access}", "queues.open", user.sid, format_name=name, access=access)
        if not opened.ok:
            raise Untold("the queue could not be opened")
        handles[access] = opened.values["queue"]
    send = {"queue": handles["send"], "message": {"body": "YQ=="}}
    peek = {"queue": handles["receive"], "timeout_ms": scene.mq.hello.settle_ms}
    if not scene.call("send", "messages.send", user.sid, **send).ok:
        raise Untold("no message could be sent")
    scene.given(queue_target(name), Descriptor(scene.owner, None, ()), DACL)
    for method, params, word in (("peek", peek, "peek-message"), ("send", send, "write-message")):
        done = scene.call(method, f"messages.{method}", user.sid, **params).ok
        followed = "open" if done else "each-call"
        accepted = scene.judge.readings[rights.CHECKED_AT]
        holds = followed in accepted
        taken = ((rights.CHECKED_AT, followed),) if holds else ()
        scene.expect(f"{QUEUE_OF}{word}", holds, {method: "open" in accepted}, {method: done}, taken)


def system_list(scene: Scene) -> None:
    """A user with every right of a queue reads and sets its SACL, which needs a privilege."""
    name, demand = scene.queue(), "MQMQ-2.4.mq-error-privilege-not-held"
    target = queue_target(name)
    users = [user for user in scene.users if not user.guest]
    if not users:
        raise Untold("the driver declares no user but one")
    sacl = (Entry(AUDIT, rights.WRITE_MESSAGE, EVERYBODY),)
    scene.given(target, Descriptor(dacl=tuple(allow(user.sid, rights.QUEUE_ALL) for user in users)), DACL)
    scene.given(target, Descriptor(sacl=sacl), SACL)
    for user in users:
        held = "security" in user.privileges
        for answer in (
            scene.got(target, SACL, caller=user.sid),
            scene.put(target, Descriptor(sacl=sacl), SACL, user.sid),
        ):
            expected: Json = {"allowed": held} if held else {"status": MQ_ERROR_PRIVILEGE_NOT_HELD}
            actual: Json = {"allowed": answer.ok, "status": answer.status}
            scene.expect(PART_IDS[SACL] if held else demand, answer.ok is held, expected, actual)
            if not held:
                right = answer.status in (None, MQ_ERROR_PRIVILEGE_NOT_HELD)
                outcome = Outcome.PASS if right else Outcome.WARN  # the text demands a failure; the code is advice
                scene.judge.record(Verdict(demand, outcome, "refused", expected, actual))


def _sample(scene: Scene, place: int) -> Descriptor:
    mask = (rights.READ, rights.WRITE_MESSAGE | rights.SET_PROPERTIES)[place]
    return Descriptor(
        (scene.owner, _SOMEBODY)[place],
        ("S-1-5-21-11-22-33-513", "S-1-5-21-11-22-33-514")[place],
        (allow(EVERYBODY, mask), Entry(DENY, rights.DELETE, _SOMEBODY)),
        (Entry(AUDIT, mask, EVERYBODY, 0x40),),
    )


def _written(scene: Scene, target: Mapping[str, Json], descriptor: Descriptor, information: int) -> None:
    answer = scene.put(target, descriptor, information)
    scene.expect(f"{_SET}updates", answer.ok, {"set": True}, {"status": answer.status})


def _kept(scene: Scene, what: str) -> AbstractContextManager[None]:
    return scene.machine_kept() if what == "machine" else nullcontext()


def parts_read(scene: Scene, what: str) -> None:
    """Each combination of parts is read: those asked for are there, and no others."""
    target = dict(MACHINE) if what == "machine" else queue_target(scene.queue())
    whole, accepted = _sample(scene, 0), scene.judge.readings[rights.PARTS]
    with _kept(scene, what):
        for bit in PART_IDS:
            _written(scene, target, whole, bit)
        for information in range(EVERY_PART + 1):
            found = scene.descriptor(target, information)
            shown = {one: rights.shown(whole, information, one) for one in accepted}
            follows = [one for one in accepted if shown[one] == found]
            taken = ((rights.PARTS, either(follows)),) if follows and follows != list(_EACH) else ()
            for bit, demand in PART_IDS.items():
                expected = shown[follows[0] if follows else accepted[0]]
                same = found.part(bit) == expected.part(bit)
                scene.expect(demand, same, plain_json(expected), plain_json(found), taken)
                scene.expect(_DESCRIPTORS[what], same, plain_json(expected), plain_json(found))


def parts_set(scene: Scene, what: str) -> None:
    """Each combination of parts is set: those are replaced, and the others stay."""
    target = dict(MACHINE) if what == "machine" else queue_target(scene.queue())
    old, new = _sample(scene, 0), _sample(scene, 1)
    with _kept(scene, what):
        for information in range(1, EVERY_PART + 1):
            _written(scene, target, old, EVERY_PART)
            before = scene.descriptor_in_parts(target)
            for bit, demand in PART_IDS.items():
                same = before.part(bit) == old.part(bit)
                scene.expect(demand, same, plain_json(old), plain_json(before))
            _written(scene, target, new, information)
            found, expected = scene.descriptor_in_parts(target), before.merged(new, information)
            for bit in sorted(PART_IDS, key=lambda each: not information & each):
                same = found.part(bit) == expected.part(bit)
                selects = bit if information & bit else information & -information  # what selected it, if it changed
                for each in (PART_IDS[selects], f"{_SET}updates", _DESCRIPTORS[what]):
                    scene.expect(each, same, plain_json(expected), plain_json(found))


def room(scene: Scene) -> None:
    """A descriptor is read with room for no byte, for one less than it has, and for each byte."""
    target = queue_target(scene.queue())
    for bit in PART_IDS:
        _written(scene, target, _sample(scene, 0), bit)
    for information in (EVERY_PART, *PART_IDS):
        whole = scene.got(target, information)
        data = base64.b64decode(whole.values.get("descriptor", ""))
        needed = whole.values.get("length_needed")
        if needed is not None and information == EVERY_PART:
            scene.expect(f"{_GET}length-needed", needed == len(data), len(data), needed)
        for length in (0, 1, 19, len(data) - 1):
            answer = scene.got(target, information, length=length)
            expected = {"status": MQ_ERROR_SECURITY_DESCRIPTOR_TOO_SMALL}
            right = answer.status == MQ_ERROR_SECURITY_DESCRIPTOR_TOO_SMALL or (
                answer.status is None and answer.failure is not None
            )
            scene.expect(f"{_GET}too-small", right, expected, {"status": answer.status})
            needed = answer.values.get("length_needed")
            if needed is not None and information == EVERY_PART:
                scene.expect(f"{_GET}length-needed", needed == len(data), len(data), needed)
        for length in (len(data), len(data) + 1):
            answer = scene.got(target, information, length=length)
            same = answer.ok and base64.b64decode(answer.values.get("descriptor", "")) == data
            scene.expect(f"{_GET}room", same, {"read": True}, {"status": answer.status})


def unknown_queue(scene: Scene) -> None:
    """The descriptor of a queue that is not there is read and set."""
    target = queue_target(f"DIRECT=OS:{scene.path_name()}")
    answer = scene.got(target)
    scene.expect(f"{_GET}unknown-queue", not answer.ok, {"read": False}, {"status": answer.status})
    answer = scene.put(target, _sample(scene, 0), DACL)
    scene.expect(f"{_SET}unknown-queue", not answer.ok, {"set": False}, {"status": answer.status})


def _spoiled(at: int, form: str, value: int) -> Callable[[bytearray], None]:
    return lambda data: struct.pack_into(form, data, at, value)


def _ill_formed(data: bytes) -> dict[str, bytes]:
    """Return wrong bytes by name. data: a descriptor whose owner begins at byte 20 and whose DACL is the last part."""
    dacl = struct.unpack_from("<I", data, 16)[0]
    wrong = {f"the first {length} bytes": data[:length] for length in (0, 1, 19, 20, 24, dacl, dacl + 4, len(data) - 1)}
    changes: dict[str, Callable[[bytearray], None]] = {
        "revision 2": _spoiled(0, "B", 2),
        "an owner beyond the end": _spoiled(4, "<I", len(data)),
        "an owner in the header": _spoiled(4, "<I", 4),
        "an owner at the last possible byte": _spoiled(4, "<I", 0xFFFFFFFF),
        "a DACL beyond the end": _spoiled(16, "<I", len(data) + 8),
        "a DACL in the header": _spoiled(16, "<I", 8),
        "a SID of 16 sub-authorities": _spoiled(21, "B", 16),
        "a SID of 255 sub-authorities": _spoiled(21, "B", 255),
        "a SID of revision 2": _spoiled(20, "B", 2),
        "a list of revision 0": _spoiled(dacl, "B", 0),
        "a list longer than the bytes": _spoiled(dacl + 2, "<H", 0xFFFC),
        "a list of 4 bytes": _spoiled(dacl + 2, "<H", 4),
        "more entries than the list has": _spoiled(dacl + 4, "<H", 3),
        "65,535 entries": _spoiled(dacl + 4, "<H", 0xFFFF),
        "an entry of 0 bytes": _spoiled(dacl + 10, "<H", 0),
        "an entry longer than its list": _spoiled(dacl + 10, "<H", 0x4000),
        "an entry too short for its SID": _spoiled(dacl + 10, "<H", 12),
    }
    for name, spoil in changes.items():
        copy = bytearray(data)
        spoil(copy)
        wrong[name] = bytes(copy)
    return wrong


def ill_formed(scene: Scene) -> None:
    """Bytes that are no descriptor are set: refused, and nothing changes."""
    target, whole = queue_target(scene.queue()), _sample(scene, 0)
    for bit in PART_IDS:
        _written(scene, target, whole, bit)
    code = "MQMQ-2.4.mq-error-illegal-security-descriptor"
    data = encoded(Descriptor(_SOMEBODY, None, (allow(EVERYBODY, 1), allow(_SOMEBODY, 2))))
    for words, wrong in _ill_formed(data).items():
        answer = scene.put_bytes(f"{parts_of(OWNER | DACL)} with {words}", target, wrong, OWNER | DACL)
        scene.expect(f"{_SET}ill-formed", not answer.ok, {"set": False}, {"status": answer.status})
        right = answer.status in (None, MQ_ERROR_ILLEGAL_SECURITY_DESCRIPTOR)
        outcome = Outcome.PASS if right else Outcome.WARN  # the text demands a failure; the code is advice
        expected, actual = {"status": MQ_ERROR_ILLEGAL_SECURITY_DESCRIPTOR}, {"status": answer.status}
        scene.judge.record(Verdict(code, outcome, "refused", expected, actual))
        found = scene.descriptor_in_parts(target)
        scene.expect(f"{_SET}refused-unchanged", found == whole, plain_json(whole), plain_json(found))


def longest(scene: Scene) -> None:
    """Descriptors with the longest SIDs and almost the longest list are set and read."""
    target = queue_target(scene.queue())
    sid = "-".join(("S-1-5", *(str(0xFFFFFFFF - at) for at in range(15))))
    many = tuple(Entry(DENY, 1, f"S-1-5-21-9-9-9-{number}") for number in range(1800))
    for descriptor, information in (
        (Descriptor(sid, sid, (allow(sid, 1),)), OWNER | GROUP | DACL),
        (Descriptor(dacl=many), DACL),
    ):
        _written(scene, target, descriptor, information)
        found = scene.descriptor_in_parts(target).only(information)
        scene.expect(f"{_SET}updates", found == descriptor, "the same descriptor", {"same": found == descriptor})


def after_a_restart(scene: Scene, *, kill: bool) -> None:
    """Descriptors of a queue and of the manager are the same after the manager was started again."""
    if not scene.mq.keeps_state:
        raise Untold("a restart of this connection does not find the state again")
    targets = {"queue": queue_target(scene.queue()), "machine": dict(MACHINE)}
    whole = {what: _sample(scene, place) for place, what in enumerate(targets)}
    with scene.machine_kept():
        for what, target in targets.items():
            for bit in PART_IDS:
                _written(scene, target, whole[what], bit)
        scene.mq.restart(kill=kill)
        scene.judge.step("the manager is killed and started again" if kill else "the manager is restarted")
        for what, target in targets.items():
            found = scene.descriptor_in_parts(target)
            same = found == whole[what]
            scene.expect(_DESCRIPTORS[what], same, plain_json(whole[what]), plain_json(found))


def default_masks(scene: Scene) -> None:
    """A new queue's masks are made of rights of queues."""
    found = scene.descriptor(queue_target(scene.queue()), DACL)
    masks = [entry.mask for entry in found.dacl or ()]
    right = bool(masks) and not any(mask & ~rights.QUEUE_ALL for mask in masks)
    scene.expect(_MASKS["queue"], right, f"bits of {rights.QUEUE_ALL:#x}", [f"{mask:#x}" for mask in masks])


_TARGETS: Final = ("queue", "machine")
LISTS: Final = ("empty", "absent", "audited", "of-another-user")
STORIES: Final[Mapping[str, Story]] = MappingProxyType(
    {
        **{f"queue-{word}": partial(right_of_a_queue, word=word, without=False) for word in rights.QUEUE_RIGHTS},
        **{f"queue-but-{word}": partial(right_of_a_queue, word=word, without=True) for word in rights.QUEUE_RIGHTS},
        **{
            f"manager-{word}": partial(right_of_the_manager, word=word, without=False) for word in rights.MACHINE_RIGHTS
        },
        **{
            f"manager-but-{word}": partial(right_of_the_manager, word=word, without=True)
            for word in rights.MACHINE_RIGHTS
        },
        **{f"pairs-{first}": partial(pairs_of_entries, first=first) for first in _KINDS},
        **{f"list-{kind}": partial(lists_of_a_kind, kind=kind) for kind in LISTS},
        "two-queues": two_queues,
        "owner": partial(owner_without_entry, denied=False),
        "owner-denied": partial(owner_without_entry, denied=True),
        "right-taken-away": right_taken_away,
        "system-list": system_list,
        **{f"read-{what}": partial(parts_read, what=what) for what in _TARGETS},
        **{f"set-{what}": partial(parts_set, what=what) for what in _TARGETS},
        "room": room,
        "unknown-queue": unknown_queue,
        "ill-formed": ill_formed,
        "longest": longest,
        "stopped": partial(after_a_restart, kill=False),
        "killed": partial(after_a_restart, kill=True),
        "masks": default_masks,
        **crossings.STORIES,
        **new_queues.STORIES,
        **of_objects.STORIES,
        **arrivals.STORIES,
        **sends.STORIES,
    }
)
NEEDS: Final = ("security.get", "security.set", "queues.create")
TABLE: Final = StoryTable("security", KIND, on(Scene, STORIES), NEEDS)
play = TABLE.play


def marked(name: str, *demands: str) -> Any:
    """Return the story as a parameter of a test, with the requirements that it claims."""
    return pytest.param(name, marks=pytest.mark.requirement(*demands), id=name)
