"""MQDMPR-3.2.7.4.not-found-stays is broken.

That failure leaves the cursor usable: a message that comes later at its front or behind it can be read.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. open cursor c1 on q1 -> ok
5. send 'a' to q1 -> ok
6. receive from q1 (cursor c1) -> message 'a'
7. send 'b' to q1 -> ok
8. receive from q1 (cursor c1) -> message 'b'
9. receive from q1 (cursor c1) -> fails (NoMessage: MoveNext answered false)
10. send 'c' to q1 -> ok
11. receive from q1 (cursor c1) -> message 'c'
12. open cursor c2 on q1 -> ok
13. receive from q1 (cursor c2) -> fails (NoMessage: MoveNext answered false)
14. send 'd' to q1 -> ok
15. receive from q1 (cursor c2) -> fails (NoMessage: MoveNext answered false)
16. a look into q1, by receiving all there is -> it is empty

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_b2f4485a65d842d0.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_1_7_1_10_failed_receives.py::test_a_receive_that_finds_nothing_leaves_its_cursor_usable",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.2.7.4.not-found-stays",
  "outcome": "fail",
  "subject": "messages.receive",
  "expected": {
   "message": "d"
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
  "receive from q1 (cursor c1) -> message 'a'",
  "send 'b' to q1 -> ok",
  "receive from q1 (cursor c1) -> message 'b'",
  "receive from q1 (cursor c1) -> fails (NoMessage: MoveNext answered false)",
  "send 'c' to q1 -> ok",
  "receive from q1 (cursor c1) -> message 'c'",
  "open cursor c2 on q1 -> ok",
  "receive from q1 (cursor c2) -> fails (NoMessage: MoveNext answered false)",
  "send 'd' to q1 -> ok",
  "receive from q1 (cursor c2) -> fails (NoMessage: MoveNext answered false)",
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
    "method": "messages.receive",
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
    "handle": "r",
    "cursor": "c1"
   },
   {
    "method": "messages.receive",
    "handle": "r",
    "cursor": "c1"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "c"
   },
   {
    "method": "messages.receive",
    "handle": "r",
    "cursor": "c1",
    "shows": "MQDMPR-3.2.7.4.not-found-stays"
   },
   {
    "method": "cursors.open",
    "name": "c2",
    "handle": "r"
   },
   {
    "method": "messages.receive",
    "handle": "r",
    "cursor": "c2"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "d"
   },
   {
    "method": "messages.receive",
    "handle": "r",
    "cursor": "c2",
    "shows": "MQDMPR-3.2.7.4.not-found-stays"
   }
  ]
 }
}''')


def test_mqdmpr_3_2_7_4_not_found_stays():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
