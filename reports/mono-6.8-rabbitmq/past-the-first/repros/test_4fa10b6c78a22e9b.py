"""MQDMPR-3.1.7.1.15.keeps is broken.

A peek leaves the queue as it was: the same message is peeked and received afterwards.

1. create transactional queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. begin transaction t1 -> ok
5. send 'a' to q1 (transaction t1) -> ok
6. commit transaction t1 -> ok
7. open cursor c1 on q1 -> ok
8. peek from q1 (cursor c1) -> message 'a'
9. begin transaction t2 -> ok
10. receive from q1 (transaction t2) -> fails with MQ_ERROR
11. a look into q1, by receiving all there is -> it is empty

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_4fa10b6c78a22e9b.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_2_cursor.py::test_a_cursor_on_a_locked_message_reads_it_again_after_the_abort",
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
  "create transactional queue q1 -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "begin transaction t1 -> ok",
  "send 'a' to q1 (transaction t1) -> ok",
  "commit transaction t1 -> ok",
  "open cursor c1 on q1 -> ok",
  "peek from q1 (cursor c1) -> message 'a'",
  "begin transaction t2 -> ok",
  "receive from q1 (transaction t2) -> fails with MQ_ERROR",
  "a look into q1, by receiving all there is -> it is empty"
 ],
 "repro": {
  "kind": "calls",
  "format": 1,
  "calls": [
   {
    "method": "queues.create",
    "queue": "q1",
    "transactional": true
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
    "method": "transactions.begin",
    "name": "t1"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "transaction": "t1",
    "message": "a"
   },
   {
    "method": "transactions.commit",
    "transaction": "t1"
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
    "method": "transactions.begin",
    "name": "t2"
   },
   {
    "method": "messages.receive",
    "handle": "r",
    "transaction": "t2"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_15_keeps():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
