"""MQDMPR-3.1.7.1.10.timed-out-takes-nothing is broken.

A receive that timed out takes no message that arrives later.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. send 'a' to q1 -> ok
5. open cursor c1 on q1 -> ok
6. peek from q1 (cursor c1) -> message 'a'
7. receive from q1 (cursor c1) -> message 'a'
8. w1: receive from q1 (cursor c1, waiting up to 60 ms) -> waits
9. 60 ms pass; the waiting w1 ends: fails (NoMessage: MoveNext answered false)
10. peek-next from q1 (cursor c1) -> fails (NoMessage: MoveNext answered false)
11. send 'b' to q1 -> ok
12. receive from q1 -> fails with MQ_ERROR
13. a look into q1, by receiving all there is -> it is empty

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_1f3f21deff658b41.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_2_cursor.py::test_a_receive_with_a_cursor_that_times_out",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.10.timed-out-takes-nothing",
  "outcome": "fail",
  "subject": "messages.receive",
  "expected": {
   "message": "b"
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
  "peek from q1 (cursor c1) -> message 'a'",
  "receive from q1 (cursor c1) -> message 'a'",
  "w1: receive from q1 (cursor c1, waiting up to 60 ms) -> waits",
  "60 ms pass; the waiting w1 ends: fails (NoMessage: MoveNext answered false)",
  "peek-next from q1 (cursor c1) -> fails (NoMessage: MoveNext answered false)",
  "send 'b' to q1 -> ok",
  "receive from q1 -> fails with MQ_ERROR",
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
    "method": "messages.receive",
    "handle": "r",
    "cursor": "c1"
   },
   {
    "method": "messages.receive",
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
    "method": "messages.send",
    "handle": "s",
    "message": "b"
   },
   {
    "method": "messages.receive",
    "handle": "r"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_10_timed_out_takes_nothing():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
