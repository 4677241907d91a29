"""MQDMPR-3.1.7.1.10.no-wait-code is broken.

A receive without cursor, time-out zero and nothing available, fails with MQ_ERROR_IO_TIMEOUT.

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
11. receive from q1 -> message 'a1'
12. receive from q2 -> message 'b1'
13. begin transaction t2 -> ok
14. send 'a2' to q1 (transaction t2) -> ok
15. send 'b2' to q2 (transaction t2) -> ok
16. abort transaction t2 -> ok
17. receive from q1 -> fails with MQ_ERROR

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_94a8879e465953bc.py` fails while the deviation is there.
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
  "create transactional queue q2 -> ok",
  "open q2 for send as s2 -> ok",
  "open q2 for receive as r2 -> ok",
  "begin transaction t1 -> ok",
  "send 'a1' to q1 (transaction t1) -> ok",
  "send 'b1' to q2 (transaction t1) -> ok",
  "commit transaction t1 -> ok",
  "receive from q1 -> message 'a1'",
  "receive from q2 -> message 'b1'",
  "begin transaction t2 -> ok",
  "send 'a2' to q1 (transaction t2) -> ok",
  "send 'b2' to q2 (transaction t2) -> ok",
  "abort transaction t2 -> ok",
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
   },
   {
    "method": "messages.receive",
    "handle": "r2"
   },
   {
    "method": "transactions.begin",
    "name": "t2"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "transaction": "t2",
    "message": "a2"
   },
   {
    "method": "messages.send",
    "handle": "s2",
    "transaction": "t2",
    "message": "b2"
   },
   {
    "method": "transactions.abort",
    "transaction": "t2"
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
