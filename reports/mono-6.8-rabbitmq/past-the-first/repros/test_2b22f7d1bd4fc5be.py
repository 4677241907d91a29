"""MQDMPR-3.1.4.4.success is broken.

Committing an open transaction succeeds.

1. create transactional queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. begin transaction t1 -> ok
5. commit transaction t1 -> fails (OperationInterruptedException: The AMQP operation was interrupted: AMQP close-reason, initiated by Application, code=200, text="Connection close forced", classId=0, methodId=0, cause=)

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_2b22f7d1bd4fc5be.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "transactions",
 "test": "transactions/test_mqdmpr_3_1_4_transactions.py::test_a_transaction_ends_once",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.4.4.success",
  "outcome": "fail",
  "subject": "transactions.commit",
  "expected": "success",
  "actual": {
   "status": null,
   "failure": "OperationInterruptedException: The AMQP operation was interrupted: AMQP close-reason, initiated by Application, code=200, text=\"Connection close forced\", classId=0, methodId=0, cause="
  }
 },
 "story": [
  "create transactional queue q1 -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "begin transaction t1 -> ok",
  "commit transaction t1 -> fails (OperationInterruptedException: The AMQP operation was interrupted: AMQP close-reason, initiated by Application, code=200, text=\"Connection close forced\", classId=0, methodId=0, cause=)"
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
    "method": "transactions.commit",
    "transaction": "t1"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_4_4_success():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
