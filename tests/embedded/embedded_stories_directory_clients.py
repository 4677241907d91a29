"""Stories of objects and of management over an integrated directory."""

from __future__ import annotations

from typing import Any

from embedded_objects import LEFT_OUT, data, long, text
from embedded_stories import of
from embedded_stories_directory import ALICE, FAR, HOST, MINUTE, NOBODY, OTHER_GATE, OWN, SOUTH, Directed
from embedded_stories_signed import CERTIFICATE
from embedded_talk import Talk

from conformance.embedded.security import SELF

FOREIGN = 6


class Programmed(Directed):
    """A teller of objects whose manager has a directory: of what is asked there, all but certificates is told."""

    def put_user(self, **given: Any) -> None:
        self.put("user", identifier=ALICE, security_identifier=SELF, **given)

    def made(self, name: str) -> str:
        return str(self("objects.create", **{"class": name})["object"])

    def invoke(self, target: str, member: str, *arguments: Any, kind: str = "method") -> Any:
        answer = self("objects.invoke", object=target, member=member, kind=kind, arguments=list(arguments))
        return answer.get("value", {}).get("value")

    def registers(self, application: str, *arguments: Any) -> None:
        """Register a certificate; one that the manager makes is another each time."""
        given: dict[str, Any] = {"object": application, "member": "RegisterCertificate", "kind": "method"}
        [answer] = self.tell.talk.start("objects.invoke", **given, arguments=list(arguments))
        asked = self.server.desk("asked")["requests"]
        self.tell.seen.append(answer)
        for each in asked:
            params = each["params"]
            self.tell.seen.append([each["method"], params.get("filter"), params.get("attributes")])
            self.tell.seen.append(sorted(params.get("object", ())))
        users = self.server.desk("objects", kind="user")["objects"]
        self.tell.seen.append([len(each["certificate_digest_list"]) for each in users])

    def foreign(self) -> None:
        for name in ("HOST\\orders", "HOST\\private$\\orders"):
            self("management.get", target={"type": "queue", "format_name": f"DIRECT=OS:{name}"}, properties=[FOREIGN])


@of("directory")
def clients(talk: Talk) -> list[Any]:
    tell = Programmed(talk)
    try:
        for story in (_foreign, _certificates, _computers, _queues):
            story(tell)
    finally:
        tell.server.close()
    return tell.tell.seen


def _foreign(tell: Programmed) -> None:
    """Foreign queues of a manager that is foreign, of one that is not, and offline."""
    tell.use()
    for name in ("HOST\\orders", "HOST\\private$\\orders"):
        tell("queues.create", path_name=name, properties={})
    own = {name: value for name, value in OWN.items() if name != "class"}
    for foreign in (True, False):
        tell.put("queue_manager", **own, foreign_system=foreign)
        tell.use()
        tell.foreign()
    managed = tell.made("MSMQManagement")
    tell.invoke(managed, "Init", LEFT_OUT, LEFT_OUT, text("DIRECT=OS:HOST\\orders"))
    tell.turn("closed")
    tell("directory.read", **{"class": "site"})
    tell.foreign()
    tell.invoke(managed, "ForeignStatus", kind="get")
    tell.turn("answers")
    tell.later(MINUTE)


def _certificates(tell: Programmed) -> None:
    """Certificates that are registered for a user whom the directory has, has not, reads and writes not."""
    application = tell.made("MSMQApplication")
    external = (LEFT_OUT, data(CERTIFICATE))
    tell.registers(application, *external)
    tell.put_user()
    tell.registers(application, *external)
    tell("security.certificates")
    tell.registers(application, LEFT_OUT, data("AQID"))
    for flags in (2, 2, 1):
        tell.registers(application, long(flags), LEFT_OUT)
    for method in ("read", "write"):
        tell.server.desk("lie", method=method, kind="user", answer={"result": "GenericError"})
        tell.registers(application, *external)
        tell.server.desk("lie", method=method, kind="user", answer={"result": "GenericError"})
        tell.registers(application, LEFT_OUT, LEFT_OUT)
    tell.put_user(certificates="AQID")
    tell.registers(application, *external)


def _computers(tell: Programmed) -> None:
    """Computers by their names and identifiers."""
    application = tell.made("MSMQApplication")
    for name in ("HOST", "gate1", "NONE", None):
        tell.invoke(application, "MachineIdOfMachineName", text(name))
    for guid in (HOST, f"{{{OTHER_GATE}}}", NOBODY):
        tell.invoke(application, "MachineNameOfMachineId", text(guid))
    tell.invoke(application, "IsDsEnabled", kind="get")


def _queues(tell: Programmed) -> None:
    """Public queues of this computer and of another one, and queries."""
    here, far = tell.made("MSMQQueueInfo"), tell.made("MSMQQueueInfo")
    tell.invoke(here, "PathName", text("HOST\\made"), kind="put")
    tell.invoke(here, "Create", LEFT_OUT, LEFT_OUT)
    tell.invoke(far, "FormatName", text(f"PUBLIC={FAR}"), kind="put")
    for info in (here, far):
        tell.invoke(info, "Refresh")
        tell.invoke(info, "Label", text("new"), kind="put")
        tell.invoke(info, "Update")
        for getter in ("Label", "PathName", "PathNameDNS", "ADsPath"):
            tell.invoke(info, getter, kind="get")
    for path in ("FAR\\prices", "FAR\\none"):
        tell.invoke(far, "PathName", text(path), kind="put")
        tell.invoke(far, "FormatName", kind="get")
    destination = tell.made("MSMQDestination")
    for path in ("LDAP://CN=FAR,CN=prices,CN=msmq", "LDAP://none"):
        tell.invoke(destination, "ADsPath", text(path), kind="put")
        tell.invoke(destination, "FormatName", kind="get")
    query = tell.made("MSMQQuery")
    criteria = [text(f"{{{FAR}}}"), LEFT_OUT, text("New"), *[LEFT_OUT] * 8]
    for arguments in ([LEFT_OUT] * 11, criteria, [text(f"{{{SOUTH}}}"), *[LEFT_OUT] * 10]):
        found = tell.invoke(query, "LookupQueue", *arguments)
        for _ in range(5):
            tell.invoke(str(found), "Next")
    for of_class in ({"method": "begin", "kind": "queue"}, {"method": "next"}):
        tell.server.desk("lie", **of_class, answer={"result": "GenericError"})
        tell.invoke(query, "LookupQueue", *[LEFT_OUT] * 11)
    tell.server.desk("lie", method="read", kind="queue", answer={"result": "GenericError"})
    tell.invoke(here, "Refresh")
    tell.turn("closed")
    for info, member in ((here, "Refresh"), (here, "Refresh"), (far, "Refresh"), (here, "Update")):
        tell.invoke(info, member)
    tell.invoke(destination, "ADsPath", text("LDAP://CN=HOST,CN=made,CN=msmq"), kind="put")
    tell.invoke(destination, "FormatName", kind="get")
