"""Offers queue names and nothing else, and takes none for a name."""

from __future__ import annotations

import json
import sys

HELLO = {
    "status": 0,
    "protocol": "1.0",
    "name": "names-only",
    "version": "1",
    "profile": "msmq-4.0",
    "computer": "HOST",
    "facets": {"manager": ["hello"], "names": ["parse"]},
    "clock": "real",
}
for line in sys.stdin:
    request = json.loads(line)
    result = HELLO if request["method"] == "hello" else {"status": 0xC00E001E}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}) + "\n")
    sys.stdout.flush()
