"""MQDMPR-3.1.4.4.sends-appear is broken.

After the commit, every message the transaction sent is available in its queue, once.

1. create transactional queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. begin transaction t1 -> ok
5. send 'a' to q1 (transaction t1) -> ok
6. commit transaction t1 -> ok
7. open cursor c1 on q1 -> ok
8. peek from q1 (cursor c1) -> fails (NoMessage: MoveNext answered false)
9. a look into q1, by receiving all there is -> it is empty

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_49452d3bf81b919c.py` fails while the deviation is there.
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
  "requirement": "MQDMPR-3.1.4.4.sends-appear",
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
  "create transactional queue q1 -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "begin transaction t1 -> ok",
  "send 'a' to q1 (transaction t1) -> ok",
  "commit transaction t1 -> ok",
  "open cursor c1 on q1 -> ok",
  "peek from q1 (cursor c1) -> fails (NoMessage: MoveNext answered false)",
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
   }
  ]
 }
}''')


def test_mqdmpr_3_1_4_4_sends_appear():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
