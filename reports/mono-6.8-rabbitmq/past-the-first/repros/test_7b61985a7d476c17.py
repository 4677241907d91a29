"""MQDMPR-3.1.7.1.9.available is broken.

A message sent outside any transaction is available at once to readers of its queue.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. open cursor c1 on q1 -> ok
5. send 'a' to q1 -> ok
6. send 'b' to q1 -> ok
7. peek from q1 (cursor c1) -> message 'a'
8. send 'c' to q1 (priority 7) -> ok
9. peek-next from q1 (cursor c1) -> message 'b'
10. receive from q1 -> fails with MQ_ERROR
11. a look into q1, by receiving all there is -> it is empty

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_7b61985a7d476c17.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_2_cursor.py::test_a_message_of_higher_priority_behind_the_cursors_back",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.9.available",
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
  "send 'a' to q1 -> ok",
  "send 'b' to q1 -> ok",
  "peek from q1 (cursor c1) -> message 'a'",
  "send 'c' to q1 (priority 7) -> ok",
  "peek-next from q1 (cursor c1) -> message 'b'",
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
    "method": "messages.peek",
    "handle": "r",
    "cursor": "c1"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "c",
    "priority": 7
   },
   {
    "method": "messages.peek_next",
    "handle": "r",
    "cursor": "c1"
   },
   {
    "method": "messages.receive",
    "handle": "r"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_9_available():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
