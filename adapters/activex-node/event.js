"use strict";
// MSMQEvent: MC-MQAC 3.16. Its sinks are behind advise and unadvise of the driver.

const { E, refuse } = require("./errors.js");
const { IIDS } = require("./type_library.js");
const V = require("./variants.js");

function advise(self, sink, iid) {
  if (iid !== IIDS.events) refuse(E.CONNECT_E_NOCONNECTION);
  if (sink === "null") refuse(E.E_POINTER);
  if (sink === "other") refuse(E.CONNECT_E_CANNOTCONNECT);
  self.cookies.add(++self.last);
  return self.last;
}

function unadvise(self, cookie, iid) {
  if (iid !== IIDS.events || !self.cookies.delete(cookie)) refuse(E.CONNECT_E_NOCONNECTION);
}

const members = {
  "get Properties": () => refuse(E.E_NOTIMPL),
  "get Hwnd": () => V.i4(0),
  "method FireArrivedEvent": (self, [queue, cursor], call) => call.fire(self, "Arrived", [V.object(queue.value), cursor]),
  "method FireArrivedErrorEvent": (self, [queue, status, cursor], call) =>
    call.fire(self, "ArrivedError", [V.object(queue.value), V.i4(status.value), cursor]),
};

const released = (self) => self.cookies.clear();

module.exports = { MSMQEvent: { make: () => ({ cookies: new Set(), last: 0 }), members, container: true, released }, advise, unadvise };
