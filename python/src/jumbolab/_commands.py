"""The commands of the program that run, search, list and predict."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import pyarrow as pa

from ._backends import Backends
from ._errors import Interrupted, JumbolabError
from ._files import LARGEST_JOURNAL, Folder, MissingFile
from ._program import PRINTED, Outcome, ask, ask_objects, finish, program, start
from ._progress import Bar
from ._results import Results, _table
from ._shapes import read_json, record

_JOURNAL = re.compile(r"trials(\..+)?\.jsonl")

#: A value of ``set``: as on the command line, or a list of levels.
Value = str | int | float | bool | Sequence[str | int | float | bool]
Settings = Mapping[str, Value]


@dataclass(frozen=True)
class Experiment:
    """A shipped experiment."""

    name: str
    title: str


@dataclass(frozen=True)
class Plan:
    """What a run would do: docs/reference/json.md, "run --dry-run --json"."""

    plan: str
    title: str
    backend: str
    hash: str
    cells: int
    repeat: int
    trials: int
    seed: int
    until: str | None
    version: str
    binary: str


def list() -> builtins.list[Experiment]:
    """The shipped experiments."""
    shape = record(Experiment, further=True)
    lines = ask(["list", "--json"]).splitlines()
    return [read_json(line, PRINTED, shape) for line in lines]


def plan(
    experiment: str | PathLike[str],
    *,
    set: Settings | None = None,
    on: str | None = None,
    repeat: int | None = None,
) -> Plan:
    """What `run` would do with these arguments, and which build of the program it is."""
    words = ["run", *arguments(set, on, repeat), "--dry-run", "--json", "--", path_of(experiment)]
    return read_json(ask(words), PRINTED, record(Plan, further=True))


def run(
    experiment: str | PathLike[str],
    *,
    set: Settings | None = None,
    on: str | None = None,
    repeat: int | None = None,
    threads: int | None = None,
    output: str | PathLike[str] | None = None,
    resume: bool | str = False,
    retry: bool = False,
    shard: str | None = None,
    hosts: Iterable[str] = (),
    allow_commands: bool = False,
    progress: bool | None = None,
) -> Results:
    """Runs an experiment.

    Args:
        experiment: Name of a shipped experiment, or path of a TOML file.
        set: Values of keys or short names; a list makes a sweep.
        on: Backend: ``netns``, ``hosts``, ``sim`` or ``model``. Several, as in
            ``"model,sim,netns"``, give `Backends`.
        repeat: Trials of each cell.
        threads: Parallel trials, in the backend ``sim``.
        output: Folder for the results instead of ``results/NAME-HASH``.
        resume: Go on with an interrupted run; ``"force"`` with any kernel and program.
        retry: With `resume`: run failed trials again.
        shard: Run a part alone, such as ``"1/3"``, in the backend ``sim``.
        hosts: Machines of the backend ``hosts``: ``"sender=a,interface=eth1"``.
        allow_commands: Start programs of an experiment that belongs to another user.
        progress: Show a bar; None: on terminals and in notebooks.

    Raises:
        JumbolabError: The program could not do it.
        Interrupted: The user stopped it; it has what was measured.
    """
    words = ["run", *arguments(set, on, repeat)]
    words += [f"--host={written(host)}" for host in hosts]
    words += options_of(threads=threads, output=output, shard=shard)
    words += _resumed(resume) + options_of(retry=retry, allow_commands=allow_commands)
    return _watched(words, path_of(experiment), on, progress)


def sensitivity(
    experiment: str | PathLike[str],
    *,
    set: Settings | None = None,
    on: str | None = None,
    seed: int | None = None,
    max_time: str | None = None,
    max_trials: int | None = None,
    threads: int | None = None,
    output: str | PathLike[str] | None = None,
    resume: bool | str = False,
    progress: bool | None = None,
) -> Results:
    """Searches which settings that a study does not state decide its claims.

    The answers are the objects of ``Results.lines``: docs/reference/json.md, "sensitivity --json".

    Args:
        experiment: Name of a shipped experiment, or path of a TOML file.
        set: Values of keys; a setting that is set leaves the search.
        on: Backend: ``netns`` or ``sim``.
        seed: Seed of the search.
        max_time: Longest time, such as ``"2h"``; None: 10 minutes without `max_trials`.
        max_trials: Number of trials, in place of a time.
        threads: Parallel trials, in the backend ``sim``.
        output: Folder for the results.
        resume: Go on with an earlier search; ``"force"`` with any kernel and program.
        progress: Show a bar; None: on terminals and in notebooks.
    """
    words = ["sensitivity", *arguments(set, on, None)]
    words += options_of(
        seed=seed, max_time=max_time, max_trials=max_trials, threads=threads, output=output
    )
    words += _resumed(resume)
    return _watched(words, path_of(experiment), on, progress)


def predict(command: str | None = None, **options: Any) -> pa.Table:
    """What headers, rates and MTUs alone decide: ``jumbolab predict``.

    Args:
        command: ``overhead``, ``limit``, ``optimal`` or ``arithmetic``; None: frames and time
            of a ``size``.
        options: Those of the command line; a list is joined by commas, and an option that is
            a word of Python ends in ``_``: ``from_``.

    Returns:
        A row for each line of ``predict --json``.
    """
    named = [written(command)] if command else []
    if named and named[0].startswith("-"):
        raise JumbolabError(f"{named[0]} is no command of predict; give options by their names")
    words = ["predict", *named, *options_of(**options), "--json"]
    return _table(ask_objects(words))


def settled(set: Settings | None) -> dict[str, Value]:
    """Values as on the command line: an iterator gives its own only once."""
    return {key: written(value) for key, value in (set or {}).items()}


def arguments(set: Settings | None, on: str | None, repeat: int | None) -> builtins.list[str]:
    """The options of the command line that choose what is run."""
    words = [f"--set={key}={written(value)}" for key, value in (set or {}).items()]
    return words + options_of(on=on, repeat=repeat)


def path_of(experiment: str | PathLike[str]) -> str:
    """An experiment as on the command line, behind ``--``.

    Raises:
        TypeError: It is neither a text nor a path of texts.
    """
    path = fspath(experiment)
    if not isinstance(path, str):
        raise TypeError(f"an experiment is a str or a path of str, not {type(path).__name__}")
    return path


def written(value: Value) -> str:
    """A value as on the command line.

    Raises:
        TypeError: It is neither a text, a number, nor a list of these.
    """
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        return ",".join(_scalar(one) for one in value)
    return _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | Real):
        return str(value)
    raise TypeError(f"a text, a number or a list of these is needed, not {type(value).__name__}")


def options_of(**options: Any) -> builtins.list[str]:
    """Options of the command line; one that is a word of Python ends in ``_``."""
    words: builtins.list[str] = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            # In one word a value that begins with a hyphen is no option.
            words.append(
                f"{option}={path_of(value) if isinstance(value, PathLike) else written(value)}"
            )
    return words


def _resumed(resume: bool | str) -> builtins.list[str]:
    if isinstance(resume, str):
        return [f"--resume={resume}"]
    return ["--resume"] if resume else []


def _watched(
    words: builtins.list[str], title: str, on: str | None, progress: bool | None
) -> Results:
    with Bar(title, progress) as bar:
        outcome = start([*words, "--json", "--", title], listener=bar.take)
    results = _results(outcome, on)
    if outcome.was_interrupted:
        folder = f"what was measured is in {results.path}" if results else "nothing was measured"
        raise Interrupted(f"stopped; {folder}", results)
    finish(outcome)
    if results is None:
        raise JumbolabError(f"{program()} named no folder with results; is it jumbolab?")
    results.__dict__["lines"] = outcome.objects()
    return results


def _results(outcome: Outcome, on: str | None) -> Results | None:
    begun = [folder.absolute() for folder in outcome.folders if _has_trials(folder)]
    if not begun:
        return None
    # As they were named: backends in a sandbox run last.
    named = on.split(",") if on else []
    begun.sort(key=lambda folder: _place(named, str(Results(folder).plan["run"]["backend"])))
    return Results(begun[0]) if len(begun) == 1 else Backends(begun)


def _has_trials(path: Path) -> bool:
    try:
        with Folder(path) as folder:
            names = [name for name in folder.names() if _JOURNAL.fullmatch(name)]
            return any(next(folder.blocks(name, LARGEST_JOURNAL), b"") for name in names)
    except MissingFile:
        return False


def _place(names: builtins.list[str], name: str) -> int:
    return names.index(name) if name in names else len(names)
