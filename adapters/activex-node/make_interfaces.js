"use strict";
// Writes interfaces.json from section 6 of MC-MQAC: node make_interfaces.js MC-MQAC.md MS-MQMQ.md > interfaces.json
// The texts are Markdown, and their conversion left slips of the pen behind; each is mended by a rule below, with its reason.

const fs = require("fs");

const [mqac, mqmq] = process.argv.slice(2).map((name) => fs.readFileSync(name, "utf8"));
const idl = mqac
  .split("\n## 6 Appendix A")[1]
  .split("\n## 7 Appendix B")[0]
  .replace(/\\/g, "") // Markdown escapes its underscores
  .replace(/^```$/gm, "")
  .replace(/\/\/.*$/gm, "")
  .replace(/IMSMPPrivateEvent/g, "IMSMQPrivateEvent") // 1.9 and 3.16.4.3 have the other spelling
  .replace(/eba96ble/g, "eba96b1e") // 1.9 has the digit
  .replace(/(HRESULT \w+) v(\d)\(/g, "$1_v$2(") // an underscore was lost
  .replace(/proppget/g, "propget");

const TYPES = { long: "I4", short: "I2", BSTR: "BSTR", VARIANT: "VARIANT", VARIANT_BOOL: "BOOL", HRESULT: "ERROR", DWORD: "UI4" };
const KINDS = { propget: "get", propput: "put", propputref: "putref" };

function typeOf(name) {
  if (TYPES[name]) return TYPES[name];
  if (name === "IUnknown") return "UNKNOWN";
  return name.startsWith("I") ? "DISPATCH" : null;
}

// "[in, optional] VARIANT *Label" -> {name, vt, flags, type}
function argument(text) {
  const parsed = /^\[([^\]]*)\]\s*(\w+)[\s*]*(\w+)$/.exec(text.trim().replace(/\s+/g, " "));
  if (!parsed) throw new Error(`no argument: ${text}`);
  const [, flags, type, name] = parsed;
  return { name, vt: typeOf(type), flags: flags.split(",").map((each) => each.trim()) };
}

function member([, attributes = "", name, inside]) {
  const list = inside.trim().replace(/[)\s;]*$/, "").split(/,(?![^[]*\])/).filter((each) => each.trim()).map(argument);
  let kind = attributes.split(",").map((each) => KINDS[each.trim()]).find(Boolean) || "method";
  // A put that answers something is a get; one that takes an object is a putref, as the tables of 3.17.4 have it.
  if (kind === "put" && list[0].flags.includes("retval")) kind = "get";
  if (kind === "put" && list[0].vt === "DISPATCH") kind = "putref";
  const dispid = /id\((\d+)\)/.exec(attributes);
  return { name, kind, ...(dispid ? { dispid: Number(dispid[1]) } : {}), arguments: list };
}

// A member ends where the next one begins: a few lack their closing bracket.
function members(body) {
  const begin = String.raw`(?:\[([^\]]*)\]\s*)?\b(?:HRESULT|void)\s+(\w+)\s*\(`;
  const text = body.replace(/[{}]/g, " ").replace(/\w+:\s*$/gm, "").replace(/\[\s*$/, "").split("coclass")[0];
  return [...text.matchAll(new RegExp(`${begin}([\\s\\S]*?)(?=${begin}|$)`, "g"))].map((each) => member(each));
}

// The ends of pages left closing braces inside interfaces, so an interface ends where the attributes of the next one begin.
function interfaces() {
  const found = {};
  for (const part of idl.split(/\[\s*(?=(?:object,\s*)?uuid\()/).slice(1)) {
    const head = /^[\s\S]*?uuid\(([0-9A-Fa-f-]+)\)[^{}]*?(?:dispinterface|interface)\s+(\w+)\s*(?::\s*(\w+))?\s*\{/.exec(part);
    if (!head || !/^I?_?D?MSMQ/.test(head[2])) continue;
    const [whole, uuid, name, base] = head;
    found[name] = { iid: uuid.toLowerCase(), base: base || "IDispatch", members: members(part.slice(whole.length)) };
  }
  return found;
}

function classes() {
  const found = {};
  for (const [, uuid, name, body] of idl.matchAll(/uuid\(([0-9A-Fa-f-]+)\)[^{}]*?coclass\s+(\w+)\s*\{([\s\S]*?)\}/g)) {
    const lines = body.split(";").map((each) => each.trim()).filter(Boolean);
    const own = lines.filter((each) => !each.includes("source"));
    own.sort((a, b) => b.startsWith("[default]") - a.startsWith("[default]"));
    const source = lines.filter((each) => each.includes("source")).map((each) => each.split(/\s+/).pop());
    found[name] = { clsid: uuid.toLowerCase(), interfaces: own.map((each) => each.split(/\s+/).pop()) };
    if (source.length) found[name].source = source[0];
  }
  return found;
}

// Values that 2.4 of MS-MQMQ has: section 6 has slipped by a line in the first twenty codes of MQERROR.
function codes() {
  const found = {};
  const part = mqmq.split(/\n#+ 2\.4 /).pop();
  for (const [, value, name] of part.matchAll(/(0x[0-9A-Fa-f]{8})[\s\S]{0,40}?(MQ_\w+)/g)) found[name] = parseInt(value, 16);
  return found;
}

function enumerations() {
  const found = {};
  const right = codes();
  const named = idl.replace(/typedef enum\s*\{([^}]*)\}\s*(\w+);/g, "enum $2 {$1}; [");
  for (const [, name, body] of named.matchAll(/\benum\s+(\w+)\s*\{([\s\S]*?)(?=\benum\s|\[|$)/g)) {
    const values = {};
    let next = 0;
    for (const [, constant, value] of body.matchAll(/\b([A-Z]\w+)\s*(?:=\s*(\w+))?/g)) {
      next = value === undefined ? next : Number(value);
      values[constant] = name === "MQERROR" && constant in right ? right[constant] : next;
      next += 1;
    }
    found[name] = values;
  }
  return found;
}

function lines(object, one) {
  return "{\n" + Object.entries(object).map(([name, value]) => `  ${JSON.stringify(name)}: ${one(value)}`).join(",\n") + "\n }";
}

function shown({ iid, base, members: list }) {
  const rows = list.map((each) => "    " + JSON.stringify(each));
  return `{"iid": "${iid}", "base": "${base}", "members": [${rows.length ? "\n" + rows.join(",\n") + "\n  " : ""}]}`;
}

process.stdout.write(`{
 "classes": ${lines(classes(), JSON.stringify)},
 "enumerations": ${lines(enumerations(), JSON.stringify)},
 "interfaces": ${lines(interfaces(), shown)}
}
`);
