"""MQDMPR-3.1.7.1.15.keeps is broken.

A peek leaves the queue as it was: the same message is peeked and received afterwards.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. open cursor c1 on q1 -> ok
5. open cursor c2 on q1 -> ok
6. send 'a' to q1 -> ok
7. send 'b' to q1 -> ok
8. send 'c' to q1 -> ok
9. peek from q1 (cursor c1) -> message 'a'
10. peek from q1 (cursor c2) -> fails (NoMessage: MoveNext answered false)
11. a look into q1, by receiving all there is -> it is empty

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_d388067f6e26dfdc.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_1_7_1_10_failed_receives.py::test_a_receive_that_fails_leaves_its_cursor_in_its_place",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.15.keeps",
  "outcome": "fail",
  "subject": "messages.peek",
  "expected": {
   "message": "a"
  },
  "actual": {
   "status": null,
   "failure": "NoMessage: MoveNext answered false"
  }
 },
 "story": [
  "create queue q1 -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "open cursor c1 on q1 -> ok",
  "open cursor c2 on q1 -> ok",
  "send 'a' to q1 -> ok",
  "send 'b' to q1 -> ok",
  "send 'c' to q1 -> ok",
  "peek from q1 (cursor c1) -> message 'a'",
  "peek from q1 (cursor c2) -> fails (NoMessage: MoveNext answered false)",
  "a look into q1, by receiving all there is -> it is empty"
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
    "method": "cursors.open",
    "name": "c1",
    "handle": "r"
   },
   {
    "method": "cursors.open",
    "name": "c2",
    "handle": "r"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "a"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "b"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "c"
   },
   {
    "method": "messages.peek",
    "handle": "r",
    "cursor": "c1"
   },
   {
    "method": "messages.peek",
    "handle": "r",
    "cursor": "c2"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_15_keeps():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
