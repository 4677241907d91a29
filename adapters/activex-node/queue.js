"use strict";
// MSMQQueue, MC-MQAC 3.11: an open queue, its reads and its notifications.

const { E, refuse } = require("./errors.js");
const { ACCESS, INFINITE } = require("./manager.js");
const { Cursor } = require("./queue_store.js");
const { read, readByLookup } = require("./reads.js");
const V = require("./variants.js");

const RECEIVES = [ACCESS.RECEIVE, 0x81];
const READS = [...RECEIVES, ACCESS.PEEK, 0xa0];
const [FIRST, CURRENT, NEXT] = [0, 1, 2]; // MQMSGCURSOR

function make(given = {}) {
  return { info: null, descriptor: null, cursor: new Cursor(), isInitialized: Boolean(given.descriptor), isClosed: !given.descriptor, ...given };
}

function initialized(self) {
  if (!self.isInitialized) refuse(E.OLE_E_BLANK);
}

// 3.11.1.1: a closed object refuses every call; what it still tells is whether it is open.
function opened(self, accesses) {
  initialized(self);
  if (self.isClosed) refuse(E.INVALID_HANDLE);
  if (accesses && !accesses.includes(self.descriptor.access)) refuse(E.ACCESS_DENIED);
}

function timeout(variant) {
  if (V.isLeftOut(variant)) return INFINITE;
  const value = V.number(variant);
  if (value === undefined) refuse(E.DISP_E_TYPEMISMATCH);
  return value >>> 0;
}

// {transaction} that was given, {single: true} for MQ_SINGLE_MESSAGE, or none: there is no context to take one from. By the
// text nothing but an object and VT_I4 is taken.
function transactionOf(variant) {
  if (V.isLeftOut(variant)) return {};
  if (V.isObject(variant)) {
    if (!variant.value) return {};
    if (variant.value.className !== "MSMQTransaction") refuse(E.E_INVALIDARG);
    const inner = variant.value.transaction;
    if (!inner || inner.transaction.ended) refuse(E.TRANSACTION_USAGE);
    return { transaction: inner.transaction };
  }
  if (variant.vt !== "I4" || variant.value < 0 || variant.value > 3) refuse(E.E_INVALIDARG);
  return { single: variant.value === 3 };
}

function lookupOf(variant) {
  const value = variant.vt === "BSTR" ? variant.value : V.number(variant) === undefined ? null : variant.value;
  if (value === null || !/^\d+$/.test(String(value))) refuse(E.E_INVALIDARG);
  if (BigInt(value) === 0n) refuse(E.E_INVALIDARG);
  return BigInt(value);
}

// Answer a read: the message as far as it was wanted, or the status.
function answering(self, wants, call) {
  return (status, message) => {
    if (status) return call.reply(status);
    const { received } = require("./message.js");
    return call.reply(0, V.object(received(message, wants, self, call)));
  };
}

const wantsOf = (destination, body, connector) => ({ destination: V.flag(destination, false), body: V.flag(body, true),
  connector: connector ? V.flag(connector, false) : false });

// A read in the order of the queue. takes: receive; cursor: of the object; next: behind where the cursor is.
function ordered({ takes, cursor, next = false, connector = true }) {
  return (self, args, call) => {
    opened(self, takes ? RECEIVES : READS);
    const given = takes ? transactionOf(args[0]) : {};
    const [destination, body, time, connectorType] = takes ? args.slice(1) : args;
    const wants = wantsOf(destination, body, connector ? connectorType : null);
    const how = { takes, next, cursor: cursor ? self.cursor : null, timeoutMs: timeout(time), transaction: given.transaction };
    read(self.descriptor, how, answering(self, wants, call));
  };
}

// A read by lookup identifier. seek: current, next, previous, first or last.
function bySeek(seek, takes, allowPeek = false) {
  const named = seek !== "first" && seek !== "last";
  return (self, args, call) => {
    const lookup = named ? lookupOf(args[0]) : null;
    opened(self, takes ? RECEIVES : READS);
    const rest = named ? args.slice(1) : args;
    const given = takes ? transactionOf(rest[0]) : {};
    const wants = wantsOf(...(takes ? rest.slice(1) : rest));
    readByLookup(self.descriptor, { takes, seek, lookup, allowPeek, transaction: given.transaction }, answering(self, wants, call));
  };
}

function enableNotification(self, [event, cursor, time], call) {
  const which = V.isLeftOut(cursor) ? FIRST : V.number(cursor);
  if (![FIRST, CURRENT, NEXT].includes(which)) refuse(E.E_INVALIDARG);
  opened(self);
  if (!event.value) refuse(E.E_INVALIDARG);
  if (event.value.className !== "MSMQEvent") refuse(E.DISP_E_TYPEMISMATCH);
  if (!READS.includes(self.descriptor.access)) refuse(E.ACCESS_DENIED);
  const timeoutMs = timeout(time);
  const how = { takes: false, next: which === NEXT, cursor: which === FIRST ? null : self.cursor, timeoutMs };
  const fire = (name, ...values) => call.fire(event.value, name, [V.object(self), ...values, V.i4(which)]);
  read(self.descriptor, how, (status) => {
    if (!status) fire("Arrived");
    else if (status !== E.OPERATION_CANCELLED) fire("ArrivedError", V.i4(timeoutMs === 0 ? E.MESSAGE_NOT_FOUND : status));
  });
}

const whenOpened = (get) => (self) => {
  opened(self);
  return get(self);
};
const whenInitialized = (get) => (self) => {
  initialized(self);
  return get(self);
};

const members = {
  "get Access": whenOpened((self) => V.i4(self.descriptor.access)),
  "get ShareMode": whenOpened((self) => V.i4(self.descriptor.share)),
  "get QueueInfo": whenOpened((self) => V.object(self.info)),
  "get Handle": whenOpened((self) => V.i4(self.descriptor.handle)),
  "get Handle2": whenOpened((self) => V.i8(self.descriptor.handle)),
  "get IsOpen": whenInitialized((self) => V.i2(self.isClosed ? 0 : 1)),
  "get IsOpen2": whenInitialized((self) => V.bool(!self.isClosed)),
  "get Properties": () => refuse(E.E_NOTIMPL),
  "method Close": (self, args, { manager }) => {
    opened(self);
    manager.close(self.descriptor);
    Object.assign(self, { descriptor: null, isClosed: true });
  },
  "method Reset": (self) => {
    opened(self);
    self.cursor.reset();
  },
  "method Purge": (self) => {
    opened(self, RECEIVES);
    self.descriptor.queue.purge();
  },
  "method EnableNotification": enableNotification,
};

const READING = {
  Receive: ordered({ takes: true }),
  ReceiveCurrent: ordered({ takes: true, cursor: true }),
  Peek: ordered({ takes: false }),
  PeekCurrent: ordered({ takes: false, cursor: true }),
  PeekNext: ordered({ takes: false, cursor: true, next: true }),
  Receive_v1: ordered({ takes: true, connector: false }),
  ReceiveCurrent_v1: ordered({ takes: true, cursor: true, connector: false }),
  Peek_v1: ordered({ takes: false, connector: false }),
  PeekCurrent_v1: ordered({ takes: false, cursor: true, connector: false }),
  PeekNext_v1: ordered({ takes: false, cursor: true, next: true, connector: false }),
  ReceiveByLookupIdAllowPeek: bySeek("current", true, true),
};
for (const [infix, seek] of Object.entries({ "": "current", Next: "next", Previous: "previous", First: "first", Last: "last" })) {
  READING[`Receive${infix}ByLookupId`] = bySeek(seek, true);
  READING[`Peek${infix}ByLookupId`] = bySeek(seek, false);
}

// Release closes what was left open.
function released(self, { manager }) {
  if (self.descriptor) manager.close(self.descriptor);
  Object.assign(self, { descriptor: null, isClosed: true });
}

const blocking = Object.fromEntries(Object.entries(READING).map(([name, does]) => [`method ${name}`, does]));

module.exports = { MSMQQueue: { make, members, blocking, released }, transactionOf };
