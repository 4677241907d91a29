"""MQDMPR-3.1.7.1.15.keeps is broken.

A peek leaves the queue as it was: the same message is peeked and received afterwards.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. open cursor c1 on q1 -> ok
5. send 'a' to q1 -> ok
6. send 'b' to q1 -> ok
7. send 'c' to q1 -> ok
8. send 'd' to q1 -> ok
9. send 'e' to q1 -> ok
10. send 'f' to q1 -> ok
11. peek from q1 (cursor c1) -> message 'a'
12. peek-next from q1 (cursor c1) -> message 'b'
13. receive from q1 (cursor c1) -> message 'b'
14. receive from q1 (cursor c1) -> message 'c'
15. peek from q1 (cursor c1) -> message 'd'
16. receive from q1 (cursor c1) -> message 'd'
17. peek from q1 (cursor c1) -> message 'e'
18. peek-next from q1 (cursor c1) -> message 'f'
19. receive from q1 (cursor c1) -> message 'f'
20. receive from q1 (cursor c1) -> fails (NoMessage: MoveNext answered false)
21. send 'g' to q1 -> ok
22. receive from q1 (cursor c1) -> message 'g'
23. receive from q1 -> fails with MQ_ERROR
24. a look into q1, by receiving all there is -> it is empty

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_b94db4785c2db9ba.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_2_cursor.py::test_a_cursor_goes_on_from_the_place_of_what_it_received",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.15.keeps",
  "outcome": "fail",
  "subject": "messages.receive",
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
  "open cursor c1 on q1 -> ok",
  "send 'a' to q1 -> ok",
  "send 'b' to q1 -> ok",
  "send 'c' to q1 -> ok",
  "send 'd' to q1 -> ok",
  "send 'e' to q1 -> ok",
  "send 'f' to q1 -> ok",
  "peek from q1 (cursor c1) -> message 'a'",
  "peek-next from q1 (cursor c1) -> message 'b'",
  "receive from q1 (cursor c1) -> message 'b'",
  "receive from q1 (cursor c1) -> message 'c'",
  "peek from q1 (cursor c1) -> message 'd'",
  "receive from q1 (cursor c1) -> message 'd'",
  "peek from q1 (cursor c1) -> message 'e'",
  "peek-next from q1 (cursor c1) -> message 'f'",
  "receive from q1 (cursor c1) -> message 'f'",
  "receive from q1 (cursor c1) -> fails (NoMessage: MoveNext answered false)",
  "send 'g' to q1 -> ok",
  "receive from q1 (cursor c1) -> message 'g'",
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
    "method": "messages.send",
    "handle": "s",
    "message": "e"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "f"
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
    "method": "messages.receive",
    "handle": "r",
    "cursor": "c1"
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
    "method": "messages.receive",
    "handle": "r",
    "cursor": "c1"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "g"
   },
   {
    "method": "messages.receive",
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


def test_mqdmpr_3_1_7_1_15_keeps():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
