"""The harness's directory over LDAP: names, requests, modes and damage, asked by a client of others."""

import base64
import socket
import uuid
from collections.abc import Iterator
from random import Random
from typing import Any

import ldap3
import pytest
from ldap3.core.exceptions import LDAPException
from ldap3.utils.conv import escape_filter_chars

from conformance.adapter import ldap_names
from conformance.adapter.directory_server import DirectoryServer
from conformance.adapter.directory_store import attributes_of, classes
from conformance.harness.connecting import ldap_handler
from conformance.harness.directory_ldap import Session, bounded

ROOT = ldap_names.ROOT
HOST = "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10"
SITES = f"CN=Sites,{ldap_names.CONFIGURATION}"
NORTH = f"CN=north,{SITES}"
ORDERS = f"CN=orders,CN=msmq,CN=HOST,CN=Computers,{ROOT}"
OBJECTS = [
    {"class": "site", "name": "north", "foreign_site": True},
    {"class": "queue_manager", "identifier": HOST, "computer_name": "HOST", "clustered": True, "routing_server": True},
    {"class": "queue", "path_name": "HOST\\orders", "label": "Old", "base_priority": -3},
    {"class": "queue", "path_name": "HOST\\bills", "label": "old too", "base_priority": 3},
]


@pytest.fixture
def server() -> Iterator[DirectoryServer]:
    made = DirectoryServer({"ldap": ldap_handler})
    made.desk("open", protocol="ldap", objects=OBJECTS)
    yield made
    made.close()


def client(server: DirectoryServer, wait_s: int = 30) -> ldap3.Connection:
    target = ldap3.Server(server.listen(), get_info=ldap3.NONE, connect_timeout=30)
    return ldap3.Connection(target, auto_bind=True, receive_timeout=wait_s, check_names=False)


def found(asker: ldap3.Connection, wanted: str, base: str = ROOT, scope: str = "SUBTREE", *names: str) -> list[str]:
    asker.search(base, wanted, search_scope=scope, attributes=list(names) or ["*"])
    return sorted(each["dn"].partition(",")[0] for each in asker.response or [] if each["type"] == "searchResEntry")


def requests(server: DirectoryServer) -> list[dict[str, Any]]:
    return list(server.desk("asked")["requests"])


def test_the_root_tells_where_things_are(server: DirectoryServer) -> None:
    with client(server) as asker:
        asker.search("", "(objectClass=*)", search_scope="BASE", attributes=["*"])
        told = asker.response[0]["attributes"]
    contexts = ("defaultNamingContext", "rootDomainNamingContext", "configurationNamingContext")
    assert [told[each] for each in contexts] == [[ROOT], [ROOT], [ldap_names.CONFIGURATION]]
    assert told["supportedLDAPVersion"] == ["3"]
    assert requests(server) == []


def test_a_simple_bind_takes_any_password(server: DirectoryServer) -> None:
    target = ldap3.Server(server.listen(), get_info=ldap3.NONE)
    with ldap3.Connection(target, user=f"CN=somebody,{ROOT}", password="secret", auto_bind=True) as asker:
        assert asker.bound


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ("(mSMQLabelEx=OLD)", ["CN=orders"]),
        ("(mSMQLabelEx=o*d*)", ["CN=bills", "CN=orders"]),
        ("(mSMQLabelEx=*too)", ["CN=bills"]),
        ("(mSMQBasePriority>=-3)", ["CN=bills", "CN=orders"]),
        ("(mSMQBasePriority<=-3)", ["CN=orders"]),
        ("(!(mSMQBasePriority<=-3))", ["CN=bills"]),
        ("(&(mSMQJournal=FALSE)(|(mSMQLabelEx=old)(mSMQLabelEx=nobody)))", ["CN=orders"]),
        ("(mSMQQueueNameExt=*)", []),
        ("(!(mSMQQueueNameExt=x))", ["CN=bills", "CN=orders"]),
        ("(!(nobodyKnowsThis=x))", []),
        ("(!(mSMQBasePriority=many))", []),
        (f"(distinguishedName={ORDERS.upper()})", ["CN=orders"]),
    ],
)
def test_a_filter_selects(server: DirectoryServer, wanted: str, names: list[str]) -> None:
    with client(server) as asker:
        assert found(asker, f"(&(objectClass=mSMQQueue){wanted})") == names


def test_an_object_is_found_by_its_identifier_and_by_its_name(server: DirectoryServer) -> None:
    guid = escape_filter_chars(uuid.UUID(HOST).bytes_le)
    with client(server) as asker:
        assert found(asker, f"(objectGUID={guid})", "") == ["CN=msmq"]
        assert found(asker, f"(objectGUID={HOST.replace('-', '')})", "") == ["CN=msmq"]
        assert found(asker, "(objectClass=*)", ORDERS, "BASE") == ["CN=orders"]
        assert found(asker, "(objectClass=*)", ldap_names.above(ORDERS), "LEVEL") == ["CN=bills", "CN=orders"]
        assert found(asker, "(objectClass=*)", f"CN=nobody,{ROOT}", "BASE") == []
        assert asker.result["result"] == 32
        assert found(asker, "(objectClass=*)", "nothing", "BASE") == []
        assert asker.result["result"] == 34


def test_a_search_is_noted_as_the_read_that_it_stands_for(server: DirectoryServer) -> None:
    with client(server) as asker:
        found(asker, "(&(objectClass=mSMQQueue)(!(mSMQLabelEx=x))(!(mSMQBasePriority<=-3)))", ROOT, "SUBTREE", "cn")
        found(asker, "(objectClass=mSMQConfiguration)")
        found(asker, f"(&(objectClass=site)(distinguishedName={NORTH}))", SITES, "SUBTREE", "mSMQInterval1")
    queues, manager, site = requests(server)
    assert queues["params"]["filter"] == [
        {"attribute": "label", "operator": "NOT-EQUALS", "value": "x"},
        {"attribute": "base_priority", "operator": "GREATER-THAN", "value": -3},
    ]
    assert queues["answer"]["result"] == "Success" and manager["params"] == {"class": "queue_manager"}
    assert site["params"] == {
        "class": "site",
        "filter": [{"attribute": "full_path", "operator": "EQUALS", "value": NORTH}],
        "attributes": ["intra_site_replication_interval"],
    }


def test_a_computer_has_what_is_its_queue_managers(server: DirectoryServer) -> None:
    place = f"CN=HOST,CN=Computers,{ROOT}"
    with client(server) as asker:
        assert found(asker, "(objectClass=computer)", place, "BASE") == ["CN=HOST"]
        told = asker.response[0]["raw_attributes"]
        assert told["dNSHostName"] == [b"host.example.com"]
        assert b"MSClusterVirtualServer/HOST" in told["servicePrincipalName"]
        assert asker.modify(place, {"mSMQSignCertificates": [(ldap3.MODIFY_REPLACE, [b"\1\2"])]})
    (held,) = server.desk("objects", kind="queue_manager")["objects"]
    assert base64.b64decode(held["public_signing_key_list"]) == b"\1\2"
    assert [each["method"] for each in requests(server)] == ["read", "write"]


def test_an_object_is_added_modified_and_deleted(server: DirectoryServer) -> None:
    path = f"CN=south\\, far,{SITES}"
    with client(server) as asker:
        assert asker.add(path, "site", {"mSMQInterval1": 7, "mSMQSiteForeign": "TRUE"})
        assert not asker.add(path, "site") and asker.result["result"] == 68
        assert asker.modify(
            path, {"mSMQInterval1": [(ldap3.MODIFY_REPLACE, [8])], "mSMQNt4Stub": [(ldap3.MODIFY_REPLACE, [1])]}
        )
        held = server.desk("objects", kind="site")["objects"][1]
        assert asker.delete(path)
        assert not asker.delete(path) and asker.result["result"] == 32
    wanted = {"name": "south, far", "intra_site_replication_interval": 8, "foreign_site": True}
    assert wanted.items() <= held.items() and held["migrated_from_msmq10"] is True
    assert [each["method"] for each in requests(server)] == ["create", "create", "write", "delete", "delete"]


@pytest.mark.parametrize(
    ("path", "what", "name", "values", "code"),
    [
        (NORTH, ldap3.MODIFY_REPLACE, "mSMQInterval1", ["many"], 19),
        (NORTH, ldap3.MODIFY_REPLACE, "mSMQInterval1", [1, 2], 19),
        (NORTH, ldap3.MODIFY_REPLACE, "mSMQLabelEx", ["x"], 17),
        (NORTH, ldap3.MODIFY_REPLACE, "cn", ["x"], 67),
        (ORDERS, ldap3.MODIFY_REPLACE, "whenCreated", ["20261130154500.0Z"], 19),
        (NORTH, ldap3.MODIFY_DELETE, "mSMQInterval1", [99], 16),
    ],
)
def test_a_change_that_cannot_be_is_refused(
    server: DirectoryServer, path: str, what: str, name: str, values: list[Any], code: int
) -> None:
    with client(server) as asker:
        assert not asker.modify(path, {name: [(what, values)]})
        assert asker.result["result"] == code
    assert requests(server) == []


def test_a_reference_is_to_an_object_that_is_there(server: DirectoryServer) -> None:
    place = f"CN=line,CN=MsmqServices,CN=Services,{ldap_names.CONFIGURATION}"
    with client(server) as asker:
        assert not asker.add(place, "mSMQSiteLink", {"mSMQCost": 5, "mSMQSite1": NORTH, "mSMQSite2": f"CN=x,{SITES}"})
        assert asker.result["result"] == 19
        assert asker.add(place, "mSMQSiteLink", {"mSMQCost": 5, "mSMQSite1": NORTH, "mSMQSite2": NORTH})
        assert found(asker, f"(&(objectClass=mSMQSiteLink)(mSMQSite1={NORTH}))") == ["CN=line"]
    (link,) = server.desk("objects", kind="routing_link")["objects"]
    assert link["site1_identifier"] == server.desk("objects", kind="site")["objects"][0]["identifier"]


def test_a_name_is_not_modified_by_a_request_of_its_own_either(server: DirectoryServer) -> None:
    with client(server) as asker:
        assert not asker.modify_dn(NORTH, "CN=south")
        assert asker.result["result"] == 53


def test_pages_and_limits_of_a_search(server: DirectoryServer) -> None:
    for number in range(10):
        server.desk("put", kind="site", object={"name": f"s{number}"})
    with client(server) as asker:
        paged = asker.extend.standard.paged_search(ROOT, "(objectClass=site)", attributes=["cn"], paged_size=3)
        assert len({each["dn"] for each in paged}) == 11
        asker.search(ROOT, "(objectClass=site)", size_limit=4, attributes=["cn"])
        assert len(asker.response) == 4 and asker.result["result"] == 4


def test_a_list_has_queues_aliases_and_lists(server: DirectoryServer) -> None:
    queue = server.desk("objects", kind="queue")["objects"][0]["identifier"]
    inner = server.desk("put", kind="distribution_list", object={"members": []})["identifier"]
    members = [f"PUBLIC={queue}", "DIRECT=OS:A\\private$\\q", f"DL={inner}"]
    made = server.desk("put", kind="distribution_list", object={"members": members})["identifier"]
    with client(server) as asker:
        asker.search("", f"(objectGUID={escape_filter_chars(uuid.UUID(made).bytes_le)})", attributes=["member"])
        kinds = {}
        for each in asker.response[0]["attributes"]["member"]:
            asker.search(each, "(objectClass=*)", search_scope="BASE", attributes=["*"])
            told = asker.response[0]["attributes"]
            kinds[told["objectClass"][-1]] = told.get("msMQ-Recipient-FormatName")
    assert kinds == {"mSMQQueue": None, "msMQ-Custom-Recipient": ["DIRECT=OS:A\\private$\\q"], "group": None}
    told = requests(server)
    assert [each["params"]["format_name"] for each in told if each["method"] == "resolve"] == [
        f"DL={made}",
        f"DL={inner}",
    ]
    assert told[0]["answer"] == {"result": "Success", "members": members}


def test_a_long_name_of_a_queue_is_cut(server: DirectoryServer) -> None:
    name = "HOST\\" + "long" * 25
    server.desk("put", kind="queue", object={"path_name": name})
    with client(server) as asker:
        (short,) = found(asker, "(mSMQQueueNameExt=*)")
        ending = asker.response[0]["attributes"]["mSMQQueueNameExt"][0]
        assert len(short) == len("CN=") + 64
        assert asker.add(f"{short}x,CN=msmq,CN=OTHER,CN=Computers,{ROOT}".replace("x,", ",", 1), "mSMQQueue",
                         {"mSMQQueueNameExt": ending})  # fmt: skip
    assert [each["path_name"] for each in server.desk("objects", kind="queue")["objects"]][2:] == [
        name,
        name.replace("HOST", "OTHER"),
    ]


@pytest.mark.parametrize(
    ("result", "code"), [(each, code) for each, code in ldap_names.CODES.items() if each != "Success"]
)
def test_a_lie_is_told_by_its_code(server: DirectoryServer, result: str, code: int) -> None:
    for method in ("read", "write", "delete"):
        server.desk("lie", method=method, kind="site", answer={"result": result})
    with client(server) as asker:
        assert found(asker, "(objectClass=site)") == [] and asker.result["result"] == code
        asker.modify(NORTH, {"mSMQInterval1": [(ldap3.MODIFY_REPLACE, [8])]})
        assert asker.result["result"] == code
        asker.delete(NORTH)
        assert asker.result["result"] == code
        assert found(asker, "(objectClass=site)") == ["CN=north"]


def test_what_ldap_cannot_tell_is_refused(server: DirectoryServer) -> None:
    for answer in ({}, 7, None, {"result": "EndOfData"}, {"result": "Success"}, {"result": "Success", "object": []}):
        assert "refused" in server.desk("lie", method="read", kind="site", answer=answer)
    assert "refused" not in server.desk("lie", method="delete", kind="site", answer={"result": "Success"})
    for kind, given in (
        ("queue", {"path_name": "A\\q", "hash_key": 7}),
        ("connected_network", {"name": "net"}),
        ("queue", {"path_name": "HOST\\ORDERS"}),
        ("queue", {"path_name": "A\\q", "full_path": "CN=q,DC=elsewhere"}),
        ("queue", {"path_name": "A\\q", "full_path": f"CN=r,CN=msmq,CN=A,CN=Computers,{ROOT}"}),
        ("routing_link", {"site1_identifier": HOST}),
        ("enterprise", {"csp_name": "mine", "non_ldap_capable_queue_manager_notification": True}),
    ):
        assert "refused" in server.desk("put", kind=kind, object=given), (kind, given)
    assert "identifier" in server.desk("put", kind="queue", object={"path_name": "A\\q"})


def test_a_directory_that_is_away_is_so_over_ldap(server: DirectoryServer) -> None:
    for mode in ("silent", "mute"):
        server.desk("turn", mode="answers")
        asker = client(server, 1)
        server.desk("turn", mode=mode)
        with pytest.raises(LDAPException):
            asker.delete(NORTH)
        assert len(list(server.desk("objects", kind="site")["objects"])) == (1 if mode == "silent" else 0)
    server.desk("turn", mode="drops")
    with pytest.raises(LDAPException):
        client(server)
    address = server.desk("turn", mode="answers")["address"]
    assert server.desk("turn", mode="closed") == {}
    with pytest.raises(LDAPException):
        ldap3.Connection(ldap3.Server(address, connect_timeout=5), auto_bind=True)
    assert server.desk("turn", mode="answers") == {"address": address}
    assert [each["answer"]["result"] for each in requests(server)] == ["DirectoryNotConnected", "Success"]


def test_a_manager_goes_over_to_the_other_protocol(server: DirectoryServer) -> None:
    assert server.desk("open", protocol="ldap")["address"].startswith("ldap://")
    assert not server.desk("open")["address"].startswith("ldap://")
    with pytest.raises(ValueError, match="does not speak gopher"):
        server.desk("open", protocol="gopher")


def test_every_name_is_one_of_the_schema() -> None:
    for kind in ldap_names.table():
        assert set(ldap_names.names_of(kind)) <= set(attributes_of(kind.partition(" ")[0]))
    assert set(classes()) - set(ldap_names.table()) == {"connected_network"}
    for word in ("pec_name", "old_service", "partition_id", "sequence_number", "hash_key"):
        assert not any(word in ldap_names.names_of(kind) for kind in ldap_names.table())


def _tlv(tag: int, *parts: bytes) -> bytes:
    body = b"".join(parts)
    size = len(body).to_bytes(4, "big")
    return bytes([tag, 0x84]) + size + body


def _search(wanted: bytes) -> bytes:
    head = _tlv(4, ROOT.encode()), b"\x0a\x01\x02", b"\x0a\x01\x00", b"\x02\x01\x00", b"\x02\x01\x00", b"\x01\x01\x00"
    return _tlv(0x30, b"\x02\x01\x07", _tlv(0x63, *head, wanted, b"\x30\x00"))


SOUND = _search(_tlv(0xA0, _tlv(0xA3, _tlv(4, b"objectClass"), _tlv(4, b"site")), _tlv(0x87, b"cn")))


def talk(server: DirectoryServer, data: bytes) -> bytes:
    """Return all that comes until the directory has nothing more to say."""
    host, _, port = server.listen().removeprefix("ldap://").partition(":")
    with socket.create_connection((host, int(port)), 60) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        got = bytearray()
        while part := connection.recv(1 << 16):
            got += part
    return bytes(got)


def test_what_is_no_ldap_ends_the_connection(server: DirectoryServer) -> None:
    assert b"north" in talk(server, SOUND)
    nested = _tlv(0x87, b"cn")
    for _ in range(2_000):
        nested = _tlv(0xA2, nested)
    for damaged in (
        b"nothing",
        b"\x30\x80\x00\x00",
        b"\x30\x84\xff\xff\xff\xff",
        _search(nested),
        SOUND[:-9],
        b"\x30\x00",
    ):
        assert b"north" not in talk(server, damaged)
    assert b"north" in talk(server, SOUND)


def test_elements_are_bounded() -> None:
    assert bounded(SOUND)
    many = _tlv(0x30, *[b"\x05\x00"] * 200_000)
    assert not bounded(many)
    assert not bounded(b"\x30\x03\x02\x05\x01")
    assert not bounded(b"\x3f\x81\x01\x00")


def _request(tag: int, *parts: bytes) -> bytes:
    return _tlv(0x30, b"\x02\x01\x07", _tlv(tag, *parts))


def _values(name: bytes, *values: bytes) -> bytes:
    return _tlv(0x30, _tlv(4, name), _tlv(0x31, *(_tlv(4, each) for each in values)))


REQUESTS = (
    SOUND,
    _request(0x60, b"\x02\x01\x03", _tlv(4, b""), _tlv(0x80, b"")),
    _request(0x68, _tlv(4, f"CN=s,{SITES}".encode()), _tlv(0x30, _values(b"objectClass", b"site"))),
    _request(0x66, _tlv(4, NORTH.encode()), _tlv(0x30, _tlv(0x30, b"\x0a\x01\x02", _values(b"mSMQInterval1", b"7")))),
    _request(0x4A, NORTH.encode()),
    _search(
        _tlv(
            0xA0,
            _tlv(0xA3, _tlv(4, b"objectSid"), _tlv(4, b"\1")),
            _tlv(0xA3, _tlv(4, b"objectClass"), _tlv(4, b"user")),
        )
    ),
)


@pytest.mark.parametrize("number", range(len(REQUESTS)))
def test_a_damaged_message_is_answered_or_refused(server: DirectoryServer, number: int) -> None:
    """No exception leaves it, and the directory answers whoever comes next."""
    chance = Random(number)
    for _ in range(300):
        damaged = bytearray(REQUESTS[number])
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        session = Session(server)
        answers = b"".join(session.answers(bytes(damaged)))
        assert answers or session.over or damaged[9] in (0x42, 0x50)
    server.desk("open", protocol="ldap", objects=OBJECTS)
    assert b"north" in talk(server, SOUND)
