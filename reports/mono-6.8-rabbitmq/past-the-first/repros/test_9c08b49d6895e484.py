"""MQDMPR-3.1.7.1.10.no-wait-code is broken.

A receive without cursor, time-out zero and nothing available, fails with MQ_ERROR_IO_TIMEOUT.

1. create transactional queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. begin transaction t1 -> ok
5. send 'a' to q1 (transaction t1) -> ok
6. send 'b' to q1 (transaction t1) -> ok
7. commit transaction t1 -> ok
8. begin transaction t2 -> ok
9. begin transaction t3 -> ok
10. receive from q1 (transaction t2) -> message 'a'
11. send 'c' to q1 (transaction t3) -> ok
12. delete queue q1 -> ok
13. abort transaction t2 -> ok
14. commit transaction t3 -> ok
15. create transactional queue q1 -> ok
16. open q1 for receive as r2 -> ok
17. receive from q1 -> fails with MQ_ERROR

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_9c08b49d6895e484.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "transactions",
 "test": "transactions/test_mqdmpr_3_1_4_transactions.py::test_a_queue_is_deleted_while_transactions_work_in_it",
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
  "commit transaction t1 -> ok",
  "begin transaction t2 -> ok",
  "begin transaction t3 -> ok",
  "receive from q1 (transaction t2) -> message 'a'",
  "send 'c' to q1 (transaction t3) -> ok",
  "delete queue q1 -> ok",
  "abort transaction t2 -> ok",
  "commit transaction t3 -> ok",
  "create transactional queue q1 -> ok",
  "open q1 for receive as r2 -> ok",
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
    "method": "transactions.commit",
    "transaction": "t1"
   },
   {
    "method": "transactions.begin",
    "name": "t2"
   },
   {
    "method": "transactions.begin",
    "name": "t3"
   },
   {
    "method": "messages.receive",
    "handle": "r",
    "transaction": "t2"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "transaction": "t3",
    "message": "c"
   },
   {
    "method": "queues.delete",
    "queue": "q1"
   },
   {
    "method": "transactions.abort",
    "transaction": "t2"
   },
   {
    "method": "transactions.commit",
    "transaction": "t3"
   },
   {
    "method": "queues.create",
    "queue": "q1",
    "transactional": true
   },
   {
    "method": "queues.open",
    "name": "r2",
    "queue": "q1",
    "access": "receive"
   },
   {
    "method": "messages.receive",
    "handle": "r2"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_10_no_wait_code():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
