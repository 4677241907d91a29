"""MQDMPR-3.1.7.1.2.pending-read-ends is broken.

A read that waits with a cursor takes no message once the cursor is closed.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. open cursor c1 on q1 -> ok
5. open cursor c2 on q1 -> ok
6. w1: receive from q1 (cursor c1, waiting up to 60000 ms) -> waits
7. w2: receive from q1 (cursor c2, waiting up to 60000 ms) -> waits
8. w3: receive from q1 (waiting up to 60000 ms) -> waits
9. close cursor c1 -> ok; the waiting w1 ends: fails (InvalidOperationException: Operation is not valid due to the current state of the object.)
10. send 'a' to q1 -> ok; the waiting w2 ends: message 'a' (priority 3)
11. send 'b' to q1 -> ok; the waiting w3 ends: message 'b' (priority 3)
12. send 'c' to q1 -> ok
13. receive from q1 -> fails with MQ_ERROR
14. a look into q1, by receiving all there is -> it is empty

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_bc75ca6478b05ced.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_1_7_3_1_waiting_reads.py::test_a_cursor_is_closed_while_a_read_waits_with_it",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.2.pending-read-ends",
  "outcome": "fail",
  "subject": "messages.receive",
  "expected": {
   "message": "c"
  },
  "actual": {
   "status": "0xC00E0001"
  }
 },
 "story": [
  "create queue q1 -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "open cursor c1 on q1 -> ok",
  "open cursor c2 on q1 -> ok",
  "w1: receive from q1 (cursor c1, waiting up to 60000 ms) -> waits",
  "w2: receive from q1 (cursor c2, waiting up to 60000 ms) -> waits",
  "w3: receive from q1 (waiting up to 60000 ms) -> waits",
  "close cursor c1 -> ok; the waiting w1 ends: fails (InvalidOperationException: Operation is not valid due to the current state of the object.)",
  "send 'a' to q1 -> ok; the waiting w2 ends: message 'a' (priority 3)",
  "send 'b' to q1 -> ok; the waiting w3 ends: message 'b' (priority 3)",
  "send 'c' to q1 -> ok",
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
    "method": "messages.receive",
    "name": "w1",
    "handle": "r",
    "cursor": "c1",
    "timeout_ms": 60000
   },
   {
    "method": "messages.receive",
    "name": "w2",
    "handle": "r",
    "cursor": "c2",
    "timeout_ms": 60000
   },
   {
    "method": "messages.receive",
    "name": "w3",
    "handle": "r",
    "timeout_ms": 60000
   },
   {
    "method": "cursors.close",
    "cursor": "c1"
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
    "method": "messages.receive",
    "handle": "r"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_2_pending_read_ends():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
