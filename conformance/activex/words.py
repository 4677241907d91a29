"""Acts in the words of a programmer: lines of a story, and programs in VBScript and Python to run on Windows.

A line names the arguments and leaves out those that the client leaves out. The programs make the same calls with the
same types, as far as the language has them, and print the HRESULT of each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from keyword import iskeyword
from typing import Any, Final

from conformance.activex.plans import DIRECT_NAME, LOOKUP, PATH_NAME, SYSTEM_NAME, Act, passes
from conformance.activex.scenes import COMPUTER, MANAGER, QUEUE
from conformance.activex.tables import CLASSES
from conformance.activex.values import MISSING, Variant

_OBJECTS: Final = frozenset({"DISPATCH", "UNKNOWN"})
_FIXED: Final = (COMPUTER, MANAGER, QUEUE, PATH_NAME, DIRECT_NAME, SYSTEM_NAME)
_WORDS: Final = re.compile("|".join(map(re.escape, _FIXED)) + r"|\$\w+")
_NAME: Final = re.compile(r"\$?[A-Za-z][\w-]{0,60}|-?\d{1,40}(\.\d{1,40})?", re.ASCII)
_VBSCRIPT: Final = {
    "I4": "CLng({})",
    "I2": "CInt({})",
    "UI1": "CByte({})",
    "R4": "CSng({})",
    "R8": "CDbl({})",
    "CY": "CCur({})",
    "DATE": "CDate({})",
}
"""How VBScript makes a value of a type. It has no others."""
_BYTES: Final = """Function Bytes(digits)
  Dim node
  Set node = CreateObject("MSXML2.DOMDocument").createElement("b")
  node.dataType = "bin.hex"
  node.text = digits
  Bytes = node.nodeTypedValue
End Function"""
_SAY: Final = """Sub Say(what)
  WScript.Echo what & ": 0x" & Hex(Err.Number)
  Err.Clear
End Sub"""
_PYTHON: Final = """import os
import pythoncom
from win32com.client import VARIANT, Dispatch

def do(what, call):
    try:
        value = call()
    except pythoncom.com_error as error:
        code = error.excepinfo[5] if error.excepinfo and error.excepinfo[5] else error.hresult
        print(what, hex(code & 0xFFFFFFFF))
        return None
    print(what, "S_OK", "" if value is None else repr(value))
    return value

def refer(target, name, value):
    dispid = target._oleobj_.GetIDsOfNames(name)
    target._oleobj_.Invoke(dispid, 0, pythoncom.DISPATCH_PROPERTYPUTREF, False, value and value._oleobj_)

computer = os.environ["COMPUTERNAME"]"""


def act_line(act: Act) -> str:
    """Return an act as a line of a story: `q.Receive(ReceiveTimeout:=0)`."""
    if act.passes_ms:
        return f"{act.passes_ms} ms pass"
    if act.call is None:
        return f"Set {act.object} = New {act.coclass}"
    call = act.call
    target = f"{act.object}.{call.member}"
    values = [_literal(value) for value in call.arguments]
    if call.kind in ("put", "putref"):
        return f"{'Set ' if call.kind == 'putref' else ''}{target} = {values[-1]}"
    line = target
    if call.kind == "method":
        names = _names(call.member, len(values))
        given = [
            f"{name}:={shown}" if name else shown
            for name, shown, value in zip(names, values, call.arguments, strict=False)
            if value != MISSING
        ]
        line = f"{target}({', '.join(given)})" if given else target
    return line if act.gives is None else f"{_identifier(act.gives)} = {line}"


def as_call(act: Act) -> dict[str, Any]:
    """Return an act as the call of a story: with the plan's names in place of handles and of what only a run knows."""
    data = act.to_json()
    if act.passes_ms:
        return {"method": "clock.advance", "params": {"by_ms": act.passes_ms}}
    if act.call is None:
        return {"method": "objects.create", "params": {"class": data["class"]}, "gives": act.object}
    gives = {} if act.gives is None else {"gives": data.pop("gives")}
    return {"method": "objects.invoke", "params": data, **gives}


def acts_of(calls: Iterable[object]) -> tuple[Act, ...]:
    """Return the acts of a story's calls: the inverse of `as_call`. Empty for a story that is not all of such calls."""
    acts: list[Act] = []
    for call in calls:
        if not isinstance(call, Mapping):
            return ()
        method, params = call.get("method"), call.get("params")
        if not isinstance(params, Mapping):
            return ()
        try:
            if method == "clock.advance":
                acts.append(passes(params["by_ms"]))
            elif method == "objects.create":
                acts.append(Act(call["gives"], coclass=params["class"]))
            elif method == "objects.invoke":
                acts.append(Act.from_json({**params, "gives": call.get("gives")}))
            else:
                return ()
        except (KeyError, TypeError, ValueError):
            return ()
    return tuple(acts) if sound(acts) else ()


def sound(acts: Iterable[Act]) -> bool:
    """Tell whether nothing in a plan but its texts is more than a name or a number: only then is it a program."""
    plan = list(acts)
    given = {*_FIXED, *(act.gives for act in plan)}

    def fit(part: Any) -> bool:
        if isinstance(part, Mapping):
            text = part.get("value")
            if isinstance(text, str) and (part["vt"] in ("BSTR", "ARRAY") or text.startswith(LOOKUP)):
                part = {**part, "value": None}
                return given.issuperset(_WORDS.findall(text.removeprefix(LOOKUP))) and fit(part)
            return all(map(fit, part.values()))
        if isinstance(part, str):
            return _NAME.fullmatch(part) is not None and not iskeyword(part.strip("$"))
        return all(map(fit, part)) if isinstance(part, list) else True

    return fit([act.to_json() for act in plan])


def _names(member: str, count: int) -> list[str]:
    """Return the names of a method's arguments; texts without anything where no table has it."""
    for coclass, members in CLASSES.items():
        row = members.get(member) if coclass != "TransactionImpl" else None  # no client calls that by name
        slot = row.slot("method") if row is not None else None
        if slot is not None:
            return [argument.name for argument in slot.arguments if not argument.result]
    return [""] * count


def _literal(value: Variant) -> str:
    if value.vt == "BSTR":
        return "vbNullString" if value.value is None else _quoted(str(value.value))
    if value.vt in _OBJECTS:
        return "Nothing" if value.value is None else _identifier(str(value.value))
    if value.vt == "ARRAY":
        inside = value.value.hex(" ") if isinstance(value.value, bytes) else ", ".join(map(_literal, value.value))
        return f"{value.of}({inside if len(inside) <= 80 else f'{inside[:77]}...'})"
    if value.vt in ("EMPTY", "NULL"):
        return value.vt.capitalize()
    return str(value.value) if value.vt in ("I4", "BOOL") else f"{value.vt}({value.value})"


def _quoted(said: str) -> str:
    shown = said if len(said) <= 80 else f"{said[:77]}..."
    return '"' + shown.replace('"', '""') + '"'


def _identifier(name: str) -> str:
    return re.sub(r"\W", "_", name.removeprefix("$"))


def vbscript(acts: Iterable[Act]) -> str:
    """Return a program for cscript that makes the calls of a plan."""
    listed = list(acts)
    out = [
        "Option Explicit",
        f"Dim {', '.join(_variables(listed))}",
        'computer = CreateObject("WScript.Network").ComputerName',
        *_setup(listed, "&"),
        "On Error Resume Next",
    ]
    for act in listed:
        out += _vbscript_of(act)
    out.append(_SAY)
    if any("Bytes(" in line for line in out):
        out.append(_BYTES)
    return "\n".join(out) + "\n"


def _variables(acts: Iterable[Act]) -> list[str]:
    named = {"computer": None, "queue": None, "manager": None, "path": None, "direct": None, "value": None}
    for act in acts:
        for name in (act.object, act.gives):
            if name:
                named[_identifier(name)] = None
    return list(named)


def _setup(acts: Iterable[Act], joined: str) -> Iterator[str]:
    said = " ".join(str(value.value) for act in acts if act.call for value in act.call.arguments if value.vt == "BSTR")
    yield 'queue = "mqconform"'
    if MANAGER in said:
        yield 'manager = ""  # the GUID of the queue manager' if joined == "+" else 'manager = "" \' its GUID'
    slash = "\\\\" if joined == "+" else "\\"
    yield f'path = computer {joined} "{slash}private${slash}" {joined} queue'
    yield f'direct = "DIRECT=OS:" {joined} path'


def _vbscript_of(act: Act) -> Iterator[str]:
    line = "".join(one if one.isprintable() else " " for one in act_line(act)).replace('"', '""')
    if act.passes_ms:
        yield f"WScript.Sleep {act.passes_ms}"
        return
    if act.call is None:
        yield f'Set {_identifier(act.object)} = CreateObject("MSMQ.{act.coclass}")'
        yield f'Say "{line}"'
        return
    values = [_vbscript_value(value) for value in act.call.arguments]
    lacking = [value.vt for value, shown in zip(act.call.arguments, values, strict=True) if shown is None]
    if lacking:
        yield f"' VBScript has no VT_{lacking[0]}: {line}"
        return
    shown = [value or "" for value in values]
    target = f"{_identifier(act.object)}.{act.call.member}"
    while shown and not shown[-1]:
        shown.pop()
    if act.call.kind in ("put", "putref"):
        yield f"{'Set ' if act.call.kind == 'putref' else ''}{target} = {shown[-1] if shown else 'Empty'}"
    elif act.call.kind == "get" and act.gives is None:
        yield f"value = {target}"
        yield f'If Err.Number = 0 Then WScript.Echo "{act.call.member} = " & value'
    elif act.gives is not None:
        setting = "" if act.gives.startswith("$") else "Set "
        yield f"{setting}{_identifier(act.gives)} = {target}" + (f"({', '.join(shown)})" if shown else "")
    else:
        yield " ".join([target, ", ".join(shown)]).rstrip()
    yield f'Say "{line}"'


def _vbscript_value(value: Variant) -> str | None:
    """Return an expression for a value; an empty text for one that is left out, None for a type that there is not."""
    if value == MISSING:
        return ""
    if value.vt == "BSTR" or _is_lookup(value):
        return "vbNullString" if value.value is None else _text(str(value.value), " & ", _vbscript_text)
    if value.vt in _OBJECTS:
        return "Nothing" if value.value is None else _identifier(str(value.value))
    if value.vt in ("EMPTY", "NULL"):
        return value.vt.capitalize()
    if value.vt == "BOOL":
        return str(bool(value.value))
    if value.vt == "ARRAY" and isinstance(value.value, bytes):
        return f'Bytes("{value.value.hex()}")'
    return _VBSCRIPT[value.vt].format(value.value) if value.vt in _VBSCRIPT else None


def _vbscript_text(piece: str) -> str:
    quoted = '"' + piece.replace('"', '""') + '"'
    return quoted if piece.isascii() and piece.isprintable() else " & ".join(_vbscript_units(piece))


def _vbscript_units(piece: str) -> Iterator[str]:
    units = piece.encode("utf-16-le")
    for at in range(0, len(units), 2):
        yield f"ChrW({int.from_bytes(units[at : at + 2], 'little')})"


def _is_lookup(value: Variant) -> bool:
    """Tell whether a value stands for a lookup identifier, which the program's reader has to fill in."""
    return isinstance(value.value, str) and value.value.startswith(LOOKUP)


def _text(said: str, joined: str, quoted: Callable[[str], str]) -> str:
    """Return a text of a plan as an expression: its words are variables of the program."""
    if said.startswith(LOOKUP):
        said = f"lookup identifier of {said.removeprefix(LOOKUP)}"
    pieces, end = [], 0
    for match in _WORDS.finditer(said):
        if match.start() > end:
            pieces.append(quoted(said[end : match.start()]))
        pieces.append(_identifier(match[0]))
        end = match.end()
    if end < len(said) or not pieces:
        pieces.append(quoted(said[end:]))
    return joined.join(pieces)


def python(acts: Iterable[Act]) -> str:
    """Return a program for pywin32 that makes the calls of a plan."""
    listed = list(acts)
    lines = [_PYTHON, *_setup(listed, "+"), *(_python_of(act) for act in listed)]
    if any(act.passes_ms for act in listed):
        lines.insert(0, "import time")
    return "\n".join(lines) + "\n"


def _python_of(act: Act) -> str:
    if act.passes_ms:
        return f"time.sleep({act.passes_ms / 1000})"
    line = repr(act_line(act))
    if act.call is None:
        return f"{_identifier(act.object)} = do({line}, lambda: Dispatch({f'MSMQ.{act.coclass}'!r}))"
    target, member = _identifier(act.object), act.call.member
    values = [_python_value(value) for value in act.call.arguments]
    if act.call.kind == "putref":
        return f"do({line}, lambda: refer({target}, {member!r}, {values[-1]}))"
    if act.call.kind == "put":
        return f"do({line}, lambda: setattr({target}, {member!r}, {values[-1]}))"
    called = f"{target}.{member}" if act.call.kind == "get" else f"{target}.{member}({', '.join(values)})"
    kept = "" if act.gives is None else f"{_identifier(act.gives)} = "
    return f"{kept}do({line}, lambda: {called})"


def _python_value(value: Variant) -> str:
    if value == MISSING:
        return "pythoncom.Missing"
    if value.vt == "BSTR" or _is_lookup(value):
        return "None" if value.value is None else _text(str(value.value), " + ", repr)
    if value.vt in _OBJECTS:
        return "None" if value.value is None else _identifier(str(value.value))
    if value.vt in ("EMPTY", "NULL"):
        return f"VARIANT(pythoncom.VT_{value.vt}, None)"
    if value.vt == "ARRAY":
        kind = f"pythoncom.VT_ARRAY | pythoncom.VT_{value.of}"
        inside = repr(value.value) if isinstance(value.value, bytes) else repr([one.value for one in value.value])
        return f"VARIANT({kind}, {inside})"
    shown = repr(value.value) if not isinstance(value.value, str) else value.value
    return f"VARIANT(pythoncom.VT_{value.vt}, {shown})"
