"""MQDMPR-3.1.7.1.10.no-wait-code is broken.

A receive without cursor, time-out zero and nothing available, fails with MQ_ERROR_IO_TIMEOUT.

1. create transactional queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. begin transaction t1 -> ok
5. send 'a' to q1 (transaction t1) -> ok
6. send 'b' to q1 (transaction t1) -> ok
7. send 'c' to q1 (transaction t1) -> ok
8. w1: receive from q1 (waiting up to 60000 ms) -> waits
9. commit transaction t1 -> ok; the waiting w1 ends: message 'a'
10. receive from q1 -> message 'b'
11. receive from q1 -> message 'c'
12. receive from q1 -> fails with MQ_ERROR

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_b962c6afbbea35cf.py` fails while the deviation is there.
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
  "requirement": "MQDMPR-3.1.7.1.10.no-wait-code",
  "outcome": "fail",
  "subject": "messages.receive",
  "expected": {
   "fails with": [
    "0xC00E001B",
    "0xC00E0088"
   ]
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
  "send 'b' to q1 (transaction t1) -> ok",
  "send 'c' to q1 (transaction t1) -> ok",
  "w1: receive from q1 (waiting up to 60000 ms) -> waits",
  "commit transaction t1 -> ok; the waiting w1 ends: message 'a'",
  "receive from q1 -> message 'b'",
  "receive from q1 -> message 'c'",
  "receive from q1 -> fails with MQ_ERROR"
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
   },
   {
    "method": "messages.receive",
    "handle": "r"
   },
   {
    "method": "messages.receive",
    "handle": "r"
   },
   {
    "method": "messages.receive",
    "handle": "r"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_10_no_wait_code():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
