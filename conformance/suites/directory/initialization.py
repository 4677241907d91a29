"""Stories of a manager that initializes itself from the directory, and of its timers.

MS-MQDMPR 3.1.3, 3.1.2.1, 3.1.2.2, 3.1.6.1, 3.1.6.2.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.suites.directory.scene import Asked, Scene, asks, by_identifier, part_of, plain, same
from conformance.suites.story_table import Untold
from conformance.wire.security_items import key_of_blob
from conformance.wire.structures.reading import decode

if TYPE_CHECKING:
    from conformance.verdict import Json

_BEGINS: Final = "MQDMPR-3.1.3."
_NOTIFIES: Final = "non_ldap_capable_queue_manager_notification"
_SITE: Final = "5d3f0a52-1b6e-4d6f-8a57-6f5b2f3f9a10"
PROVIDERS: Final[Mapping[str, tuple[str, int]]] = MappingProxyType(
    {
        "Microsoft Base Cryptographic Provider v1.0": ("base", 512),
        "Microsoft Enhanced Cryptographic Provider v1.0": ("enhanced", 1024),
        "Microsoft Enhanced RSA and AES Cryptographic Provider": ("aes", 1024),
    }
)
"""The providers of 3.1.3: the word of their entries, and the bits of their keys."""
_TERMINATED: Final = "MQDSPUBLICKEY.sProviderName.Terminated"
_PROVIDER_TYPES: Final = frozenset({1, 24})  # PROV_RSA_FULL, PROV_RSA_AES: MS-MQMQ 2.2.1
_KEY_LISTS: Final = (("encryption", "public_encryption_key_list"), ("signing", "public_signing_key_list"))
DEFAULTS: Final[Mapping[str, tuple[str, Json]]] = MappingProxyType(
    {
        "queue-manager-quota-default": ("queue_manager_quota", 0x100000),
        "connected-network-list-default": ("connected_network_identifier_list", []),
    }
)
"""Attributes of a manager that nobody has configured, by the words of their requirements."""
_HOURS_MS: Final = 3_600_000


def _own_read(scene: Scene, requests: list[Asked]) -> None:
    """Judge that the manager has read its own object, with all attributes."""
    found = asks(requests, "read", "queue_manager", filter=by_identifier(scene.guid))
    whole = found is not None and "attributes" not in found["params"]
    demands = (f"{_BEGINS}read-queue-manager", f"{_BEGINS}synchronize", f"{_BEGINS}if-directory-integrated")
    scene.shows(demands, whole, {"read": "queue_manager", "identifier": scene.guid}, plain(requests))


def begun(scene: Scene, sites: int, lost: int, enterprise: str) -> None:
    """The manager finds its object, some of its sites, and an enterprise with or without the attribute."""
    names = [f"site {number}" for number in range(sites)]
    known = [
        scene.enter("site", name=name, intra_site_replication_interval=number) for number, name in enumerate(names)
    ]
    gone = [f"{number}f6de3c1-4f3e-4f5e-8f0a-7d0b8a1f2c3d" for number in range(lost)]
    attributes: dict[str, Json] = {"journal_quota": 777, "clustered": True, "site_identifier_list": [*gone, *known]}
    scene.own_object(**attributes)
    if enterprise:
        named = scene.told("enterprise", {"name": "firm"})
        scene.enter("enterprise", **named, **({_NOTIFIES: False} if enterprise == "with" else {}))
        if enterprise == "without" and scene.over_ldap:  # where what is not there has a default
            scene.lie("read", "enterprise", {"result": "AttributeNotFound"})
    scene.asked()
    answer = scene.use()
    requests = scene.asked()
    _own_read(scene, requests)
    if not answer.ok:
        if enterprise:  # without one, no section says that the manager goes on
            scene.shows(f"{_BEGINS}queue-manager-found", False, {"initialized": True}, {"status": answer.status})
        return
    held = scene.own()
    shown = part_of(held["queue_manager"], attributes)
    demands = (f"{_BEGINS}queue-manager-found", f"{_BEGINS}update-queue-manager")
    scene.shows(demands, same(shown, attributes), attributes, shown)
    scene.shows("MQDMPR-3.1.1.1.directory-integrated", held["integrated"] is True, True, held["integrated"])
    scene.shows("MQDMPR-3.1.1.1.site-identifier-list", same(shown, attributes), attributes, shown)
    for each in (*gone, *known):
        read = asks(requests, "read", "site", filter=by_identifier(each))
        whole = read is not None and "attributes" not in read["params"]
        scene.shows((f"{_BEGINS}for-each-site", f"{_BEGINS}read-site"), whole, {"read": "site"}, plain(requests))
    listed = sorted(str(each.get("name")) for each in held["sites"])
    scene.shows((f"{_BEGINS}site-found", f"{_BEGINS}add-site"), listed == names, names, listed)
    _enterprise(scene, enterprise, requests, held["enterprise"])


def _enterprise(scene: Scene, enterprise: str, requests: list[Asked], held: Json) -> None:
    found = asks(requests, "read", "enterprise", attributes=[_NOTIFIES])
    bare = found is not None and not found["params"].get("filter")
    scene.shows(f"{_BEGINS}read-enterprise", bare, {"read": "enterprise", "attributes": [_NOTIFIES]}, plain(requests))
    if enterprise == "with":
        demands = [f"{_BEGINS}enterprise-found", f"{_BEGINS}enterprise", "MQDMPR-3.1.1.6.non-ldap-notification"]
    elif enterprise == "without":
        demands = [
            f"{_BEGINS}{word}" for word in ("enterprise-attribute-not-found", "new-enterprise", "enterprise-made")
        ]
    else:
        return
    wanted = {_NOTIFIES: enterprise == "without"}
    scene.shows(demands, same(held, wanted), wanted, part_of(held, wanted))


def provisioned(scene: Scene, *, known: bool) -> None:
    """The manager begins its life: it has keys and the site that was configured, and goes on without its object."""
    scene.enter("enterprise", **{_NOTIFIES: False})
    scene.enter("site", identifier=_SITE, name="mine")
    if known:
        scene.own_object(site_identifier_list=[_SITE])
    answer = scene.use(provisioning=True, site=_SITE)
    requests = scene.asked()
    _own_read(scene, requests)
    read = asks(requests, "read", "enterprise")
    words = ("continue", "queue-manager-not-found") if not known else ("queue-manager-found",)
    demands = [f"{_BEGINS}{word}" for word in words]
    scene.shows(demands, answer.ok and read is not None, {"read": "enterprise"}, plain(requests))
    if not answer.ok:
        return
    held = scene.own()
    mine = {"site_identifier_list": [_SITE]}
    scene.shows(
        f"{_BEGINS}site-identifier", same(held["queue_manager"], mine), mine, part_of(held["queue_manager"], mine)
    )
    if known:
        listed = [each.get("name") for each in held["sites"]]
        scene.shows(f"{_BEGINS}add-site", listed == ["mine"], ["mine"], listed)
        return
    for word, (attribute, value) in DEFAULTS.items():
        if attribute in held["queue_manager"]:
            right = {attribute: value}
            shown = part_of(held["queue_manager"], right)
            scene.shows(f"MQDMPR-3.1.1.1.{word}", same(held["queue_manager"], right), right, shown)
    for word, attribute in _KEY_LISTS:
        _keys(scene, word, held["queue_manager"].get(attribute))


def _keys(scene: Scene, word: str, given: Json) -> None:
    """Judge the keys that a manager has made."""
    demand = f"{_BEGINS}{word}-key"
    made: dict[str, Any] = {}
    ended: list[Json] = []
    wrong = "no MQDSPUBLICKEYS"
    with suppress(ValueError):
        data = base64.b64decode(str(given or ""))
        read = next(
            (one for aligned in (False, True) if (one := decode("MQDSPUBLICKEYS", data, aligned=aligned)).whole), None
        )
        if read is not None:
            made, wrong = {each["s_provider_name"]: each for each in read.value["a_public_keys"]}, ""
            ended = [each.fields.get(_TERMINATED) is True for each in read.parts if each.structure == "MQDSPUBLICKEY"]
    scene.shows(
        (f"{demand}s", f"{demand}-fields", f"MQDMPR-3.1.1.1.{word}-key-list"),
        not wrong and bool(made),
        "MQDSPUBLICKEYS",
        wrong or sorted(made),
    )
    listed: Json = sorted(made)
    each_one = sorted(made) == sorted(PROVIDERS)
    scene.shows(f"{demand}-for-each-provider", each_one, sorted(PROVIDERS), listed)
    types = [each["ul_provider_type"] for each in made.values()]
    scene.shows(f"{demand}-fields", set(types) <= _PROVIDER_TYPES, sorted(_PROVIDER_TYPES), list(types))
    others = [name for name in made if name not in PROVIDERS]
    scene.shows(f"{demand}-provider-name", not others, sorted(PROVIDERS), listed)
    scene.shows(f"{demand}-provider-name", all(ended), "names that end with a null character", list(ended))
    for name, (provider, bits) in PROVIDERS.items():
        if name in made or others:  # the text advises only that there is one for each
            scene.shows(f"{demand}-{provider}", name in made, name, listed)
        if name not in made:
            continue
        key = key_of_blob(base64.b64decode(made[name]["a_buf"]))
        size = None if key is None else key[0].bit_length()
        scene.shows(f"{demand}-size", size == bits, {name: bits}, {name: size})
        valid = key is not None and key[0] % 2 == 1 and key[1] % 2 == 1 and 3 <= key[1] < key[0]
        scene.shows(f"{demand}-valid", valid, "an RSA public key", "it is" if valid else "it is not")


def again(scene: Scene, *, kill: bool) -> None:
    """A start initializes the manager again from the directory, whose attributes are those of before."""
    if not scene.mq.keeps_state:
        raise Untold("a restart of this connection does not find the state again")
    site = scene.enter("site", name="mine")
    scene.enter("enterprise", **{_NOTIFIES: False})
    scene.own_object(site_identifier_list=[site], journal_quota=55)
    scene.used()
    before = scene.own()
    scene.own_object(site_identifier_list=[site], journal_quota=56, clustered=True)
    scene.mq.restart(kill=kill)
    scene.judge.step("the manager is killed" if kill else "the manager is stopped", {"restart": kill}, {})
    held = scene.own()
    requests = scene.asked()
    _own_read(scene, requests)
    read = asks(requests, "read", "site", filter=by_identifier(site))
    scene.shows(f"{_BEGINS}read-site", read is not None, {"read": "site"}, plain(requests))
    wanted = {name: before["queue_manager"].get(name) for name in ("identifier", "site_identifier_list")}
    shown = part_of(held["queue_manager"], wanted)
    demands = ("MQDMPR-3.1.1.directory-survives", "MQDMPR-3.1.1.identifier-constant")
    scene.shows(demands, same(shown, wanted), wanted, shown)
    changed: dict[str, Json] = {"journal_quota": 56, "clustered": True}
    shown = part_of(held["queue_manager"], changed)
    scene.shows(f"{_BEGINS}update-queue-manager", same(shown, changed), changed, shown)


def gates_again(scene: Scene, counts: tuple[int, ...] = (3, 1), *, lost: bool = False) -> None:
    """An hour after the start the gates of all sites are read again, by a manager that knows any.

    counts: how many gates each site has. lost: the directory does not have the last any more, which stays as it was.
    """
    names = [f"{site}-{number}" for site, count in enumerate(counts) for number in range(count)]
    gates = [scene.enter("queue_manager", computer_name=f"GATE-{name}", journal_quota=1) for name in names]
    before = [sum(counts[:site]) for site in range(len(counts))]
    sites = [
        scene.enter("site", name=f"site {site}", site_gates=gates[at : at + counts[site]])
        for site, at in enumerate(before)
    ]
    scene.enter("enterprise", **{_NOTIFIES: False})
    scene.own_object(site_identifier_list=sites)
    scene.used()
    if lost:
        scene.passes(_HOURS_MS)  # of which the manager has each
    scene.passes(_HOURS_MS - 60_000)
    early = scene.asked() if not lost else []
    soon = asks(early, "read", "queue_manager") is not None
    scene.asked()
    for name, gate in zip(names, gates, strict=True):
        scene.enter("queue_manager", identifier=gate, computer_name=f"GATE-{name}", journal_quota=2)
    if lost:
        scene.mq.directory("drop", kind="queue_manager", identifier=gates[-1])
    scene.passes(60_000)
    requests = scene.asked()
    timely = asks(requests, "read", "queue_manager") is not None
    if not soon and not timely:
        raise Untold("the manager knows no gates: no step fills SiteGateCollection")
    scene.shows("MQDMPR-3.1.2.2.one-hour", timely and not soon, {"read": "queue_manager"}, plain(early or requests))
    if soon:
        return  # the owner may have configured another time, whatever that is
    for gate in gates:
        read = asks(requests, "read", "queue_manager", filter=by_identifier(gate))
        demands = [f"MQDMPR-3.1.6.2.{word}" for word in ("for-each-site", "for-each-gate", "read-gate")]
        scene.shows(demands, read is not None, {"read": "queue_manager", "identifier": gate}, plain(requests))
    held = {str(each.get("identifier")).lower(): each.get("journal_quota") for each in scene.own()["gates"]}
    its: Json = sorted(held)
    scene.shows("MQDMPR-3.1.1.7.site-gate-collection", its == sorted(gates), sorted(gates), its)
    right = {gate: 1 if lost and gate == gates[-1] else 2 for gate in gates}
    demands = ["MQDMPR-3.1.6.2.gate-found", "MQDMPR-3.1.6.2.update-gate"]
    scene.shows(demands, held == right, dict(right), dict(held))


def sites_again(scene: Scene, count: int = 2, lost: int = 1) -> None:
    """Twelve hours after the start the sites are read again.

    count: of the sites. lost: which of them the directory does not have any more; it stays as it was.
    """
    names = [f"site {number}" for number in range(count)]
    sites = [scene.enter("site", name=name) for name in names]
    scene.enter("enterprise", **{_NOTIFIES: False})
    scene.own_object(site_identifier_list=sites)
    scene.used()
    scene.passes(12 * _HOURS_MS - 60_000)
    early = scene.asked()
    scene.shows("MQDMPR-3.1.2.1.twelve-hours", asks(early, "read", "site") is None, [], plain(early))
    for number, site in enumerate(sites):
        if number == lost:
            scene.mq.directory("drop", kind="site", identifier=site)
        else:
            scene.enter("site", identifier=site, name=f"renamed {number}")
    scene.passes(60_000)
    requests = scene.asked()
    timely = asks(requests, "read", "site") is not None
    scene.shows("MQDMPR-3.1.2.1.twelve-hours", timely, {"read": "site"}, plain(requests))
    if not timely:
        return  # as for the gates
    for each in sites:
        read = asks(requests, "read", "site", filter=by_identifier(each))
        whole = read is not None and "attributes" not in read["params"]
        demands = ["MQDMPR-3.1.6.1.for-each-site", "MQDMPR-3.1.6.1.read-site"]
        scene.shows(demands, whole, {"read": "site", "identifier": each}, plain(requests))
    listed = sorted(str(each.get("name")) for each in scene.own()["sites"])
    right = sorted(name if number == lost else f"renamed {number}" for number, name in enumerate(names))
    demands = ["MQDMPR-3.1.6.1.site-found", "MQDMPR-3.1.6.1.update-site"]
    scene.shows(demands, listed == right, list(right), list(listed))


def alone(scene: Scene, *, lost: bool) -> None:
    """A manager without directory is not offline, and asks nobody. lost: it was offline before."""
    scene.used()
    if lost:
        scene.lie("read", "site", {"result": "DirectoryNotConnected"})
        scene.call("read a site", "directory.read", **{"class": "site"})
    if not scene.call("leave the directory", "directory.use", address=None).ok:
        raise Untold("the manager cannot leave the directory")
    scene.asked()
    held = scene.own()
    scene.shows("MQDMPR-3.1.1.1.directory-integrated", held["integrated"] is False, False, held["integrated"])
    scene.shows("MQDMPR-3.1.1.1.directory-offline-without-directory", held["offline"] is False, False, held["offline"])
    scene.shows(f"{_BEGINS}if-directory-integrated", not (requests := scene.asked()), [], plain(requests))


STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {
        **{
            f"begin-{sites}-{lost}-{enterprise or 'no'}": partial(begun, sites=sites, lost=lost, enterprise=enterprise)
            for sites, lost, enterprise in (
                *(
                    (0, 0, "with"),
                    (1, 0, "without"),
                    (2, 0, "with"),
                    (0, 1, "without"),
                    (1, 1, "with"),
                    (3, 2, "without"),
                ),
                (1, 0, ""),
            )
        },
        "provision-unknown": partial(provisioned, known=False),
        "provision-known": partial(provisioned, known=True),
        "start-again-stopped": partial(again, kill=False),
        "start-again-killed": partial(again, kill=True),
        "gates-again": gates_again,
        **{
            f"gates-again-{'-'.join(map(str, counts))}-{'lost' if lost else 'all'}": partial(
                gates_again, counts=counts, lost=lost
            )
            for counts in ((1,), (0, 2), (2, 1, 3))
            for lost in (False, True)
        },
        "sites-again": sites_again,
        **{
            f"sites-again-{count}-{lost}": partial(sites_again, count=count, lost=lost)
            for count, lost in ((1, 1), (1, 0), (2, 0), (3, 1), (3, 3))
        },
        "alone": partial(alone, lost=False),
        "alone-lost": partial(alone, lost=True),
    }
)
