"use strict";
// The objects behind their handles: create, invoke, query, describe. A member finds its arguments as its signature declares
// them, as IDispatch::Invoke does.

const { E, Refused, refuse } = require("./errors.js");
const library = require("./type_library.js");
const V = require("./variants.js");

const CLASSES = {
  ...require("./application.js"), ...require("./management.js"), ...require("./transactions.js"), ...require("./query.js"),
  MSMQQueueInfo: require("./queue_info.js").MSMQQueueInfo,
  MSMQQueue: require("./queue.js").MSMQQueue,
  MSMQMessage: require("./message.js").MSMQMessage,
  MSMQDestination: require("./destination.js").MSMQDestination,
  MSMQEvent: require("./event.js").MSMQEvent,
};

function make(className, given = {}) {
  return { ...CLASSES[className].make(given), ...given, className };
}

function create(className) {
  if (!(className in library.classes)) refuse(E.REGDB_E_CLASSNOTREG);
  return make(className);
}

const told = (list, object) => (list ? list(object) : []);
const extra = (object) => told(CLASSES[object.className].also, object); // interfaces beyond those that the IDL lists
const callable = (object) => [...extra(object), ...told(CLASSES[object.className].late, object)]; // and members beyond these

// The arguments of a call, each as its member declares it.
function bound(member, given) {
  const declared = member.arguments.filter((each) => !each.flags.includes("retval"));
  if (given.length > declared.length) refuse(E.DISP_E_BADPARAMCOUNT);
  return declared.map((each, place) => {
    const optional = each.flags.includes("optional");
    if (given[place] === undefined && !optional) refuse(E.DISP_E_BADPARAMCOUNT);
    const variant = given[place] || V.LEFT_OUT;
    if (V.isLeftOut(variant) && !optional) refuse(E.DISP_E_PARAMNOTOPTIONAL);
    return V.isLeftOut(variant) ? variant : V.coerced(variant, each.vt);
  });
}

// Call a member. call: {manager, make, fire, reply}; reply(status, value) is called once, now or later.
function invoke(object, { member: name, kind, arguments: given, interface: interfaceName }, call) {
  try {
    const { members, blocking = {}, unknownOnly } = CLASSES[object.className];
    if (unknownOnly) refuse(E.E_NOINTERFACE);
    if (interfaceName && !implements_(object, interfaceName)) refuse(E.E_NOINTERFACE);
    const { member, known } = library.find(object.className, callable(object), interfaceName, kind, name);
    if (!member) refuse(known ? E.DISP_E_MEMBERNOTFOUND : E.DISP_E_UNKNOWNNAME);
    const args = bound(member, given);
    const id = `${member.kind} ${member.name}`;
    if (id in blocking) return blocking[id](object, args, call);
    const value = members[id](object, args, call);
    return value && "status" in value ? call.reply(value.status) : call.reply(0, value);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return call.reply(error.code);
  }
}

function implements_(object, interfaceName) {
  return [...library.implemented(object.className, extra(object)).values()].includes(interfaceName);
}

// QueryInterface: the object has it, or E_NOINTERFACE.
function query(object, iid) {
  const { unknownOnly, container } = CLASSES[object.className];
  const { IIDS } = library;
  if (iid === IIDS.unknown) return;
  if (unknownOnly && object.className === "TransactionImpl" && iid === IIDS.transaction) return;
  if (unknownOnly) refuse(E.E_NOINTERFACE);
  const known = [IIDS.dispatch, ...(container ? [IIDS.container] : []), ...library.implemented(object.className, extra(object)).keys()];
  if (!known.includes(iid)) refuse(E.E_NOINTERFACE);
}

function release(object, call) {
  const { released } = CLASSES[object.className];
  if (released) released(object, call);
}

module.exports = { create, make, invoke, query, release };
