"""MQDMPR-3.1.7.1.9.queue-quota is broken.

A send that would take the queue over its quota is refused, and the message is not in the queue.

1. create transactional queue q1 (quota 40 KB) -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. begin transaction t1 -> ok
5. send 'a' to q1 (transaction t1, 11264 bytes) -> ok
6. send 'b' to q1 (transaction t1, 11264 bytes) -> ok
7. send 'c' to q1 (transaction t1, 11264 bytes) -> ok
8. send 'd' to q1 (transaction t1, 11264 bytes) -> ok
9. commit transaction t1 -> ok
10. begin transaction t2 -> ok
11. send 'e' to q1 (transaction t2, 11264 bytes) -> ok

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_7155051c0f26913b.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "quotas",
 "test": "quotas/test_mqdmpr_3_1_7_1_9_quotas.py::test_a_quota_and_open_transactions",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.9.queue-quota",
  "outcome": "fail",
  "subject": "messages.send",
  "expected": "fails",
  "actual": {
   "status": "0x00000000"
  }
 },
 "story": [
  "create transactional queue q1 (quota 40 KB) -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "begin transaction t1 -> ok",
  "send 'a' to q1 (transaction t1, 11264 bytes) -> ok",
  "send 'b' to q1 (transaction t1, 11264 bytes) -> ok",
  "send 'c' to q1 (transaction t1, 11264 bytes) -> ok",
  "send 'd' to q1 (transaction t1, 11264 bytes) -> ok",
  "commit transaction t1 -> ok",
  "begin transaction t2 -> ok",
  "send 'e' to q1 (transaction t2, 11264 bytes) -> ok"
 ],
 "repro": {
  "kind": "calls",
  "format": 1,
  "calls": [
   {
    "method": "queues.create",
    "queue": "q1",
    "transactional": true,
    "quota_kb": 40
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
    "message": "a",
    "size": 11264
   },
   {
    "method": "messages.send",
    "handle": "s",
    "transaction": "t1",
    "message": "b",
    "size": 11264
   },
   {
    "method": "messages.send",
    "handle": "s",
    "transaction": "t1",
    "message": "c",
    "size": 11264
   },
   {
    "method": "messages.send",
    "handle": "s",
    "transaction": "t1",
    "message": "d",
    "size": 11264
   },
   {
    "method": "transactions.commit",
    "transaction": "t1"
   },
   {
    "method": "transactions.begin",
    "name": "t2"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "transaction": "t2",
    "message": "e",
    "size": 11264
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_9_queue_quota():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
