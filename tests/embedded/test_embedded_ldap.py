"""A manager whose directory speaks LDAP: what it sends there, and what it makes of the answers (MS-MQDSSM)."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from embedded_ldap import ADD, BIND, COMPUTER, CONFIGURATION, DELETE, MODIFY, ROOT, SEARCH, LdapServer, Tree
from embedded_talk import Talk

from conformance.adapter.connectors import connect
from conformance.adapter.errors import ConnectorError
from conformance.embedded import directory_client, ldap_names
from conformance.embedded.methods import BadParams

GUID = "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10"
OTHER, THIRD = GUID.replace("7a", "8a"), GUID.replace("7a", "9a")
MANAGER = f"CN=msmq,{COMPUTER}"
SITE = f"CN=north,CN=Sites,{CONFIGURATION}"
SERVICES = f"CN=MsmqServices,CN=Services,{CONFIGURATION}"


@pytest.fixture
def server() -> Iterator[LdapServer]:
    server = LdapServer()
    yield server
    server.close()


@pytest.fixture
def tree(server: LdapServer) -> Tree:
    return server.tree


@pytest.fixture
def ask(talk: Talk, server: LdapServer, tree: Tree) -> Callable[..., dict[str, Any]]:
    """Raises events of the directory in a manager that has one."""
    tree.put(MANAGER, "mSMQConfiguration", talk.driver.manager.guid)
    tree.put(SERVICES, "mSMQEnterpriseSettings")
    talk.ok("directory.use", address=server.address)
    tree.asked.clear()
    return lambda method, kind, **params: talk.ok(f"directory.{method}", **{"class": kind}, **params)


def equals(attribute: str, value: Any, operator: str = "EQUALS") -> list[dict[str, Any]]:
    return [{"attribute": attribute, "operator": operator, "value": value}]


def everything(talk: Talk, kind: str, **params: Any) -> list[dict[str, Any]]:
    query = talk.ok("directory.begin", **{"class": kind}, **params)["query"]
    found = []
    while (answer := talk.ok("directory.next", query=query))["result"] == "Success":
        found.append(answer["object"])
    assert answer["result"] == "EndOfData"
    assert talk.ok("directory.end", query=query)["result"] == "Success"
    assert talk.ok("directory.next", query=query)["result"] == "GenericError"
    return found


@pytest.mark.parametrize(("name", "protocols"), [(None, ["json-rpc", "ldap"]), ("directory=ldap", ["ldap"])])
def test_hello_says_the_protocols(talk_with: Callable[..., Talk], name: str | None, protocols: list[str]) -> None:
    talk = talk_with(*([name] if name else []))
    assert talk.ok("hello", versions=["1.4"], harness="t", state_dir="")["directory_protocols"] == protocols
    assert "directory_protocols" not in talk.ok("hello", versions=["1.3"], harness="t", state_dir="")


@pytest.mark.parametrize("in_process", [False, True])
def test_the_protocol_is_part_of_the_connector(tmp_path: Path, in_process: bool) -> None:
    with connect("embedded+directory=ldap", state_dir=tmp_path, in_process=in_process) as client:
        assert client.hello.name == "embedded"
    with pytest.raises(ConnectorError, match="did you mean directory=ldap"):
        connect("embedded+directory=lpad", state_dir=tmp_path, in_process=in_process)


def test_without_the_extra_a_sentence_says_what_to_install(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory_client.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BadParams, match=r"mqconform\[ldap\]"):
        talk("directory.use", address="ldap://127.0.0.1:1")


def test_a_manager_initializes_itself(talk: Talk, server: LdapServer, tree: Tree) -> None:
    tree.put(SITE, "site", GUID, cn="north", mSMQSiteForeign=b"TRUE", mSMQInterval1="4")
    sites = [uuid.UUID(GUID).bytes_le]
    tree.put(MANAGER, "mSMQConfiguration", talk.driver.manager.guid, mSMQQuota="7", mSMQSites=sites, mSMQOSType="1024")
    tree.put(SERVICES, "mSMQEnterpriseSettings", mSMQCSPName="N", mSMQVersion="3", mSMQNameStyle="TRUE")
    talk.ok("directory.use", address=server.address)
    own = talk.ok("directory.own")
    manager = own["queue_manager"]
    assert (own["offline"], own["enterprise"]) == (False, {"non_ldap_capable_queue_manager_notification": False})
    assert [(site["name"], site["foreign_site"], site["intra_site_replication_interval"]) for site in own["sites"]] == [
        ("north", True, 4)
    ]
    assert (manager["queue_manager_quota"], manager["journal_quota"]) == (7, 0xFFFFFFFF)
    assert (manager["operating_system_type"], manager["qualified_computer_name"]) == ("WinServer", "host.local")
    assert (manager["full_path"], manager["create_time"]) == (MANAGER, 1_700_000_000)


def test_an_enterprise_that_does_not_say_is_one_that_notifies(ask: Any, talk: Talk) -> None:
    name = "non_ldap_capable_queue_manager_notification"
    assert talk.ok("directory.own")["enterprise"] == {name: True}
    assert ask("read", "enterprise", attributes=[name])["result"] == "AttributeNotFound"
    assert name not in ask("read", "enterprise")["object"]


def test_a_public_queue_is_an_object(ask: Any, talk: Talk, tree: Tree) -> None:
    talk.queue("orders all=1", PROPID_Q_LABEL="é*(x)\\", PROPID_Q_QUOTA=5, PROPID_Q_JOURNAL=1)
    [found] = everything(talk, "queue")
    values = tree.values(found["full_path"])
    assert found["full_path"] == f"CN=orders all\\3d1,{MANAGER}"
    assert (values["mSMQLabelEx"], values["mSMQQueueQuota"], values["mSMQJournal"]) == (
        ["é*(x)\\".encode()],
        [b"5"],
        [b"TRUE"],
    )
    assert values["mSMQQueueType"] == [bytes(16)]
    assert "mSMQQueueNameExt" not in values
    assert found["path_name"] == "host\\orders all=1"
    assert found["qualified_path_name"] == "host.local\\orders all=1"
    assert found["directory_path"] == f"LDAP://{found['full_path']}"
    for attribute in ("identifier", "label", "path_name", "full_path", "directory_path", "quota", "create_time"):
        read = ask("read", "queue", filter=equals(attribute, found[attribute]))
        assert read["object"] == found, attribute
    talk.ok("queues.set", format_name=f"PUBLIC={found['identifier']}", properties={"PROPID_Q_LABEL": ""})
    assert "mSMQLabelEx" not in tree.values(found["full_path"])
    talk.ok("queues.delete", format_name=f"PUBLIC={found['identifier']}")
    assert everything(talk, "queue") == []


@pytest.mark.parametrize("length", [63, 64, 90])
def test_a_long_name_is_cut(ask: Any, talk: Talk, tree: Tree, length: int) -> None:
    name = ("abc" * 30)[:length]
    identifier = ask("create", "queue", object={"path_name": f"HOST\\{name}"})["identifier"]
    found = ask("read", "queue", filter=equals("identifier", identifier))["object"]
    assert found["path_name"] == f"host\\{name}"
    assert ask("read", "queue", filter=equals("path_name", f"HOST\\{name}"))["object"] == found
    short = found["full_path"].partition(",")[0].removeprefix("CN=")
    assert (short == name) == (length < 64)
    assert len(short) == min(length, 64)
    assert found["name_suffix"] == (name[55:] if length > 63 else "")


def test_the_hash_of_a_name_is_that_of_the_table() -> None:
    assert [ldap_names.hashed(text) for text in ("\x01", "\x80", "A", "a")] == [
        "82e0fe45",
        "9b619023",
        ldap_names.hashed("a"),
        ldap_names.hashed("A"),
    ]


WHOLE: dict[str, dict[str, Any]] = {
    "queue_manager": {
        "computer_name": "HOST",
        "qualified_computer_name": "host.example.com",
        "queue_manager_version": "6.3",
        "operating_system_version": "10.0",
        "operating_system_type": "WinEnt",
        "queue_manager_quota": 0xFFFFFFFF,
        "journal_quota": 0,
        "foreign_system": True,
        "site_identifier_list": [GUID, OTHER],
        "out_routing_server_identifier_list": [THIRD],
        "in_routing_server_identifier_list": [THIRD],
        "directory_server": True,
        "remote_access_server": True,
        "routing_server": True,
        "supporting_server": True,
        "directory_server_type": "PrimaryEnterpriseController",
        "public_encryption_key_list": "AAEC",
        "public_signing_key_list": "AwQF",
        "security": "BgcI",
        "clustered": True,
    },
    "enterprise": {
        "weakened_security": True,
        "csp_name": "a provider",
        "default_time_to_live": 60,
        "old_directory": False,
        "version": 200,
    },
    "site": {
        "name": "south, far",
        "intra_site_replication_interval": 7,
        "inter_site_replication_interval": 0,
        "foreign_site": True,
        "migrated_from_msmq10": True,
        "security": "AAEC",
    },
    "routing_link": {
        "description": "a link",
        "actual_cost": 999_999,
        "site1_identifier": GUID,
        "site2_identifier": GUID,
        "site_gate_identifier_list": [THIRD],
    },
    "user": {
        "security_identifier": "S-1-5-21-1-2-4294967295-1234",
        "certificate_digest_list": [base64.b64encode(bytes(16)).decode()],
        "certificates": "AAEC",
    },
}
THERE: dict[str, dict[str, Any]] = {
    "settings": {
        "service": 8,
        "queue_manager_identifier": THIRD,
        "msmq10": True,
        "site_name": "north",
        "routing_server": True,
        "directory_server": False,
        "supporting_server": True,
    },
    "mq_user": {
        "security_identifier": "S-1-5-7",
        "certificate": "AAEC",
        "certificate_digest_list": ["AAEC", "AwQF"],
        "security": "BgcI",
    },
    "computer": {
        "sam_account": "NEXT$",
        "account_control": 4096,
        "dns_host_name": "next.local",
        "security_identifier": "S-1-5-21-1-2-3",
        "certificate": "AAEC",
        "certificate_digest_list": ["AAEC"],
    },
}
"""Objects that the manager does not create."""


@pytest.mark.parametrize("kind", WHOLE)
def test_what_is_created_is_read(ask: Any, tree: Tree, kind: str) -> None:
    tree.put(SITE, "site", GUID, cn="north")
    tree.put(f"CN=Servers,{SITE}", "container")
    tree.put(f"CN=GATE,CN=Servers,{SITE}", "server")
    tree.put(f"CN=GATE,CN=Computers,{ROOT}", "computer")
    tree.put(f"CN=msmq,CN=GATE,CN=Computers,{ROOT}", "mSMQConfiguration", THIRD)
    for name in (MANAGER, *([SERVICES] if kind == "enterprise" else [])):
        del tree.entries[name.lower()]
    given = WHOLE[kind]
    answer = ask("create", kind, object={**given, "partition_id": GUID})
    assert answer["result"] == "Success"
    wanted = equals("identifier", answer["identifier"])
    found = ask("read", kind, filter=wanted)["object"]
    assert {name: found.get(name) for name in given} == given
    assert "partition_id" not in found
    changed = {name: value for name, value in given.items() if name not in ("name", "computer_name")}
    unset = {name: [] for name, value in changed.items() if isinstance(value, list)}
    assert ask("write", kind, identifier=answer["identifier"], object=unset)["result"] == "Success"
    assert ask("read", kind, filter=wanted)["object"] == {**found, **unset}
    assert ask("write", kind, identifier=answer["identifier"], object=changed)["result"] == "Success"
    assert ask("read", kind, filter=wanted)["object"] == found
    assert ask("create", kind, object=given)["result"] == ("Success" if kind == "user" else "ObjectAlreadyExists")
    assert ask("delete", kind, identifier=answer["identifier"])["result"] == "Success"
    assert ask("delete", kind, identifier=answer["identifier"])["result"] == "ObjectNotFound"


@pytest.mark.parametrize("kind", THERE)
def test_what_others_create_is_read_and_written(ask: Any, tree: Tree, kind: str) -> None:
    context = CONFIGURATION if kind == "settings" else ROOT
    tree.put(f"CN=there,{context}", ldap_names.CLASS[kind], OTHER)
    given, wanted = THERE[kind], equals("identifier", OTHER)
    assert ask("write", kind, identifier=OTHER, object=given)["result"] == "Success"
    found = ask("read", kind, filter=wanted)["object"]
    assert {name: found.get(name) for name in given} == given
    assert ask("create", kind, object=given)["result"] == "GenericError"
    assert ask("delete", kind, identifier=OTHER)["result"] == "Success"
    assert ask("delete", kind, identifier=OTHER)["result"] == "ObjectNotFound"


def test_services_that_are_not_written_stay(ask: Any, talk: Talk, tree: Tree) -> None:
    guid = talk.driver.manager.guid
    ask("write", "queue_manager", identifier=guid, object={"directory_server": True, "remote_access_server": True})
    ask("write", "queue_manager", identifier=guid, object={"directory_server_type": "BackupSiteController"})
    ask("write", "queue_manager", identifier=guid, object={"routing_server": True})
    assert tree.values(MANAGER)["mSMQServiceType"] == [b"19"]
    ask("write", "queue_manager", identifier=guid, object={"clustered": True})
    assert tree.values(COMPUTER)["servicePrincipalName"] == [b"MSClusterVirtualServer/HOST"]
    found = ask("read", "queue_manager", attributes=["directory_server_type"])["object"]
    assert found == {"directory_server_type": "BackupSiteController"}


def test_numbers_with_a_sign_are_read_without(ask: Any, tree: Tree) -> None:
    tree.put(f"CN=q,{MANAGER}", "mSMQQueue", mSMQQueueQuota=b"-1", mSMQBasePriority=b"-3")
    found = ask("read", "queue")["object"]
    assert (found["quota"], found["base_priority"]) == (0xFFFFFFFF, -3)


@pytest.mark.parametrize(
    ("attribute", "operator", "value", "expected"),
    [
        ("quota", "EQUALS", 5, "b"),
        ("quota", "NOT-EQUALS", 5, "ac"),
        ("quota", "LESS-THAN", 30, "b"),
        ("quota", "LESS-THAN-OR-EQUAL", 30, "ab"),
        ("quota", "GREATER-THAN", 5, "ac"),
        ("quota", "GREATER-THAN", 30, "c"),
        ("quota", "GREATER-THAN-OR-EQUAL", 0xFFFFFFFF, "c"),
        ("label", "EQUALS", "", "c"),
        ("label", "LESS-THAN", "two", "ac"),
        ("label", "NOT-EQUALS", "TWO", "ac"),
        ("type", "EQUALS", GUID, "b"),
        ("type", "EQUALS", "no guid", ""),
        ("journaling", "EQUALS", False, "ac"),
        ("privacy_level", "EQUALS", "Body", "a"),
        ("create_time", "LESS-THAN", 1_700_000_001, "abc"),
        ("path_name", "NOT-EQUALS", "HOST\\A", "bc"),
        ("path_name", "EQUALS", "HOST\\none", ""),
        ("full_path", "EQUALS", f"CN=b,{MANAGER}", "b"),
        ("hash_key", "EQUALS", 3, "abc"),
    ],
)
def test_filters(ask: Any, talk: Talk, tree: Tree, attribute: str, operator: str, value: Any, expected: str) -> None:
    tree.put(f"CN=a,{MANAGER}", "mSMQQueue", mSMQQueueQuota="30", mSMQLabelEx="one", mSMQPrivacyLevel="2")
    tree.put(f"CN=b,{MANAGER}", "mSMQQueue", mSMQQueueQuota="5", mSMQLabelEx="two", mSMQJournal="TRUE",
             mSMQQueueType=uuid.UUID(GUID).bytes_le)  # fmt: skip
    tree.put(f"CN=c,{MANAGER}", "mSMQQueue")
    found = everything(talk, "queue", filter=equals(attribute, value, operator), attributes=["path_name"])
    assert "".join(each["path_name"][-1] for each in found) == expected
    assert all(list(each) == ["path_name"] for each in found)


def test_a_query_has_pages_and_an_order(ask: Any, talk: Talk, tree: Tree) -> None:
    tree.page = 2
    for number in range(5):
        tree.put(f"CN=q{number}", "mSMQQueue")
        tree.put(f"CN=q{number},{MANAGER}", "mSMQQueue", mSMQQueueQuota=str(number % 2), mSMQLabelEx=f"L{number}")
    order = [{"priority": 1, "ascending": False}, {"priority": 2, "ascending": True}]
    found = everything(talk, "queue", attributes=["label", "quota"], order=order)
    assert [each["label"] for each in found] == ["L4", "L2", "L0", "L3", "L1"]
    assert [request.kind for request in tree.asked].count(SEARCH) == 3


def test_what_is_asked_is_what_is_needed(ask: Any, tree: Tree) -> None:
    ask("read", "queue", filter=equals("label", "x"), attributes=["quota"])
    names = [[name for _, name in request.told[7][1]] for request in tree.asked if request.kind == SEARCH]
    assert names == [[b"mSMQQueueQuota"]]


def test_a_list_is_resolved(ask: Any, talk: Talk, tree: Tree) -> None:
    users = f"CN=Users,{ROOT}"
    tree.put(f"CN=q,{MANAGER}", "mSMQQueue", OTHER)
    tree.put(f"CN=x,{users}", "msMQ-Custom-Recipient", **{"msMQ-Recipient-FormatName": "DIRECT=OS:A\\x"})
    members = [f"CN=q,{MANAGER}".encode(), f"CN=x,{users}".encode(), f"CN=list,{users}".encode()]
    tree.put(f"CN=list,{users}", "group", GUID, member=members)
    assert talk.driver.manager.integration.resolved(f"DL={GUID}") == [f"PUBLIC={OTHER}", "DIRECT=OS:A\\x", f"DL={GUID}"]
    assert talk.driver.manager.integration.expanded([f"DL={GUID}"]) == [f"PUBLIC={OTHER}", "DIRECT=OS:A\\x"]


def test_references_to_what_is_gone(ask: Any, talk: Talk, tree: Tree) -> None:
    guid = talk.driver.manager.guid
    servers = {"out_routing_server_identifier_list": [OTHER, guid]}
    assert ask("write", "queue_manager", identifier=guid, object=servers)["result"] == "Success"
    assert tree.values(MANAGER)["mSMQOutRoutingServers"] == [MANAGER.encode()]
    tree.values(MANAGER)["mSMQOutRoutingServers"] = [f"CN=gone,{ROOT}".encode(), MANAGER.encode()]
    name = next(iter(servers))
    assert ask("read", "queue_manager", attributes=[name])["object"] == {name: [guid]}
    link = {"site1_identifier": OTHER, "site2_identifier": OTHER, "actual_cost": 1}
    assert ask("create", "routing_link", object=link)["result"] == "GenericError"
    tree.put(f"CN=link,{SERVICES}", "mSMQSiteLink", mSMQSite1=f"CN=gone,{ROOT}")
    assert ask("read", "routing_link")["result"] == "GenericError"


@pytest.mark.parametrize(
    ("code", "result"),
    [(32, "ObjectNotFound"), (16, "AttributeNotFound"), (68, "ObjectAlreadyExists"), (53, "GenericError")],
)
def test_results(ask: Any, talk: Talk, tree: Tree, code: int, result: str) -> None:
    guid = talk.driver.manager.guid
    tree.codes = {ADD: code, MODIFY: code, DELETE: code}
    assert ask("create", "site", object={"name": "south"})["result"] == result
    assert ask("write", "queue_manager", identifier=guid, object={"journal_quota": 3})["result"] == result
    assert ask("delete", "queue_manager", identifier=guid)["result"] == result
    tree.codes = {SEARCH: code}
    assert ask("read", "site")["result"] == result
    assert ask("begin", "site")["result"] == ("Success" if code == 32 else result)


@pytest.mark.parametrize(
    ("spoken", "wait_ms"),
    [
        (b"", 20_000),
        (b"HTTP/1.1 400 no\r\n\r\n", 20_000),
        (b"0\x03\x02\x01\x01", 20_000),
        (b"0\x05\x02\x01\x01\x65\x00", 20_000),
        (b"0\x84\xff\xff\xff\xff\x02", 20_000),
        (b"0\x0c\x02\x01\x63\x65\x07\n\x01\x00\x04\x00\x04\x00", 20_000),
        (b"0", 50),
    ],
)
def test_what_is_no_answer_is_no_connection(talk: Talk, server: LdapServer, spoken: bytes, wait_ms: int) -> None:
    for kind in (BIND, SEARCH):
        server.tree.spoken = {kind: spoken}
        talk("directory.use", address=server.address, wait_ms=wait_ms)
        assert talk.ok("directory.own")["offline"]


@pytest.mark.parametrize(
    "address", ["ldap://127.0.0.1:1", "ldap://127.0.0.1:none", "ldap://", "ldap://127.0.0.1:99999"]
)
def test_nobody_there_is_no_connection(talk: Talk, address: str) -> None:
    talk("directory.use", address=address)
    answer = talk.ok("directory.read", **{"class": "site"}, force=True)
    assert answer["result"] == "DirectoryNotConnected"


def test_who_does_not_let_in_is_no_connection(talk: Talk, server: LdapServer) -> None:
    server.tree.codes = {BIND: 49}
    talk("directory.use", address=server.address)
    assert talk.ok("directory.own")["offline"]


def test_values_that_have_no_form_are_an_error(ask: Any, tree: Tree) -> None:
    for name, value in (("mSMQQuota", "many"), ("mSMQOSType", "9999"), ("mSMQSites", "short"), ("whenCreated", "now")):
        tree.values(MANAGER)[name] = [value.encode()]
        assert ask("read", "queue_manager")["result"] == "GenericError", name
        del tree.values(MANAGER)[name]
    assert ask("read", "queue_manager")["result"] == "Success"
    assert ask("read", "connected_network")["result"] == "GenericError"
    assert ask("create", "site", object={"foreign_site": True})["result"] == "GenericError"
