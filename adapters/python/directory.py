"""The facet directory, which `python3 driver.py directory` offers too. Replace `read` by the client that you have."""

import json
import socket

from __main__ import about, answer, method

MACHINE = about["queue_manager"] = "5b6f2a0e-3c1d-4e8f-9a7b-0c1d2e3f4a5b"
used = {"address": None, "wait_ms": 2000}
held = {}


def read(**wanted):
    """Ask for an object, a line of JSON each way. Without an answer in time, the directory is not connected."""
    host, _, port = (used["address"] or ":0").rpartition(":")
    request = {"jsonrpc": "2.0", "id": 1, "method": "read", "params": wanted}
    try:
        with socket.create_connection((host, int(port)), used["wait_ms"] / 1000) as line:
            line.sendall(json.dumps(request).encode() + b"\n")
            return json.loads(line.makefile().readline())["result"]
    except (OSError, ValueError, KeyError):
        return {"result": "DirectoryNotConnected"}


def identified(kind, identifier):
    wanted = [{"attribute": "identifier", "operator": "EQUALS", "value": identifier}]
    return read(**{"class": kind, "filter": wanted}).get("object", {})


def begin(**params):
    """Take what the manager holds of the directory: its own object, its sites with their gates, the enterprise."""
    used.update({"wait_ms": 2000, **{name: params[name] for name in used if name in params}})
    manager = {"identifier": MACHINE, "computer_name": "HOST", **identified("queue_manager", MACHINE)}
    sites = [identified("site", each) for each in manager.get("site_identifier_list", ())]
    gates = [{"identifier": gate} for site in sites for gate in site.get("site_gates", ())]
    held.update(queue_manager=manager, sites=list(filter(None, sites)), gates=gates)
    held.update(enterprise=read(**{"class": "enterprise"}).get("object"), integrated=used["address"] is not None)


@method("directory.use")
def use_directory(number, params):
    begin(**params)
    answer(number)


@method("directory.own")
def own_objects(number, params):
    answer(number, offline=False, **held)


@method("directory.read")
def read_directory(number, params):
    answer(number, **read(**{name: params[name] for name in ("class", "filter", "attributes") if name in params}))


begin()
