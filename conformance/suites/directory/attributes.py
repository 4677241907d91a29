"""Stories of attributes: each one of a class is published in the directory and read from it as it is.

MS-MQDMPR 3.1.1, 3.1.1.1, 3.1.1.6 to 3.1.1.9, 3.1.1.15.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.suites.directory.scene import (
    CERTIFICATES,
    DESCRIPTOR,
    DIGESTS,
    KEYS,
    NOWHERE,
    OTHER_ID,
    SID,
    Scene,
    asks,
    by_identifier,
    part_of,
    plain,
    same,
)

if TYPE_CHECKING:
    from conformance.verdict import Json

_DIGESTS: Final = [base64.b64encode(each).decode() for each in DIGESTS]
Values = Mapping[str, tuple["Json", str]]
"""The value of an attribute, and the words of the requirements on it, separated by spaces."""
PUBLISHED: Final[Mapping[str, tuple[str, Values]]] = MappingProxyType(
    {
        "enterprise": (
            "3.1.1.6",
            {
                "name": ("firm", "name"),
                "weakened_security": (True, "weakened-security"),
                "non_ldap_capable_queue_manager_notification": (False, "non-ldap-notification"),
                "default_time_to_live": (4_294_967_295, "default-time-to-live"),
                "old_directory": (True, "old-directory"),
                "security": (DESCRIPTOR, "security"),
            },
        ),
        "site": (
            "3.1.1.7",
            {
                "name": ("Nörd", ""),
                "primary_site_controller": ("PSC", "primary-site-controller"),
                "intra_site_replication_interval": (2, "intra-site-replication-interval"),
                "inter_site_replication_interval": (10, "inter-site-replication-interval"),
                "foreign_site": (True, "foreign-site"),
                "public_signing_key_list": ("CAAAAAAAAAA=", "public-signing-key-list"),
                "migrated_from_msmq10": (True, "migrated-from-msmq10"),
                "security": (DESCRIPTOR, "security"),
            },
        ),
        "routing_link": (
            "3.1.1.8",
            {
                "description": ("line", "description"),
                "actual_cost": (999_999, "actual-cost actual-cost-range"),
                "site1_identifier": (NOWHERE, "site1-identifier"),
                "site2_identifier": (OTHER_ID, "site2-identifier"),
                "site_gate_identifier_list": ([OTHER_ID, NOWHERE], "site-gate-identifier-list"),
            },
        ),
        "connected_network": ("3.1.1.9", {"name": ("net", "name"), "security": (DESCRIPTOR, "security")}),
        "user": (
            "3.1.1.15",
            {
                "security_identifier": (SID, "security-identifier"),
                "certificate_digest_list": (_DIGESTS, "certificate-digest-list digest-length"),
                "certificates": (CERTIFICATES, "certificates"),
            },
        ),
    }
)
"""By class: the section, and the attributes of an object that somebody creates through the manager."""
_PATHS: Final = ("site", "routing_link")
_NETWORKS: Final = "connected_network_identifier_list"
OWN: Final[Values] = MappingProxyType(
    {
        "create_time": (1_600_000_000, "create-time"),
        "modify_time": (1_600_000_100, "modify-time"),
        "queue_manager_quota": (123_456, ""),
        "journal_quota": (77, ""),
        **dict.fromkeys(("clustered", "foreign_system", "remote_access_server", "routing_server"), (True, "")),
        "full_path": ("CN=msmq,CN=HOST,OU=here", "full-path"),
        "site_identifier_list": ([], "site-identifier-list"),
        _NETWORKS: ([NOWHERE, OTHER_ID], "connected-network-list"),
        "out_routing_server_identifier_list": ([OTHER_ID], "out-routing-server-list"),
        "in_routing_server_identifier_list": ([NOWHERE, OTHER_ID], "in-routing-server-list"),
        "directory_server": (True, "directory-server"),
        "directory_server_type": ("BackupSiteController", "directory-server-type directory-server-type-values"),
        "public_encryption_key_list": ("CAAAAAAAAAA=", "encryption-key-list"),
        "public_signing_key_list": (KEYS, "signing-key-list"),
    }
)
"""The same of the manager's own object."""


def claims(name: str) -> tuple[str, ...]:
    """Return the ids of the requirements that a story can show."""
    kind = name.removeprefix("attributes-")
    section, values = PUBLISHED.get(kind, ("3.1.1.1", OWN))
    words = " ".join(each for _, each in values.values()).split() + ["full-path"] * (kind in _PATHS)
    return (*(f"MQDMPR-{section}.{word}" for word in dict.fromkeys(words)), "MQDMPR-3.1.1.directory-published")


def published(scene: Scene, kind: str) -> None:
    """An object that is created and read through the manager has each attribute as it was given."""
    section, values = PUBLISHED[kind]
    scene.used()
    given = scene.told(kind, {name: value for name, (value, _) in values.items()})
    scene.refer(kind, given)
    params: dict[str, Any] = {"class": kind, "object": given}
    made = scene.call(f"create a {kind} in the directory", "directory.create", **params)
    requests = scene.asked()
    created = asks(requests, "create", kind)
    carried = {} if created is None else created["params"]["object"]
    identifier = str(made.values.get("identifier", ""))
    params = {"class": kind, "filter": by_identifier(identifier)}
    read = scene.call(f"read the {kind}", "directory.read", **params)
    shown = read.values.get("object")
    for name, (value, words) in values.items():
        if name not in given:
            continue
        right = {name: value}
        demands = [*(f"MQDMPR-{section}.{word}" for word in words.split()), "MQDMPR-3.1.1.directory-published"]
        scene.shows(demands, same(carried, right), right, part_of(carried, right) or plain(requests))
        scene.shows(demands, same(shown, right), right, part_of(shown, right))
    if kind in _PATHS and identifier:
        held = {
            "full_path": next(each["full_path"] for each in scene.objects(kind) if each["identifier"] == identifier)
        }
        scene.shows(f"MQDMPR-{section}.full-path", same(shown, held), held, part_of(shown, held))


def own(scene: Scene) -> None:
    """The manager holds each attribute of its own object as the directory has it."""
    given = scene.told("queue_manager", {name: value for name, (value, _) in OWN.items()})
    scene.own_object(**given)
    scene.used()
    held = scene.own()["queue_manager"]
    for name, (value, words) in OWN.items():
        if name not in given or (name == _NETWORKS and scene.judge.profile not in ("msmq-1.0", "msmq-2.0")):
            continue  # note 4: later versions have none
        right = {name: value}
        demands = [*(f"MQDMPR-3.1.1.1.{word}" for word in words.split()), "MQDMPR-3.1.1.directory-published"]
        scene.shows(demands, same(held, right), right, part_of(held, right))


STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {**{f"attributes-{kind}": partial(published, kind=kind) for kind in PUBLISHED}, "attributes-own": own}
)
