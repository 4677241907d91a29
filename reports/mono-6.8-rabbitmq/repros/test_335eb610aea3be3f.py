"""MQDMPR-3.1.4.3.first-in-transaction is broken.

The first message a transaction sends to a queue is received as first in its transaction, and no other is.

1. create transactional queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. begin transaction t1 -> ok
5. send 'a' to q1 (transaction t1) -> ok
6. send 'b' to q1 (transaction t1) -> ok
7. send 'c' to q1 (transaction t1) -> ok
8. w1: receive from q1 (waiting up to 60000 ms) -> waits
9. commit transaction t1 -> ok; the waiting w1 ends: message 'a' (priority 3)

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_335eb610aea3be3f.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "transactions",
 "test": "transactions/test_mqdmpr_3_1_4_transactions.py::test_a_transaction_takes_effect_in_the_order_of_its_work",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.4.3.first-in-transaction",
  "outcome": "fail",
  "subject": "w1",
  "expected": true,
  "actual": false
 },
 "story": [
  "create transactional queue q1 -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "begin transaction t1 -> ok",
  "send 'a' to q1 (transaction t1) -> ok",
  "send 'b' to q1 (transaction t1) -> ok",
  "send 'c' to q1 (transaction t1) -> ok",
  "w1: receive from q1 (waiting up to 60000 ms) -> waits",
  "commit transaction t1 -> ok; the waiting w1 ends: message 'a' (priority 3)"
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
    "method": "messages.send",
    "handle": "s",
    "transaction": "t1",
    "message": "b"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "transaction": "t1",
    "message": "c"
   },
   {
    "method": "messages.receive",
    "name": "w1",
    "handle": "r",
    "timeout_ms": 60000
   },
   {
    "method": "transactions.commit",
    "transaction": "t1"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_4_3_first_in_transaction():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
