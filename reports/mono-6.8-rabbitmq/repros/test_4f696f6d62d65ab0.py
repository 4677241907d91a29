"""MQDMPR-3.1.7.1.9.available is broken.

A message sent outside any transaction is available at once to readers of its queue.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. open cursor c1 on q1 -> ok
5. send 'a' to q1 -> ok
6. send 'b' to q1 -> ok
7. send 'c' to q1 -> ok
8. peek from q1 (cursor c1) -> fails (NoMessage: MoveNext answered false)
9. a look into q1, by receiving all there is -> it is empty

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_4f696f6d62d65ab0.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_2_cursor.py::test_a_message_taken_from_under_the_cursor",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.9.available",
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
  "send 'a' to q1 -> ok",
  "send 'b' to q1 -> ok",
  "send 'c' to q1 -> ok",
  "peek from q1 (cursor c1) -> fails (NoMessage: MoveNext answered false)",
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
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_9_available():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
