"use strict";
// MSMQTransaction, its dispensers and the transaction inside: MC-MQAC 3.6 to 3.9. There is no coordinator.

const { E, refuse } = require("./errors.js");
const V = require("./variants.js");

const SYNC = 2; // XACTTC_SYNC

// ITransaction, as the members of MSMQTransaction call it: 3.8.4.1, all of them internal.
function end(inner, allowed, how) {
  if (!allowed) refuse(E.XACT_E_NOTSUPPORTED);
  if (inner.transaction.ended) refuse(E.TRANSACTION_SEQUENCE);
  how(inner.transaction);
}

function asNumber(variant, otherwise) {
  if (V.isLeftOut(variant)) return otherwise;
  const value = V.number(variant);
  return value === undefined ? refuse(E.DISP_E_TYPEMISMATCH) : value;
}

const attached = (self) => self.transaction || refuse(E.E_INVALIDARG);
const notImplemented = () => refuse(E.E_NOTIMPL);

function initNew(self, [given]) {
  if (self.transaction) refuse(E.TRANSACTION_USAGE);
  if (!V.isObject(given) || !given.value || given.value.className !== "TransactionImpl") refuse(E.E_INVALIDARG);
  self.transaction = given.value;
}

const MSMQTransaction = {
  make: () => ({ transaction: null }),
  members: {
    "get Transaction": notImplemented,
    "get Properties": notImplemented,
    "get ITransaction": (self) => (self.transaction ? { vt: "UNKNOWN", value: self.transaction } : { vt: "EMPTY" }),
    "method InitNew": initNew,
    "method Commit": (self, [retaining, how, manager], call) => {
      const inner = attached(self);
      const plain = !V.flag(retaining, false) && asNumber(how, SYNC) === SYNC && asNumber(manager, 0) === 0;
      end(inner, plain, (transaction) => call.manager.commit(transaction));
    },
    "method Abort": (self, [retaining, asynchronous], call) => {
      const inner = attached(self);
      end(inner, !V.flag(retaining, false) && !V.flag(asynchronous, false), (transaction) => call.manager.abort(transaction));
    },
  },
};

const dispenser = (begin) => ({ make: () => ({}), members: { "get Properties": notImplemented, "method BeginTransaction": begin } });

function beginInternal(self, args, call) {
  const inner = call.make("TransactionImpl", { transaction: call.manager.begin() });
  return V.object(call.make("MSMQTransaction", { transaction: inner }));
}

module.exports = {
  MSMQTransaction,
  MSMQTransactionDispenser: dispenser(beginInternal),
  MSMQCoordinatedTransactionDispenser: dispenser(() => refuse(0xc00e004c)), // MQ_ERROR_DTC_CONNECT
  TransactionImpl: { make: () => ({ transaction: null }), members: {}, unknownOnly: true },
};
