"""Stories about the descriptor of a new queue, with and without one supplied: MS-MQDMPR 3.1.7.1.3.1."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.model import rights
from conformance.model.descriptors import AUDIT, DACL, OWNER, SACL, Descriptor, Entry, encoded
from conformance.model.rights import ANONYMOUS, EVERYBODY, User
from conformance.spec.followed_readings import either
from conformance.suites.security.scene import Scene, allow, parts_of, plain_json, queue_target
from conformance.suites.story_table import Untold

if TYPE_CHECKING:
    from conformance.verdict import Json

DOMAIN_USER, GUEST, STRANGER = "domain-user", "guest", "stranger"
_DEFAULT: Final = "MQDMPR-3.1.7.1.3.1."
KINDS: Final[Mapping[str, Callable[[User], bool]]] = MappingProxyType(
    {
        DOMAIN_USER: lambda user: user.domain_user and not user.guest and not user.privileges,
        "privileged": lambda user: user.domain_user and not user.guest and "security" in user.privileges,
        GUEST: lambda user: user.guest,
        STRANGER: lambda user: not user.domain_user,
    }
)


def readings_of(scene: Scene) -> Iterator[dict[str, str]]:
    """Return each way to read how the descriptor of a new queue is made, the default first."""
    accepted = [scene.judge.readings[reading] for reading in rights.READINGS]
    for chosen in product(*accepted):
        yield dict(zip(rights.READINGS, chosen, strict=True))


def open_to_http(found: Descriptor) -> bool:
    """Tell whether a default DACL lets messages in over HTTP: somebody may write who could not otherwise."""
    return any(
        entry.sid == ANONYMOUS or (entry.sid == EVERYBODY and entry.mask == rights.READ | rights.WRITE_MESSAGE)
        for entry in found.dacl or ()
    )


def judge_http(scene: Scene, demand: str, found: Descriptor) -> None:
    """Judge what a manager should do that messages can come to over HTTP."""
    if scene.srmp:
        done = open_to_http(found)
        scene.expect(demand, done, {"open to HTTP": True}, {"open to HTTP": done})


def expected_of(
    scene: Scene, creator: User, supplied: Descriptor | None, reading: Mapping[str, str], srmp: bool
) -> Descriptor:
    """Return the descriptor that a queue gets, without its group. srmp: it lets messages in over HTTP."""
    return rights.new_queue(
        creator,
        supplied,
        domain_users=frozenset(user.sid for user in scene.users if user.domain_user),
        guests=frozenset(user.sid for user in scene.users if user.guest),
        machine=scene.machine,
        srmp=srmp,
        readings=reading,
    )


def followed(
    scene: Scene, creator: User, supplied: Descriptor | None, found: Descriptor
) -> tuple[Descriptor, tuple[tuple[str, str], ...]]:
    """Return the expected descriptor that fits best, and the readings by which it is the one that was found."""
    ways, srmp = list(readings_of(scene)), scene.srmp and open_to_http(found)
    fits = [way for way in ways if _alike(expected_of(scene, creator, supplied, way, srmp), found)]
    if not fits:
        return expected_of(scene, creator, supplied, ways[0], srmp), ()
    taken = []
    for reading in rights.READINGS:
        words = {way[reading] for way in fits}
        other = {
            one: expected_of(scene, creator, supplied, {**fits[0], reading: one}, srmp)
            for one in _ALTERNATIVES[reading]
        }
        if len(words) < len(other) and not all(_alike(each, found) for each in other.values()):
            taken.append((reading, either(sorted(words))))
    return expected_of(scene, creator, supplied, fits[0], srmp), tuple(taken)


_ALTERNATIVES: Final[Mapping[str, tuple[str, ...]]] = {
    rights.OWNER_STORED: ("stored", "letter"),
    rights.SUPPLIED_OWNER: ("replaced", "kept"),
    rights.ORDER: ("merged", "replaced"),
}


def _alike(expected: Descriptor, found: Descriptor) -> bool:
    parts = expected.owner == found.owner and expected.sacl == found.sacl
    return parts and _rows(expected) == _rows(found)


def _rows(descriptor: Descriptor) -> list[tuple[int, int, str]] | None:
    """Return the entries without their flags and their order, which no step gives."""
    dacl = descriptor.dacl
    return None if dacl is None else sorted((entry.kind, entry.mask, entry.sid) for entry in dacl)


def masks_of(descriptor: Descriptor, sid: str) -> list[Json]:
    """Return type and mask of each entry of a SID."""
    return [[entry.kind, f"{entry.mask:#x}"] for entry in descriptor.dacl or () if entry.sid == sid]


def judged_by_entries(
    scene: Scene, creator: User, ids: Mapping[str, tuple[str, ...]], expected: Descriptor, found: Descriptor
) -> None:
    """Judge the entries of a default DACL. ids: requirements by what the entry is for; `all` for the whole list."""
    owners = {expected.owner or creator.sid: "owner", creator.sid: "owner"}
    for sid, word in {EVERYBODY: "world", **owners, ANONYMOUS: "anonymous", scene.machine or "": "machine"}.items():
        wanted, actual = masks_of(expected, sid), masks_of(found, sid)
        for demand in ids[word] if wanted or actual else ():
            scene.expect(demand, wanted == actual, {sid: wanted}, {sid: actual})
    same = _rows(expected) == _rows(found)
    for demand in ids["all"]:
        scene.expect(demand, same, plain_json(expected), plain_json(found))


def default(scene: Scene, kind: str) -> None:
    """A user of a kind creates a queue without a descriptor."""
    creator = scene.one(kind, KINDS[kind])
    with scene.machine_as(allow(EVERYBODY, rights.MACHINE_ALL)):
        name = scene.queue(creator.sid)
        found = scene.descriptor_in_parts(queue_target(name), (f"{_DEFAULT}self-relative",))
    expected, taken = followed(scene, creator, None, found)
    _judge_owner(scene, creator, None, expected, found, taken)
    world = "world-properties" if creator.domain_user and not creator.guest else "world-all"
    ids = {
        "world": (f"{_DEFAULT}{world}", f"{_DEFAULT}world-entry"),
        "anonymous": (f"{_DEFAULT}anonymous-entry",),
        "machine": (f"{_DEFAULT}machine-properties", f"{_DEFAULT}machine-entry"),
        "owner": (f"{_DEFAULT}owner-all", f"{_DEFAULT}owner-entry"),
        "all": (f"{_DEFAULT}default-dacl", "MQDMPR-3.1.7.1.33.default-security"),
    }
    judge_http(scene, f"{_DEFAULT}srmp-write", found)
    judged_by_entries(scene, creator, ids, expected, found)


def _judge_owner(
    scene: Scene,
    creator: User,
    supplied: Descriptor | None,
    expected: Descriptor,
    found: Descriptor,
    taken: tuple[tuple[str, str], ...],
) -> None:
    given = supplied.owner if supplied is not None else None
    names = ["supplied-owner"] if given is not None and expected.owner == given else []
    names += ["caller-owner"] if given is None and creator.domain_user else []
    names += ["anonymous-owner"] if expected.owner == ANONYMOUS else []
    for word in names or ["caller-owner"]:
        scene.expect(_DEFAULT + word, found.owner == expected.owner, expected.owner, found.owner, taken)


def supplied_parts(scene: Scene, kind: str, information: int) -> None:
    """A user of a kind creates a queue with a descriptor that has some parts."""
    creator = scene.one(kind, KINDS[kind])
    other = scene.one("another domain user", lambda user: user.domain_user and not user.guest and user != creator)
    dacl = (allow(other.sid, rights.READ), Entry(1, rights.DELETE, EVERYBODY), allow(EVERYBODY, rights.PEEK_MESSAGE))
    sacl = (Entry(AUDIT, rights.WRITE_MESSAGE, EVERYBODY, 0x40),)
    _supplied(scene, creator, Descriptor(other.sid, None, dacl, sacl).only(information))


def stranger_supplied(scene: Scene) -> None:
    """A domain user creates a queue for an owner who is no domain user (R-MQDMPR-supplied-owner)."""
    creator, stranger = scene.one("a domain user", KINDS[DOMAIN_USER]), scene.one("no domain user", KINDS[STRANGER])
    _supplied(scene, creator, Descriptor(stranger.sid))


def _supplied(scene: Scene, creator: User, supplied: Descriptor) -> None:
    data = base64.b64encode(encoded(supplied)).decode()
    with scene.machine_as(allow(EVERYBODY, rights.MACHINE_ALL)):
        created = scene.created(creator.sid, PROPID_Q_SECURITY=data)
        status: Json = {"status": created.status}
        scene.expect(f"{_DEFAULT}supplied", created.ok, {"created": True}, status)
        if not created.ok:  # the demand may be switched off
            raise Untold("no queue could be created with a descriptor")
        found = scene.descriptor_in_parts(queue_target(str(created.values["format_name"])))
    expected, taken = followed(scene, creator, supplied, found)
    whole = (plain_json(expected), plain_json(found))
    _judge_owner(scene, creator, supplied, expected, found, taken)
    if supplied.dacl is not None:
        same = expected.dacl == found.dacl
        for demand in ("MQDMPR-3.1.7.1.3.1.supplied-dacl", "MQDMPR-3.1.7.1.3.attribute-security"):
            scene.expect(demand, same, *whole, taken)
    else:
        scene.expect(f"{_DEFAULT}default-dacl", _rows(expected) == _rows(found), *whole, taken)
    if supplied.sacl is not None or found.sacl is not None:
        scene.expect(f"{_DEFAULT}supplied-sacl", expected.sacl == found.sacl, *whole, taken)
    for word in ("supplied-parts", "supplied"):
        scene.expect(_DEFAULT + word, _alike(expected, found), *whole, taken)


_COMBINED: Final = (OWNER, DACL, OWNER | DACL)
STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {
        **{f"default-{kind}": partial(default, kind=kind) for kind in KINDS},
        **{
            f"supplied-{kind}-{parts_of(bits).replace(', ', '-').lower()}": partial(
                supplied_parts, kind=kind, information=bits
            )
            for kind in KINDS
            for bits in (*_COMBINED, *((each | SACL for each in (0, *_COMBINED)) if kind == "privileged" else ()))
        },
        "supplied-stranger": stranger_supplied,
    }
)
