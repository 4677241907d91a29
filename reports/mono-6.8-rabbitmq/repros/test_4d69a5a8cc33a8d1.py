"""MQDMPR-3.1.7.1.15.first-available is broken.

A peek without cursor gives the first available message of the queue.

1. create transactional queue q2 -> ok
2. open q2 for send as h1 -> ok
3. open q2 for receive as h2 -> ok
4. begin transaction t1 -> ok
5. send 'a' to q2 (transaction t1) -> ok
6. commit transaction t1 -> ok
7. peek from q2 -> fails with MQ_ERROR
8. a look into q2, by receiving all there is -> 'a'

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_4d69a5a8cc33a8d1.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "transactions",
 "test": "transactions/test_mqdmpr_3_1_4_transactions.py::test_a_walk_with_transactions",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.15.first-available",
  "outcome": "fail",
  "subject": "messages.peek",
  "expected": {
   "message": "a"
  },
  "actual": {
   "status": "0xC00E0001"
  }
 },
 "story": [
  "create transactional queue q2 -> ok",
  "open q2 for send as h1 -> ok",
  "open q2 for receive as h2 -> ok",
  "begin transaction t1 -> ok",
  "send 'a' to q2 (transaction t1) -> ok",
  "commit transaction t1 -> ok",
  "peek from q2 -> fails with MQ_ERROR",
  "a look into q2, by receiving all there is -> 'a'"
 ],
 "repro": {
  "kind": "calls",
  "format": 1,
  "calls": [
   {
    "method": "queues.create",
    "queue": "q2",
    "transactional": true
   },
   {
    "method": "queues.open",
    "name": "h1",
    "queue": "q2",
    "access": "send"
   },
   {
    "method": "queues.open",
    "name": "h2",
    "queue": "q2",
    "access": "receive"
   },
   {
    "method": "transactions.begin",
    "name": "t1"
   },
   {
    "method": "messages.send",
    "handle": "h1",
    "transaction": "t1",
    "message": "a"
   },
   {
    "method": "transactions.commit",
    "transaction": "t1"
   },
   {
    "method": "messages.peek",
    "handle": "h2"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_15_first_available():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
