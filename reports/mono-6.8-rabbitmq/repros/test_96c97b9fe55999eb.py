"""MQDMPR-3.1.1.17.receive-access-no-send is broken.

A handle opened for receive cannot send.

1. create queue q1 -> ok
2. open q1 for receive as h1 -> ok
3. send 'a' to q1 -> ok

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_96c97b9fe55999eb.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_2_cursor.py::test_a_walk_with_cursors",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.1.17.receive-access-no-send",
  "outcome": "fail",
  "subject": "messages.send",
  "expected": "fails",
  "actual": {
   "status": "0x00000000"
  }
 },
 "story": [
  "create queue q1 -> ok",
  "open q1 for receive as h1 -> ok",
  "send 'a' to q1 -> ok"
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
    "name": "h1",
    "queue": "q1",
    "access": "receive"
   },
   {
    "method": "messages.send",
    "handle": "h1",
    "message": "a"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_1_17_receive_access_no_send():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
