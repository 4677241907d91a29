"""MQDMPR-3.1.7.1.10.first-available is broken.

A receive without cursor takes the first available message of the queue.

1. create transactional queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. create transactional queue q2 -> ok
5. open q2 for send as s2 -> ok
6. open q2 for receive as r2 -> ok
7. begin transaction t1 -> ok
8. send 'a1' to q1 (transaction t1) -> ok
9. send 'b1' to q2 (transaction t1) -> ok
10. commit transaction t1 -> ok
11. receive from q1 -> fails with MQ_ERROR
12. a look into q1, by receiving all there is -> 'a1'

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_3c288f44f74503fb.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "transactions",
 "test": "transactions/test_mqdmpr_3_1_4_transactions.py::test_a_transaction_over_two_queues",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.10.first-available",
  "outcome": "fail",
  "subject": "messages.receive",
  "expected": {
   "message": "a1"
  },
  "actual": {
   "status": "0xC00E0001"
  }
 },
 "story": [
  "create transactional queue q1 -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "create transactional queue q2 -> ok",
  "open q2 for send as s2 -> ok",
  "open q2 for receive as r2 -> ok",
  "begin transaction t1 -> ok",
  "send 'a1' to q1 (transaction t1) -> ok",
  "send 'b1' to q2 (transaction t1) -> ok",
  "commit transaction t1 -> ok",
  "receive from q1 -> fails with MQ_ERROR",
  "a look into q1, by receiving all there is -> 'a1'"
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
    "method": "queues.create",
    "queue": "q2",
    "transactional": true
   },
   {
    "method": "queues.open",
    "name": "s2",
    "queue": "q2",
    "access": "send"
   },
   {
    "method": "queues.open",
    "name": "r2",
    "queue": "q2",
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
    "message": "a1"
   },
   {
    "method": "messages.send",
    "handle": "s2",
    "transaction": "t1",
    "message": "b1"
   },
   {
    "method": "transactions.commit",
    "transaction": "t1"
   },
   {
    "method": "messages.receive",
    "handle": "r"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_10_first_available():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
