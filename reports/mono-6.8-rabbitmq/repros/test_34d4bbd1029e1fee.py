"""MQDMPR-3.1.1.17.peek-access-no-send is broken.

A handle opened for peek cannot send.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. open q1 for peek as p -> ok
5. send 'a' to q1 -> ok
6. peek from q1 -> message 'a' (priority 3)
7. send 'b' to q1 -> ok

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_34d4bbd1029e1fee.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_1_7_1_5_names.py::test_what_a_handle_is_not_for",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.1.17.peek-access-no-send",
  "outcome": "fail",
  "subject": "messages.send",
  "expected": "fails",
  "actual": {
   "status": "0x00000000"
  }
 },
 "story": [
  "create queue q1 -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "open q1 for peek as p -> ok",
  "send 'a' to q1 -> ok",
  "peek from q1 -> message 'a' (priority 3)",
  "send 'b' to q1 -> ok"
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
    "method": "queues.open",
    "name": "p",
    "queue": "q1",
    "access": "peek"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "a"
   },
   {
    "method": "messages.peek",
    "handle": "p"
   },
   {
    "method": "messages.send",
    "handle": "p",
    "message": "b"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_1_17_peek_access_no_send():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
