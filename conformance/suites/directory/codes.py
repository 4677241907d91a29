"""Stories of codes: with which status a call fails because of the directory (MS-MQMQ 2.4).

No step demands the codes. MS-MQDMPR 3.1.7.1.3 and 3.1.7.1.4 hand on the result of the directory, which is no HRESULT,
and the notes of MC-MQAC 3.2.4.1.1 and 3.2.4.2.2 list codes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.spec.constants.hresults import HRESULTS
from conformance.suites.directory.client_objects import Caller
from conformance.suites.directory.scene import NOWHERE, Scene
from conformance.suites.story_table import Untold

if TYPE_CHECKING:
    from conformance.adapter.client import Result

_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {"away": "MQ_ERROR_NO_DS", "error": "MQ_ERROR_DS_ERROR", "machine": "MQ_ERROR_MACHINE_NOT_FOUND"}
)


def demand(name: str) -> str:
    """Return the id of the requirement that a story can show."""
    return f"MQMQ-2.4.{_NAMES[name.split('-')[1]].lower().replace('_', '-')}"


def _told(scene: Scene, name: str, answer: Result) -> None:
    if answer.ok or answer.status is None:
        raise Untold("the call does not fail, or with no code")
    code = HRESULTS[_NAMES[name.split("-")[1]]]
    scene.shows(demand(name), answer.status == code, {"status": code}, {"status": answer.status})


def of_queue(scene: Scene, name: str) -> None:
    """A public queue cannot be created or deleted, as the directory is away or fails."""
    scene.used()
    method, path = name.rpartition("-")[2], f"{scene.mq.hello.computer}\\orders"
    format_name = ""
    if method == "delete":
        made = scene.call("create a public queue", "queues.create", path_name=path)
        if not made.ok:
            raise Untold("no public queue could be created")
        format_name = str(made.values["format_name"])
    if "-away-" in name:
        scene.turn("closed")
    else:
        scene.lie(method, "queue", {"result": "GenericError"})
    if method == "delete":
        _told(scene, name, scene.call("delete the queue", "queues.delete", format_name=format_name))
    else:
        _told(scene, name, scene.call("create a public queue", "queues.create", path_name=path))


def of_machine(scene: Scene, name: str) -> None:
    """An application asks for a computer of which nobody knows."""
    scene.used()
    member = f"Machine{'IdOfMachineName' if name.endswith('-id') else 'NameOfMachineId'}"
    asked = "NOBODY" if name.endswith("-id") else f"{{{NOWHERE.upper()}}}"
    _told(scene, name, Caller(scene, "MSMQApplication").invoke(member, {"vt": "BSTR", "value": asked}))


STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {
        **{
            name: partial(of_queue, name=name)
            for name in ("code-away-create", "code-away-delete", "code-error-create", "code-error-delete")
        },
        **{name: partial(of_machine, name=name) for name in ("code-machine-id", "code-machine-name")},
    }
)
