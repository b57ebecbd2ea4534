"""Finds the program, starts it, and reads what it says.

With ``JUMBOLAB_MESSAGES=json`` the program writes objects to stderr (docs/reference/json.md,
"Messages for programs"), and stops when the thread that started it ends.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ._errors import JumbolabError
from ._shapes import Object, objects, short

#: The variable that names another program than that of the wheel.
VARIABLE = "JUMBOLAB_BIN"

#: The exit codes of a program that did its work: sound, not sound, and undecided.
DONE = (0, 1, 3)

#: The exit code of a program that a signal stopped and that kept what it measured.
STOPPED = 130

#: The longest argument that Linux passes on.
LONGEST_ARGUMENT = 128 * 1024 - 1

#: What an error of the program may have: docs/reference/json.md, "Messages for programs".
ERROR_KEYS = ("message", "file", "line", "argument", "key", "value")

Listener = Callable[[Object], None]


def program() -> Path:
    """The program: that of ``JUMBOLAB_BIN``, of the wheel, or in the ``PATH``."""
    named = os.environ.get(VARIABLE)
    if named:
        if os.path.isfile(named) and os.access(named, os.X_OK):  # noqa: PTH113 - any text
            # It is started in other folders.
            return Path(named).absolute()
        raise JumbolabError(f"{VARIABLE}={named} is no program; unset it or name one")
    schemes = [None, f"{os.name}_user"]
    places = [
        sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts")
        for scheme in schemes
    ]
    # `pip install --target DIR` puts programs beside the packages.
    places.append(str(Path(__file__).parents[1] / "bin"))
    for place in places:
        found = Path(place) / "jumbolab"
        if os.access(found, os.X_OK):
            return found
    in_path = shutil.which("jumbolab")
    if in_path is None:
        raise JumbolabError(
            f"the program jumbolab is not there; install the wheel again, or name it by {VARIABLE}"
        )
    return Path(in_path).absolute()


def version() -> str:
    """The version of the program."""
    return ask(["--version"]).removeprefix("jumbolab ").strip()


#: Where the objects of the program stand, in errors.
PRINTED = "stdout of the program"


@dataclass
class Outcome:
    """How the program ended and what it printed."""

    code: int
    stdout: str
    #: The folders of results: one for each backend.
    folders: list[Path] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    error: JumbolabError | None = None
    was_interrupted: bool = False

    def objects(self) -> list[Object]:
        """The JSON Lines of stdout."""
        return objects(self.stdout, PRINTED)


def start(
    arguments: Sequence[str],
    *,
    listener: Listener | None = None,
    folder: Path | None = None,
) -> Outcome:
    """Runs the program to its end; Ctrl-C stops it, and it keeps what it measured.

    Args:
        arguments: Its arguments.
        listener: Receives each object of stderr.
        folder: The folder that it runs in.
    """
    outcome = Outcome(code=0, stdout="")
    with tempfile.TemporaryFile() as stdout:
        # A session of its own: Ctrl-C of a terminal would reach it twice, which ends it
        # at once.
        with _Deferred() as ctrl_c, _begun(arguments, stdout, folder) as process:
            assert process.stderr is not None
            try:
                ctrl_c.let()
                _listen(process.stderr, outcome, listener)
                process.wait()
            except BaseException as error:
                process.send_signal(signal.SIGINT)
                _listen(process.stderr, outcome, None)
                process.wait()
                if not isinstance(error, KeyboardInterrupt):
                    raise
                outcome.was_interrupted = True
        stdout.seek(0)
        outcome.stdout = stdout.read().decode("utf-8", errors="replace")
    outcome.code = process.returncode
    if outcome.error is not None:
        outcome.error.code = outcome.code
    return outcome


class _Deferred:
    """Defers Ctrl-C while the program starts: without its process nobody could stop it."""

    def __init__(self) -> None:
        self._came = False
        self._before: Any = None

    def __enter__(self) -> _Deferred:
        before = signal.getsignal(signal.SIGINT)
        if callable(before) and threading.current_thread() is threading.main_thread():
            self._before = before
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        self.let()

    def let(self) -> None:
        """Lets Ctrl-C through, also one that was deferred."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None
        if self._came:
            self._came = False
            raise KeyboardInterrupt

    def _note(self, *_: object) -> None:
        self._came = True


def _begun(
    arguments: Sequence[str], stdout: IO[bytes], folder: Path | None
) -> subprocess.Popen[bytes]:
    for argument in arguments:
        try:
            size = len(os.fsencode(argument))
        except UnicodeEncodeError as error:
            raise JumbolabError(f"argument {short(argument)} is no text: {error.reason}") from error
        if "\0" in argument:
            raise JumbolabError(f"argument {short(argument)} has a NUL: write it without")
        if size > LONGEST_ARGUMENT:
            raise JumbolabError(
                f"argument {short(argument)} has {size} bytes, more than {LONGEST_ARGUMENT}, the "
                "limit of the system"
            )
    binary = program()
    try:
        return subprocess.Popen(
            [str(binary), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, "JUMBOLAB_MESSAGES": "json"},
            start_new_session=True,
        )
    except OSError as error:
        raise JumbolabError(f"cannot start {binary}: {error.strerror or error}") from error


def finish(outcome: Outcome) -> Outcome:
    """The outcome of a program that did its work; whether its results are sound is not asked.

    Raises:
        JumbolabError: It did not.
        KeyboardInterrupt: The user stopped it.
    """
    if outcome.was_interrupted:
        raise KeyboardInterrupt
    if outcome.code in DONE:
        return outcome
    raise failure(outcome)


def failure(outcome: Outcome) -> JumbolabError:
    """Why a program did not do its work."""
    if outcome.error is not None:
        return outcome.error
    said = "; ".join(outcome.messages[-3:]) or "it said nothing"
    return JumbolabError(f"the program ended with {outcome.code}: {said}", code=outcome.code)


def ask(arguments: Sequence[str]) -> str:
    """What the program prints.

    Raises:
        JumbolabError: It could not do it.
        KeyboardInterrupt: The user stopped it.
    """
    return finish(start(arguments)).stdout


def ask_objects(arguments: Sequence[str]) -> list[Object]:
    """The JSON Lines that the program prints."""
    return objects(ask(arguments), PRINTED)


def _listen(stderr: Iterable[bytes], outcome: Outcome, listener: Listener | None) -> None:
    for line in stderr:
        said = _object(line)
        match said["kind"]:
            case "folder":
                outcome.folders.append(Path(said["folder"]))
            case "error":
                known: Object = {key: said.get(key) for key in ERROR_KEYS}
                outcome.error = JumbolabError(**known)
            case "message":
                outcome.messages.append(said["message"])
        if listener is not None:
            listener(said)


def _object(line: bytes) -> Object:
    text = line.decode("utf-8", errors="replace").rstrip("\n")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = None
    # What a library or the loader of programs prints is no object, or another one.
    return said if _is_known(said) else {"kind": "message", "message": text}


def _is_known(said: object) -> bool:
    match said:
        case {"kind": "message" | "error", "message": str()} | {"kind": "folder", "folder": str()}:
            return True
        case {"kind": "progress", "total": int() | float(), "done": int() | float()}:
            return True
        case {"kind": "progress", "settings": int() | float(), "part": int() | float()}:
            return True
    return False
