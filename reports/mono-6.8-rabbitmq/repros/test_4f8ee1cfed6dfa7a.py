"""MQMP-3.1.4.5.queue-exists is broken.

Creating a private queue under a path name already in use fails.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. send 'a' to q1 -> ok
5. create queue q1 -> ok

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_4f8ee1cfed6dfa7a.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_1_7_1_5_queues.py::test_creating_a_queue_twice",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQMP-3.1.4.5.queue-exists",
  "outcome": "fail",
  "subject": "queues.create",
  "expected": {
   "fails with": [
    "0xC00E0005"
   ]
  },
  "actual": {
   "status": "0x00000000"
  }
 },
 "story": [
  "create queue q1 -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "send 'a' to q1 -> ok",
  "create queue q1 -> ok"
 ],
 "repro": {
  "kind": "calls",
  "format": 1,
  "calls": [
   {
    "method": "queues.create",
    "queue": "q1"
   },
   {
    "method": "queues.open",
    "name": "s",
    "queue": "q1",
    "access": "send"
   },
   {
    "method": "queues.open",
    "name": "r",
    "queue": "q1",
    "access": "receive"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "a"
   },
   {
    "method": "queues.create",
    "queue": "q1"
   }
  ]
 }
}''')


def test_mqmp_3_1_4_5_queue_exists():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
