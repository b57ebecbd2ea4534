"""Errors of the program as exceptions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._results import Results
    from ._tools import Output

#: The most characters of a message.
LONGEST_MESSAGE = 4000

#: Control characters, line separators, characters that change the direction of text
#: [UAX9 s2], and surrogates, which no terminal takes.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def one_line(text: str) -> str:
    """Text from outside as the program prints it: one line, escaped, of limited length."""
    if len(text) > LONGEST_MESSAGE:
        text = text[: LONGEST_MESSAGE - 3] + "..."
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


class JumbolabError(Exception):
    """The program could not do its work.

    Attributes:
        message: One line: place, key, value, and what would be right.
        file: The file that is wrong, if one is.
        line: Its line, from 1.
        argument: The argument that is wrong, with its option: ``--set mtu=0``.
        key: The dotted key.
        value: The value, as TOML.
        code: The exit code of the program, if it ran.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        argument: str | None = None,
        key: str | None = None,
        value: str | None = None,
        code: int | None = None,
    ) -> None:
        message = one_line(message)
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.argument = argument
        self.key = key
        self.value = value
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:
        # The usual way loses what is given by keyword; workers send exceptions to clients.
        return (_rebuilt, (type(self), self.message, {**self.__dict__}))

    def at(self, place: str) -> JumbolabError:
        """The same error with the place where it happened in front of it."""
        message = one_line(f"{place}: {self.message}")
        return _rebuilt(type(self), message, {**self.__dict__, "message": message})


class VersionMismatch(JumbolabError):
    """Programs that are to work together are different builds, or plan differently."""


class Interrupted(KeyboardInterrupt):
    """The user stopped a command; it is a ``KeyboardInterrupt``.

    Attributes:
        results: What a run measured before, or None if that was nothing.
        output: What a probe, a mesh or a sender printed, or None.
    """

    def __init__(self, message: str, results: Results | None, output: Output | None = None) -> None:
        super().__init__(message)
        self.results = results
        self.output = output


def _rebuilt(kind: type[JumbolabError], message: str, state: dict[str, Any]) -> JumbolabError:
    error = kind(message)
    error.__dict__.update(state)
    return error
