"""Queue names as other products and people write them: what such a text is, and the name that it most likely means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_FORMAT_NAME = re.compile(r"(?i)(?:formatname:|(?:direct|public|private|machine|multicast|connector|dl)=)")
MAX_TEXT = 2_000
"""Longer texts are no names with a slip; nothing is said of them."""
_MOST = 200
_HOST = r"[^\\/:;,@=\s]+"
_NAME = r"[^\\/;,@=]+"


@dataclass(frozen=True, slots=True)
class Spelling:
    """Tells what a text is that is no name. write: the name it most likely means; None if none is found."""

    says: str
    write: str | None = None

    @property
    def sentence(self) -> str:
        """Both, as a sentence."""
        said = f"{self.says[0].upper()}{self.says[1:]}"
        return f"{said}." if self.write is None else f"{said}: write {self.write}"


@dataclass(frozen=True, slots=True)
class _Slip:
    """One thing that is often wrong. form: the only one it is wrong in. becomes: as of `re.sub`; None: no cure."""

    says: str
    pattern: str
    becomes: str | Callable[[re.Match[str]], str] | None
    form: str | None = None


def _uri(found: re.Match[str]) -> str:
    host, private, queue = found.group("host", "private", "queue")
    host = "." if host.lower() == "localhost" else host
    return f"DIRECT=OS:{host}\\{'private$' + chr(92) if private else ''}{queue}"


def _plain(found: re.Match[str]) -> str:
    return found[0].translate({ord(odd): plain for odd, plain in zip("‘’‚“”„–—\u00a0", "'''\"\"\"-- ", strict=True)})


_PATH = rf"(?!(?i:private\$)\\)(?:\.|{_HOST})\\(?:private\$\\)?{_NAME}(?:;{_NAME})?"
_SLIPS = (
    _Slip("a NUL ends the buffer of a C program and is no part of the name", r"\0+$", ""),
    _Slip("it begins with a byte order mark or a character without width", "^[\ufeff\u200b-\u200f\u2060]+", ""),
    _Slip("it has blanks around it", r"^\s+|\s+$", ""),
    _Slip("it has typographic characters of a text editor", "[‘’‚“”„–—\u00a0]+", _plain),
    _Slip("it has quotation marks around it", r"""^(["'`])(.*)\1$""", r"\2"),
    _Slip("'FormatName:' is the prefix of .NET and COM, not part of the name", r"(?i)^formatname:\s*", ""),
    _Slip("'msmq.formatname:' is a scheme of WCF, not part of the name", r"(?i)^msmq\.formatname:\s*", ""),
    _Slip(
        "this is the address of a queue in WCF or MSMQ's URI, not its name",
        rf"(?i)^(?:net\.msmq|msmq)://(?P<host>{_HOST})(?::\d+)?/(?P<private>private\$?/)?(?P<queue>.+)$", _uri,
        "format_name",
    ),
    _Slip("'queue@machine' is an address of NServiceBus or Rebus, not a name",
        rf"(?i)^({_NAME})@(?:formatname:)?direct=(os|tcp):({_HOST})$", r"DIRECT=\2:\3\\private$\\\1", "format_name"),
    _Slip("'queue@machine' is an address of NServiceBus or Rebus, not a name",
        rf"^({_NAME})@({_HOST})$", r"DIRECT=OS:\2\\private$\\\1", "format_name"),
    _Slip("'LABEL:' is .NET's search for a queue by its label, which is not its name", r"(?i)^label:", None),
    _Slip(r"\\?\ and \\.\ belong to names of files and devices", r"^\\\\[?.]\\(?:UNC\\)?", ""),
    _Slip("a name has no two backslashes in front, as a share has", r"^\\\\(?=[^\\])", ""),
    _Slip("each backslash is there twice, as source code writes it",
        r"(?i)^((?:direct=\w+:)?)(.*\\\\.*)$", lambda found: found[1] + re.sub(r"\\{2,}", r"\\", found[2])),
    _Slip("the parts of this name have a backslash between them", r"(?i)^(?!direct=https?:).*/.*$",
        lambda found: found[0].replace("/", "\\")),
    _Slip("'private' lacks its dollar sign", r"(?i)(?<=[\\/])private(?=[\\/])", "private$"),
    _Slip("'private$' is spelled with a percent sign, as in a URL", r"(?i)%24", "$"),
    _Slip("the queue's computer is missing: a dot is this one", r"(?i)^\\?(?=private\$\\)", ".\\\\"),
    _Slip("a path name was given where a format name is needed", rf"(?i)^(?={_PATH}$)", "DIRECT=OS:", "format_name"),
    _Slip("a format name was given where a path name is needed", r"(?i)^direct=os:", "", "path_name"),
    _Slip("'DIRECT=' is missing", r"(?i)^(?=(?:os|tcp|spx|https?):)", "DIRECT=", "format_name"),
    _Slip("'DIRECT' is followed by an equals sign", r"(?i)^(direct|public|private|machine|multicast)\s*:\s*", r"\1="),
    _Slip("blanks belong neither behind '=' nor behind ':'", r"(?i)^(\w+)\s*=\s*(?:(os|tcp|spx)\s*:\s*)?",
        lambda found: re.sub(r"\s", "", found[0])),
    _Slip("an address of IP version 6 has no brackets here", r"(?i)(?<=tcp:)\[([0-9a-f:.%]+)\]", r"\1"),
    _Slip("'TCP:' is followed by an address; a computer's name goes with 'OS:'", r"(?i)^direct=tcp:", "DIRECT=OS:"),
    _Slip("a GUID has no braces here", r"\{([0-9A-Fa-f-]{36})\}", r"\1"),
    _Slip("a comma ends no list", r"[,;]\s*$", "", "multiple_element"),
    _Slip("names of a list have a comma between them, without blanks", r"\s*[,;]\s*(?=\w+=)", ",", "multiple_element"),
    _Slip("the subqueue's name behind ';' is missing", r";\s*$", ""),
    _Slip("a queue and its subqueue have no blank between them", r";\s+", ";"),
    _Slip("the address of a multicast name has no leading zeros", r"(?i)(?<=[=.])0+(?=\d)", ""),
    _Slip("a multicast name ends with a port", r"(?i)^multicast=[\d.]+$", None),
    _Slip("the address of a multicast name is one from 224.0.0.0 to 239.255.255.255",
        r"(?i)^multicast=(?!0*(?:22[4-9]|23\d)\.)", None),
    _Slip("this is a list of names, whose form is multiple_element",
        r"(?i)[,;]\s*(?=(?:direct|public|private|machine|dl)=)", None, "format_name"),
    _Slip("a format name was given where a path name is needed",
        _FORMAT_NAME.pattern.replace("(?i)", "(?i)^"), None, "path_name"),
    _Slip("the queue's journal is named behind a semicolon", r"(?i)\\journal\$?$", ";JOURNAL"),
    _Slip("the queue's name is missing behind the computer's", r"(?i)^direct=(?:os|tcp|spx):[^\\/]+\\?$", None),
    _Slip("the name of a queue has at most 124 characters", r"[^\\;]{125,}", None),
    _Slip("the computer is missing before the queue, as in .\\private$\\NAME", r"^[^\\/:=;,@]+$", None),
    _Slip("a queue has subqueues, and these have none", r";[^;,=]+;[^;,=]+$", None),
)  # fmt: skip


def spelling(text: str, form: str, accepts: Callable[[str], bool]) -> Spelling | None:
    """Return what a text is that is not a name of this form; None if it looks like nothing known.

    accepts: tells whether a text is one; of a path name that looks like a format name something is said all the
    same. Up to four slips are mended at once, as few as possible.
    """

    def right(one: str) -> bool:
        return accepts(one) and not (form == "path_name" and _FORMAT_NAME.match(one))

    if len(text) > MAX_TEXT or right(text):
        return None
    states: dict[str, tuple[str, ...]] = {text: ()}
    for one in (queue := [text]):
        for says, changed in _mended(one, form) if len(states[one]) < 4 and len(states) < _MOST else ():
            if changed in states:
                continue
            states[changed] = (*states[one], says)
            if right(changed):
                return Spelling("; ".join(dict.fromkeys(states[changed])), changed)
            queue.append(changed)
    said = next(_mended(text, form), None)
    return None if said is None else Spelling(said[0])


def _mended(text: str, form: str) -> Iterator[tuple[str, str]]:
    """Yield what is wrong and the text without it, for each slip; the same text where nothing mends it."""
    for slip in _SLIPS:
        if slip.form in (None, form) and re.search(slip.pattern, text):
            changed = text if slip.becomes is None else re.sub(slip.pattern, slip.becomes, text)
            if changed != text or slip.becomes is None:
                yield slip.says, changed
