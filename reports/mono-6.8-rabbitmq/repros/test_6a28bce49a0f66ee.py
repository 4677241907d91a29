"""MQDMPR-3.1.7.1.15.keeps is broken.

A peek leaves the queue as it was: the same message is peeked and received afterwards.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. send 'a' to q1 -> ok
5. open cursor c1 on q1 -> ok
6. peek from q1 (cursor c1) -> message 'a' (priority 3)
7. w1: peek-next from q1 (cursor c1, waiting up to 60 ms) -> waits
8. 60 ms pass; the waiting w1 ends: fails (NoMessage: MoveNext answered false)
9. peek-next from q1 (cursor c1) -> fails (NoMessage: MoveNext answered false)
10. peek from q1 -> fails with MQ_ERROR
11. a look into q1, by receiving all there is -> it is empty

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_6a28bce49a0f66ee.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_2_cursor.py::test_a_peek_next_that_times_out",
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
   "status": "0xC00E0001"
  }
 },
 "story": [
  "create queue q1 -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "send 'a' to q1 -> ok",
  "open cursor c1 on q1 -> ok",
  "peek from q1 (cursor c1) -> message 'a' (priority 3)",
  "w1: peek-next from q1 (cursor c1, waiting up to 60 ms) -> waits",
  "60 ms pass; the waiting w1 ends: fails (NoMessage: MoveNext answered false)",
  "peek-next from q1 (cursor c1) -> fails (NoMessage: MoveNext answered false)",
  "peek from q1 -> fails with MQ_ERROR",
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
    "method": "messages.send",
    "handle": "s",
    "message": "a"
   },
   {
    "method": "cursors.open",
    "name": "c1",
    "handle": "r"
   },
   {
    "method": "messages.peek",
    "handle": "r",
    "cursor": "c1"
   },
   {
    "method": "messages.peek_next",
    "name": "w1",
    "handle": "r",
    "cursor": "c1",
    "timeout_ms": 60,
    "expires": true
   },
   {
    "method": "messages.peek_next",
    "handle": "r",
    "cursor": "c1"
   },
   {
    "method": "messages.peek",
    "handle": "r"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_15_keeps():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
