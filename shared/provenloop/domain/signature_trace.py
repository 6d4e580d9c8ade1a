"""The error line of a stack trace. Frames differ between two runs of one fault; the chain of errors does not.

Knows the forms of Python, Java and its kin, JavaScript, .NET, Go, Ruby, PHP and Rust. Text without frames comes back
as it is. Invariant: linear time.
"""

from __future__ import annotations

import re

_PYTHON_HEAD = "Traceback (most recent call last):"
#: Lines of a trace that are not the error: frames, the count of those left out, ends of inner traces.
_FRAME = re.compile(
    r"\s*(?:at\s+\S|\.{3} [0-9]+ (?:more|common)|from \S+:[0-9]+:in |#[0-9]+ |--- End of |[0-9]+: +0x|thrown in /)"
)
#: From here on there are only frames or advice.
_TAIL = re.compile(r"(?:goroutine [0-9]+ \[|stack backtrace:|Stack trace:|note: run with )")
_CAUSE = re.compile(r"\s*(?:Caused by: |Suppressed: |\[cause\]: )")
_ERROR = re.compile(r"\s*(?:[A-Za-z]+ ){0,4}?(?:[\w.$]*(?:Error|Exception|Throwable|Fault|panic)\w*)(?:[:\s\[]|\Z)")
#: Prefix and rule lines of a Python exception group.
_GROUP_PREFIX = re.compile(r"\s*\| ?")
_GROUP_RULE = re.compile(r"\s*\+[-+ 0-9.]*\Z")
#: What a line is shows in its beginning.
_LINE_CHARS = 400


def error_lines(text: str) -> str:
    """The part of a text that says what failed, without frames; the text itself where it holds none."""
    if "\n" not in text:
        return text
    if _PYTHON_HEAD in text:
        return _last_of_python(text)
    lines = text.splitlines()
    kept, frames = _without_frames(lines)
    return "\n".join(kept) if frames else text


def _last_of_python(text: str) -> str:
    """What stands after the frames of the last Python trace, up to a blank line."""
    error: list[str] = []
    for line in text.rpartition(_PYTHON_HEAD)[2].splitlines():
        inner = _GROUP_PREFIX.sub("", line, count=1) if _GROUP_PREFIX.match(line) else line
        ended = not inner.strip() or _GROUP_RULE.match(line[:_LINE_CHARS])
        if error and ended:
            break
        if not ended and (error or not inner[:1].isspace()):
            error.append(inner.strip())
    return "\n".join(error) if error else text.strip().rpartition("\n")[2].strip()


def _without_frames(lines: list[str]) -> tuple[list[str], bool]:
    """Error lines (the first and the causes), and whether there were frames at all."""
    message: list[str] = []
    causes: list[str] = []
    frames = False
    for line in lines:
        beginning = line[:_LINE_CHARS]
        if _TAIL.match(beginning):
            frames = True
            break
        if _FRAME.match(beginning):
            frames = True
        elif _CAUSE.match(beginning):
            causes.append(line.strip())
        elif not frames:
            message.append(line)
    return _from_error(message) + causes, frames


def _from_error(message: list[str]) -> list[str]:
    """The lines from the first that names an error on; all where none does. What precedes it is source or context."""
    for index, line in enumerate(message):
        if _ERROR.match(line[:_LINE_CHARS]):
            return message[index:]
    return message
