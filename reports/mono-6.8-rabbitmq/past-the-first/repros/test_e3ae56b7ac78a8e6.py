"""MQDMPR-3.2.7.3.illegal-cursor-action is broken.

A peek-next with a cursor that has no peeked message fails, even if messages are there.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. open cursor c1 on q1 -> ok
5. send 'a' to q1 -> ok
6. send 'b' to q1 -> ok
7. send 'c' to q1 -> ok
8. send 'd' to q1 -> ok
9. peek from q1 (cursor c1) -> message 'a'
10. peek-next from q1 (cursor c1) -> message 'b'
11. receive from q1 (cursor c1) -> message 'b'
12. peek-next from q1 (cursor c1) -> message 'c'

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_e3ae56b7ac78a8e6.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_2_cursor.py::test_a_peek_next_that_is_refused_leaves_its_cursor",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.2.7.3.illegal-cursor-action",
  "outcome": "fail",
  "subject": "messages.peek_next",
  "expected": {
   "fails with": [
    "0xC00E001C"
   ]
  },
  "actual": {
   "status": "0x00000000",
   "message": "c"
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
  "send 'd' to q1 -> ok",
  "peek from q1 (cursor c1) -> message 'a'",
  "peek-next from q1 (cursor c1) -> message 'b'",
  "receive from q1 (cursor c1) -> message 'b'",
  "peek-next from q1 (cursor c1) -> message 'c'"
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
    "method": "messages.send",
    "handle": "s",
    "message": "d"
   },
   {
    "method": "messages.peek",
    "handle": "r",
    "cursor": "c1"
   },
   {
    "method": "messages.peek_next",
    "handle": "r",
    "cursor": "c1"
   },
   {
    "method": "messages.receive",
    "handle": "r",
    "cursor": "c1"
   },
   {
    "method": "messages.peek_next",
    "handle": "r",
    "cursor": "c1"
   }
  ]
 }
}''')


def test_mqdmpr_3_2_7_3_illegal_cursor_action():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
