"""Stories of properties: which attribute of a directory object each number shows, as which type and value.

MS-MQMQ 2.3.1 to 2.3.10. `ROWS` has what the descriptions say; number and type are those of the constants.
"""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.adapter.directory_store import attributes_of, defaults_of
from conformance.adapter.ldap_names import CONFIGURATION, ROOT
from conformance.spec.catalogue import catalogue
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.spec.constants.properties import PROPERTIES
from conformance.suites.directory.scene import DESCRIPTOR, DIGESTS, NOWHERE, OTHER_ID, SID, Scene, plain
from conformance.wire.security_items import sid_bytes

if TYPE_CHECKING:
    from conformance.verdict import Json

_TYPES: Final = ENUMERATIONS["VARENUM"].members
_YES_NO: Final = ((True, 1, "value-yes"), (False, 0, "value-no"))
_SERVICES: Final = ((0, 0, "none"), (1, 1, "srv"), (2, 2, "bsc"), (4, 4, "psc"), (8, 8, "pec"))


@dataclass(frozen=True, slots=True)
class Row:
    """A property. samples: attributes of an object, the value that they give it (None: any), the entry of that value.

    kind: class of the objects. written: the property can be set. spared: an object need not have it.
    """

    kind: str
    samples: tuple[tuple[Mapping[str, Json], Json, str], ...]
    written: bool = False
    spared: bool = False


def _of(kind: str, attribute: str, *values: tuple[Json, Json, str], written: bool = True) -> Row:
    return Row(kind, tuple(({attribute: given}, shown, word) for given, shown, word in values), written)


def _plain(name: str, kind: str, attribute: str) -> Row:
    """Return the row of a property that shows an attribute as it is. `=` before the attribute: nobody writes it."""
    bare = attribute.removeprefix("=")
    values, word = _FORMS.get(bare, (_SAMPLES[PROPERTIES[name].variant_type], ""))
    if bare == "partition_id":
        values = values[::-1]  # not the identifier of the object
    named = word if f"MQMQ-{PROPERTIES[name].section}.{word}" in catalogue().requirements else ""
    return _of(kind, bare, *((value, value, named) for value in values), written=bare == attribute)


_SAMPLES: Final[Mapping[str, tuple[Json, ...]]] = MappingProxyType(
    {
        "VT_LPWSTR": ("n" * 300, "\u00dcn\u00efcode"),
        "VT_CLSID": (NOWHERE, OTHER_ID),
        "VT_CLSID | VT_VECTOR": ([NOWHERE, OTHER_ID], []),
        "VT_BLOB": ("AQIDBA==", "/////w=="),
        "VT_UI4": (7, 0xFFFFFFFF, 0),
        "VT_UI2": (7, 0xFFFF, 0),
        "VT_I4": (7, 0x7FFFFFFF, 0),
        "VT_I2": (7, 0x7FFF, -0x8000),
    }
)
"""Values of each type, the edges of numbers among them."""
_FORMS: Final[Mapping[str, tuple[tuple[Json, ...], str]]] = MappingProxyType(
    {
        "security": ((DESCRIPTOR,), ""),
        "full_path": (("CN=msmq,CN=HOST,OU=here,DC=example", "CN=a\\, b,DC=example"), "distinguished-name"),
        "directory_path": (("LDAP://CN=q,CN=msmq,CN=HOST", "LDAP://CN=a%20b,CN=msmq"), "ldap-url"),
        "qualified_path_name": (("host.example\\orders", "a.b.example\\n"), "path-name"),
        "path_name": (("OTHER\\orders", "OTHER\\a b"), ""),
        "multicast_address": (("234.1.1.1:8001", "239.255.255.255:1"), "address"),
        "dns_host_name": (("host.example", "a.b.example"), "fqdn"),
        "account_control": ((0x1000, 0x1002, 0x82000), "uf-flags"),
    }
)
"""Values of attributes that have a form, and the word of its entry."""


def _flag(kind: str, attribute: str, *, rows: bool = True) -> Row:
    return _of(kind, attribute, *((given, shown, word if rows else "") for given, shown, word in _YES_NO))


def _first_site(kind: str) -> Row:
    return Row(kind, (({"site_identifier_list": [NOWHERE, OTHER_ID]}, NOWHERE, ""),))


def _digests(kind: str) -> Row:
    """Return the row of digests, each of which is shown as a GUID of its bytes."""
    given: Json = [base64.b64encode(each).decode() for each in DIGESTS]
    return Row(
        kind, (({"certificate_digest_list": given}, [str(uuid.UUID(bytes_le=each)) for each in DIGESTS], "md5"),)
    )


def _sid(kind: str) -> Row:
    return Row(kind, (({"security_identifier": SID}, base64.b64encode(sid_bytes(SID)).decode(), ""),))


def _dn(kind: str, attribute: str, given: Json, names: Json) -> Row:
    """Return the row of distinguished names of the objects that an attribute identifies; see `LINKED`."""
    return Row(kind, (({attribute: given}, names, "distinguished-name"),), spared=True)


def _service(attribute: str) -> Row:
    return _of("settings", attribute, *((given, shown, f"service-{word}") for given, shown, word in _SERVICES))


_CONTROLLERS: Final = (("BackupSiteController", 2), ("PrimarySiteController", 4), ("PrimaryEnterpriseController", 8))
_SYSTEMS: Final = (("Other", 0), ("Foreign", 0x100), ("Win95", 0x200), ("WinClient", 0x300), ("WinServer", 0x400))
_QM_SERVICE: Final = Row(
    "queue_manager",
    (
        ({"routing_server": False}, 0, "service-none"),
        ({"routing_server": True}, 1, "service-srv"),
        *(
            ({"directory_server": True, "directory_server_type": kind}, value, f"service-{word}")
            for (kind, value), word in zip(_CONTROLLERS, ("bsc", "psc", "pec"), strict=True)
        ),
        ({"remote_access_server": True}, 0x10, "service-ras"),
    ),
)
_NEAR, _FAR = "3d8c1c56-1c0f-4f0e-9d3b-2f6a4f3f9a10", "4e9d2d67-2d1a-4a1f-8e4c-3a7b5a4a8b21"
LINKED: Final[Mapping[str, tuple[Mapping[str, Json], ...]]] = MappingProxyType(
    {
        "queue_manager": (
            {"identifier": _NEAR, "computer_name": "LINKED", "full_path": f"CN=msmq,CN=LINKED,CN=Computers,{ROOT}"},
            {"identifier": _FAR, "computer_name": "TIED", "full_path": f"CN=msmq,CN=TIED,CN=Computers,{ROOT}"},
        ),
        "site": (
            {"identifier": _NEAR, "name": "linked", "full_path": f"CN=linked,CN=Sites,{CONFIGURATION}"},
            {"identifier": _FAR, "name": "tied", "full_path": f"CN=tied,CN=Sites,{CONFIGURATION}"},
        ),
    }
)
"""By class: objects of which others have the identifiers."""
_MANAGERS: Final = [each["full_path"] for each in LINKED["queue_manager"]]
_SITES: Final = [each["full_path"] for each in LINKED["site"]]
_WORDS: Final = ("none", "foreign", "95", "ntw", "nts", "nte")
_OF_EACH: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = MappingProxyType(
    {
        "QM": (
            "queue_manager",
            {
                "MACHINE_ID": "=identifier", "PATHNAME": "computer_name", "PATHNAME_DNS": "qualified_computer_name",
                "CNS": "connected_network_identifier_list", "OUTFRS": "out_routing_server_identifier_list",
                "INFRS": "in_routing_server_identifier_list", "QUOTA": "queue_manager_quota",
                "JOURNAL_QUOTA": "journal_quota", "CREATE_TIME": "=create_time", "MODIFY_TIME": "=modify_time",
                "FULL_PATH": "=full_path", "SITE_IDS": "site_identifier_list", "SECURITY": "security",
                "OBJ_SECURITY": "security", "ENCRYPT_PKS": "public_encryption_key_list",
                "SIGN_PKS": "public_signing_key_list", "HASHKEY": "=hash_key",
            },
        ),
        "Q": (
            "queue",
            {
                "FULL_PATH": "=full_path", "NAME_SUFFIX": "=name_suffix", "SECURITY": "security",
                "OBJ_SECURITY": "security", "HASHKEY": "=hash_key", "LABEL_HASHKEY": "=label_hash_key",
                "INSTANCE": "=identifier", "TYPE": "type", "PATHNAME": "=path_name", "QUOTA": "quota",
                "BASEPRIORITY": "base_priority", "JOURNAL_QUOTA": "journal_quota", "CREATE_TIME": "=create_time",
                "MODIFY_TIME": "=modify_time", "PATHNAME_DNS": "=qualified_path_name", "ADS_PATH": "=directory_path",
                "MULTICAST_ADDRESS": "multicast_address",
            },
        ),
        "S": (
            "site",
            {
                "PATHNAME": "name", "SITEID": "=identifier", "GATES": "site_gates", "PSC": "primary_site_controller",
                "INTERVAL1": "intra_site_replication_interval", "INTERVAL2": "inter_site_replication_interval",
                "FULL_NAME": "=full_path", "SECURITY": "security",
            },
        ),
        "CN": ("connected_network", {"NAME": "name", "GUID": "=identifier", "SECURITY": "security"}),
        "E": (
            "enterprise",
            {
                "NAME": "name", "CSP_NAME": "csp_name", "PECNAME": "pec_name", "ID": "=identifier",
                "LONG_LIVE": "default_time_to_live", "SECURITY": "security",
            },
        ),
        "U": ("user", {"SIGN_CERT": "certificates", "ID": "=identifier"}),
        "L": (
            "routing_link",
            {
                "NEIGHBOR1": "site1_identifier", "NEIGHBOR2": "site2_identifier", "ID": "=identifier",
                "DESCRIPTION": "description", "FULL_PATH": "=full_path", "GATES": "site_gate_identifier_list",
            },
        ),
        "SET": (
            "settings",
            {"QM_ID": "queue_manager_identifier", "FULL_PATH": "=full_path", "SITENAME": "site_name"},
        ),
        "MQU": ("mq_user", {"SIGN_CERT": "certificate", "ID": "=identifier", "SECURITY": "security"}),
        "COM": (
            "computer",
            {
                "FULL_PATH": "=full_path", "SAM_ACCOUNT": "sam_account", "ACCOUNT_CONTROL": "account_control",
                "DNS_HOSTNAME": "dns_host_name", "SIGN_CERT": "certificate", "ID": "=identifier",
            },
        ),
    }
)  # fmt: skip
"""By the letters of its properties: a class, and which attribute a property shows. `=`: nobody writes it."""
_COSTS: Final = ((1, 1, "range"), (999_999, 999_999, "range"))
_OWN_ROWS: Final[Mapping[str, Row]] = MappingProxyType(
    {
        "PROPID_Q_LABEL": _of(
            "queue", "label", ("l" * 100, "l" * 100, ""), ("\u00dcn\u00efcode", "\u00dcn\u00efcode", "")
        ),
        "PROPID_Q_JOURNAL": _of("queue", "journaling", (True, 1, "mq-journal"), (False, 0, "mq-journal-none")),
        "PROPID_Q_AUTHENTICATE": _of(
            "queue", "authentication", (True, 1, "mq-authenticate"), (False, 0, "mq-authenticate-none")
        ),
        "PROPID_Q_PRIV_LEVEL": _of(
            "queue",
            "privacy_level",
            *(
                (each, number, f"mq-priv-level-{each.lower()}")
                for number, each in enumerate(("None", "Optional", "Body"))
            ),
        ),
        "PROPID_Q_TRANSACTION": _of(
            "queue",
            "transactional",
            *((True, 1, "mq-transactional"), (False, 0, "mq-transactional-none")),
            written=False,
        ),
        "PROPID_Q_QMID": Row("queue", (({"path_name": "LINKED\\orders"}, _NEAR, ""),), spared=True),
        "PROPID_QM_OUTFRS_DN": _dn("queue_manager", "out_routing_server_identifier_list", [_NEAR, _FAR], _MANAGERS),
        "PROPID_QM_INFRS_DN": _dn("queue_manager", "in_routing_server_identifier_list", [_NEAR, _FAR], _MANAGERS),
        "PROPID_QM_MACHINE_TYPE": Row("queue_manager", (({"queue_manager_version": "4.0"}, None, ""),), spared=True),
        "PROPID_QM_SIGN_PK": Row(
            "queue_manager", (({"public_signing_key_list": "AQIDBA=="}, "AQIDBA==", ""),), spared=True
        ),
        "PROPID_QM_ENCRYPT_PK": Row(
            "queue_manager", (({"public_encryption_key_list": "AQIDBA=="}, "AQIDBA==", ""),), spared=True
        ),
        "PROPID_S_PSC_SIGNPK": Row("site", (({"public_signing_key_list": "AQIDBA=="}, "AQIDBA==", ""),), spared=True),
        "PROPID_L_COST": Row("routing_link", (({"actual_cost": 7}, None, ""),)),
        "PROPID_L_GATES_DN": _dn("routing_link", "site_gate_identifier_list", [_NEAR, _FAR], _MANAGERS),
        "PROPID_L_NEIGHBOR1_DN": _dn("routing_link", "site1_identifier", _NEAR, _SITES[0]),
        "PROPID_L_NEIGHBOR2_DN": _dn("routing_link", "site2_identifier", _FAR, _SITES[1]),
        "PROPID_QM_SITE_ID": _first_site("queue_manager"),
        "PROPID_QM_SERVICE": _QM_SERVICE,
        "PROPID_QM_FOREIGN": _of(
            "queue_manager", "foreign_system", (True, 1, "foreign-machine"), (False, 0, "msmq-machine")
        ),
        "PROPID_QM_OS": _of(
            "queue_manager",
            "operating_system_type",
            *(
                (kind, value, f"msmq-os-{word}")
                for (kind, value), word in zip((*_SYSTEMS, ("WinEnt", 0x500)), _WORDS, strict=True)
            ),
        ),
        "PROPID_QM_SERVICE_ROUTING": _flag("queue_manager", "routing_server"),
        "PROPID_QM_SERVICE_DSSERVER": _flag("queue_manager", "directory_server", rows=False),
        "PROPID_QM_SERVICE_DEPCLIENTS": _flag("queue_manager", "supporting_server", rows=False),
        "PROPID_QM_GROUP_IN_CLUSTER": _of(
            "queue_manager", "clustered", (True, 1, "msmq-group-in-cluster"), (False, 0, "msmq-group-not-in-cluster")
        ),
        "PROPID_S_NT4_STUB": _flag("site", "migrated_from_msmq10"),
        "PROPID_S_FOREIGN": _flag("site", "foreign_site"),
        "PROPID_CN_PROTOCOLID": _of(
            "connected_network",
            "protocol",
            *(("ip", 1, "ip-address-type"), ("ipx", 3, "ipx-address-type"), ("foreign", 5, "foreign-address-type")),
        ),
        "PROPID_E_NAMESTYLE": _of(
            "enterprise", "weakened_security", (False, 0, "weakened-security-off"), (True, 1, "weakened-security-on")
        ),
        "PROPID_E_VERSION": _of("enterprise", "version", (515, 515, ""), (0, 0, "")),
        "PROPID_U_SID": _sid("user"),
        "PROPID_U_DIGEST": _digests("user"),
        "PROPID_L_ACTUAL_COST": _of("routing_link", "actual_cost", *_COSTS),
        "PROPID_SET_NAME": Row("settings", (({}, "MSMQ Settings", "constant"),)),
        "PROPID_SET_SERVICE": _service("service"),
        "PROPID_SET_OLDSERVICE": _service("old_service"),
        "PROPID_SET_NT4": _flag("settings", "msmq10"),
        "PROPID_SET_SERVICE_ROUTING": _flag("settings", "routing_server"),
        "PROPID_SET_SERVICE_DSSERVER": _flag("settings", "directory_server"),
        "PROPID_SET_SERVICE_DEPCLIENTS": _flag("settings", "supporting_server"),
        "PROPID_MQU_SID": _sid("mq_user"),
        "PROPID_MQU_DIGEST": _digests("mq_user"),
        "PROPID_COM_SID": _sid("computer"),
        "PROPID_COM_DIGEST": _digests("computer"),
    }
)
_GROUPED: Final = {"PARTITIONID": "partition_id", "SEQNUM": "sequence_number"}


@cache
def rows() -> Mapping[str, Row]:
    """Return the rows by the names of the properties. Those without a row show nothing that the text describes."""
    found: dict[str, Row] = dict(_OWN_ROWS)
    for letters, (kind, attributes) in _OF_EACH.items():
        known = attributes_of(kind)
        for name in PROPERTIES:
            ending = name.removeprefix(f"PROPID_{letters}_")
            if ending == name or name in found:
                continue
            attribute = attributes.get(ending) or _GROUPED.get(ending, "")
            if attribute.removeprefix("=") in known:
                found[name] = _plain(name, kind, attribute)
    return MappingProxyType(found)


def claims(name: str) -> Iterator[str]:
    """Yield the ids of the requirements on a property that its row can show."""
    place = f"MQMQ-{PROPERTIES[name].section}."
    yield place + name.lower().replace("_", "-")
    words = [word for _, _, word in rows()[name].samples if word]
    yield from (place + word for word in dict.fromkeys(words))
    if len(set(words)) > 1 and name != "PROPID_QM_SERVICE":  # of which the text says no MUST
        yield f"{place}values"


def vt_of(name: str) -> int:
    """Return the variant type of a property."""
    return sum(_TYPES[part.strip()] for part in PROPERTIES[name].variant_type.split("|"))


def shown(scene: Scene, name: str, only: int | None = None) -> None:
    """The property of an object with each of the samples, or with one, has the number, the type and the value of it."""
    row, declared = rows()[name], PROPERTIES[name]
    whole = next(claims(name))
    scene.used()
    linked(scene)
    for number, (attributes, value, word) in enumerate(row.samples):
        if number != (number if only is None else only):
            continue
        identifier = scene.enter(row.kind, **{**needed(row.kind, number), **attributes})
        identifier = str(attributes.get("identifier", identifier))
        params: dict[str, Any] = {"class": row.kind, "identifier": identifier, "properties": [declared.value]}
        answer = scene.call(f"read {name}", "directory.get", **params)
        found = (answer.values.get("values") or [None])[0] if answer.ok else None
        if (
            (name.endswith("_PARTITIONID") or row.spared)
            and isinstance(found, dict)
            and found["vt"] == _TYPES["VT_NULL"]
        ):
            return  # a property that an implementation MAY use
        wanted = {"vt": vt_of(name), **({} if value is None else {"value": value})}
        right = isinstance(found, dict) and all(alike(scene, found.get(each), wanted[each]) for each in wanted)
        scene.shows(_blame(name, word, found), right, wanted, found or {"status": answer.status})
    scene.asked()
    if row.written and not only:
        _set(scene, name, row, whole)


def _blame(name: str, word: str, found: Json) -> list[str]:
    """Return what a sample of a property shows. First comes what the value that was found breaks, if it is wrong.

    A value of another row breaks the row, and one of no row the list of values.
    """
    place, whole, samples = f"MQMQ-{PROPERTIES[name].section}.", next(claims(name)), rows()[name].samples
    values = [each for each in claims(name) if each == f"{place}values"]
    if not isinstance(found, dict) or found.get("vt") != vt_of(name) or not word:
        return [whole, *([place + word] if word else []), *values]
    known = any(equal(found.get("value"), value) for _, value, _ in samples)
    return [*([] if known else values), place + word, *(values if known else []), whole]


def story_names() -> Iterator[tuple[str, str, int | None]]:
    """Yield the stories: their names, the property, and the sample if each of its samples has a story."""
    for name, row in rows().items():
        short, words = name.removeprefix("PROPID_"), {word for _, _, word in row.samples}
        yield short, name, 0 if len(words) > 1 else None
        yield from ((f"{short}-{at}", name, at) for at in range(1, len(row.samples)) if len(words) > 1)


def linked(scene: Scene) -> None:
    """Enter the objects of LINKED, and those to which samples refer where there has to be one."""
    for kind, objects in LINKED.items():
        for each in objects:
            scene.enter(kind, **each)
    for row in rows().values():
        for attributes, *_ in row.samples:
            scene.refer(row.kind, attributes)


def told_rows(scene: Scene, known: Mapping[str, Row], *, written: bool = False) -> dict[str, Row]:
    """Return the rows whose attributes the directory tells, or lets be written."""
    return {
        name: row
        for name, row in known.items()
        if all(scene.tells(row.kind, *each, written=written) for each, *_ in row.samples)
    }


def _values(row: Row) -> Mapping[str, Json]:
    return row.samples[0][0]


def together(scene: Scene, kind: str) -> None:
    """All properties of an object that has everything, and of one that lacks one attribute, come in one call."""
    scene.used()
    linked(scene)
    known = {name: row for name, row in rows().items() if row.kind == kind and name != "PROPID_QM_SERVICE"}
    known = told_rows(scene, known)
    whole: dict[str, Json] = {}
    for row in known.values():
        whole |= {attribute: value for attribute, value in _values(row).items() if attribute not in whole}
    spare = [name for name, value in defaults_of(kind).items() if value in ("", [], 0) and name in whole]
    _asked(scene, kind, known, {**needed(kind, 0), **whole}, "")
    for number, attribute in enumerate(spare, 1):
        own = {"identifier": str(uuid.uuid5(uuid.NAMESPACE_OID, attribute))} if "identifier" in whole else {}
        empty = {attribute: defaults_of(kind)[attribute]}
        unlike = {name: whole[name] for name in whole if name not in needed(kind, number)}
        _asked(scene, kind, known, {**unlike, **needed(kind, number), **own, **empty}, attribute)


def _asked(scene: Scene, kind: str, known: Mapping[str, Row], given: Mapping[str, Json], lacking: str) -> None:
    """Read all properties of an object, the last first, and judge those that its attributes decide."""
    identifier = scene.enter(kind, **given)
    names = list(known)[::-1]
    params: dict[str, Any] = {"class": kind, "identifier": identifier}
    params["properties"] = [PROPERTIES[name].value for name in names]
    answer = scene.call(f"read all properties of a {kind}", "directory.get", **params)
    values = answer.values.get("values") or []
    for name, found in zip(names, values, strict=False):
        wanted = [shows for has, shows, _ in known[name].samples if has and has.items() <= given.items()]
        if lacking in _values(known[name]):
            wanted = [given[lacking]]
        if None in (shows for _, shows, _ in known[name].samples):
            continue
        if isinstance(found, dict) and found.get("vt") == _TYPES["VT_NULL"]:
            continue  # a property without a value
        if len(wanted) == 1 and isinstance(found, dict):
            demand = next(claims(name))
            scene.shows(
                demand, alike(scene, found.get("value"), wanted[0]), {name: wanted[0]}, {name: found.get("value")}
            )


def equal(one: Json, other: Json) -> bool:
    """Return true if two values are the same; the case of GUIDs does not count."""
    if isinstance(one, str) and isinstance(other, str):
        return one == other or (len(one) == 36 and one.lower() == other.lower())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)


def alike(scene: Scene, one: Json, other: Json) -> bool:
    """Return true if two values are the same. Path names lose their case over LDAP (MS-MQDSSM 3.1.6.11.2.1)."""
    path = scene.over_ldap and isinstance(one, str) and "\\" in one
    return equal(one, other) or (path and str(one).lower() == str(other).lower())


def needed(kind: str, number: int) -> dict[str, Json]:
    """Return attributes without which two objects of a class are the same."""
    names = {"queue_manager": "computer_name", "queue": "path_name", "site": "name", "connected_network": "name"}
    return {names[kind]: f"OTHER{number}" + "\\q" * (kind == "queue")} if kind in names else {}


def _set(scene: Scene, name: str, row: Row, demand: str) -> None:
    """Set the property of an object to each value, and look at the attribute in the directory."""
    if not told_rows(scene, {name: row}, written=True):
        return
    identifier = scene.enter(row.kind, **needed(row.kind, 99))
    for attributes, value, _ in row.samples:
        ((attribute, wanted),) = attributes.items()
        given = {"property": PROPERTIES[name].value, "value": {"vt": vt_of(name), "value": value}}
        params: dict[str, Any] = {"class": row.kind, "identifier": identifier, "properties": [given]}
        if not scene.call(f"set {name}", "directory.set", **params).ok:
            return  # no section says that a property can be set
        held = next(each for each in scene.objects(row.kind) if each["identifier"] == identifier)
        right = equal(held.get(attribute), wanted)
        actual = {attribute: held.get(attribute), "asked": plain(scene.asked())}
        scene.shows(demand, right, {attribute: wanted}, actual)


STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {
        **{story: partial(shown, name=name, only=only) for story, name, only in story_names()},
        **{f"all-{kind}": partial(together, kind=kind) for kind, _ in _OF_EACH.values()},
    }
)
