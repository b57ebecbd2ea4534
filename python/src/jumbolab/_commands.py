"""The commands of the program that run, search, list and predict."""

from __future__ import annotations

import builtins
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

import pyarrow as pa

from ._errors import Interrupted
from ._program import Outcome, ask, finish, start
from ._progress import Bar
from ._results import Results, _table
from ._worlds import Worlds

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
    """What a run would do: docs/formats.md, "run --dry-run --json"."""

    plan: str
    title: str
    world: str
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
    objects = [json.loads(line) for line in ask(["list", "--json"]).splitlines()]
    return [Experiment(one["name"], one["title"]) for one in objects]


def plan(
    experiment: str | PathLike[str],
    *,
    set: Settings | None = None,
    on: str | None = None,
    repeat: int | None = None,
) -> Plan:
    """What `run` would do with these arguments, and which build of the program it is."""
    words = ["run", *arguments(experiment, set, on, repeat), "--dry-run", "--json"]
    known = Plan.__dataclass_fields__
    said = json.loads(ask(words))
    return Plan(**{key: value for key, value in said.items() if key in known})


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
        on: World: ``netns``, ``hosts``, ``sim`` or ``model``. Several, as in
            ``"model,sim,netns"``, give `Worlds`.
        repeat: Trials of each cell.
        threads: Parallel trials, in the world ``sim``.
        output: Folder for the results instead of ``results/NAME-HASH``.
        resume: Go on with an interrupted run; ``"force"`` with any kernel and program.
        retry: With `resume`: run failed trials again.
        shard: Run a part alone, such as ``"1/3"``, in the world ``sim``.
        hosts: Machines of the world ``hosts``: ``"sender=a,interface=eth1"``.
        allow_commands: Start programs of an experiment that belongs to another user.
        progress: Show a bar; None: on terminals and in notebooks.

    Raises:
        JumbolabError: The program could not do it.
        Interrupted: The user stopped it; it has what was measured.
    """
    words = ["run", *arguments(experiment, set, on, repeat)]
    words += [word for host in hosts for word in ("--host", host)]
    words += _options(threads=threads, output=output, shard=shard)
    words += _resumed(resume) + _options(retry=retry, allow_commands=allow_commands)
    return _watched(words, str(experiment), on, progress)


def robustness(
    experiment: str | PathLike[str],
    *,
    set: Settings | None = None,
    on: str | None = None,
    seed: int | None = None,
    budget: str = "10min",
    threads: int | None = None,
    output: str | PathLike[str] | None = None,
    resume: bool | str = False,
    progress: bool | None = None,
) -> Results:
    """Searches which settings that a study does not state decide its claims.

    The answers are the objects of ``Results.lines``: docs/formats.md, "robustness --json".

    Args:
        experiment: Name of a shipped experiment, or path of a TOML file.
        set: Values of keys; a setting that is set leaves the search.
        on: World: ``netns`` or ``sim``.
        seed: Seed of the search.
        budget: A time such as ``"2h"``, or trials: ``"runs=5000"``.
        threads: Parallel trials, in the world ``sim``.
        output: Folder for the results.
        resume: Go on with an earlier search; ``"force"`` with any kernel and program.
        progress: Show a bar; None: on terminals and in notebooks.
    """
    words = ["robustness", *arguments(experiment, set, on, None)]
    words += _options(seed=seed, budget=budget, threads=threads, output=output)
    words += _resumed(resume)
    return _watched(words, str(experiment), on, progress)


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
    words = ["predict", *([command] if command else []), *_options(**options), "--json"]
    return _table(json.loads(line) for line in ask(words).splitlines())


def arguments(
    experiment: str | PathLike[str],
    set: Settings | None,
    on: str | None,
    repeat: int | None,
) -> builtins.list[str]:
    """The words of the command line that choose what is run."""
    words = [fspath(experiment)]
    for key, value in (set or {}).items():
        words += ["--set", f"{key}={written(value)}"]
    return words + _options(on=on, repeat=repeat)


def written(value: Value) -> str:
    """A value as on the command line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    return ",".join(written(one) for one in value)


def _options(**options: Any) -> builtins.list[str]:
    words: builtins.list[str] = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            words += [option, fspath(value) if isinstance(value, PathLike) else written(value)]
    return words


def _resumed(resume: bool | str) -> builtins.list[str]:
    if isinstance(resume, str):
        return [f"--resume={resume}"]
    return ["--resume"] if resume else []


def _watched(
    words: builtins.list[str], title: str, on: str | None, progress: bool | None
) -> Results:
    with Bar(title, progress) as bar:
        outcome = start([*words, "--json"], listener=bar.take)
    results = _results(outcome, on)
    if outcome.was_interrupted:
        folder = f"what was measured is in {results.path}" if results else "nothing was measured"
        raise Interrupted(f"stopped; {folder}", results)
    finish(outcome)
    if results is None:
        raise AssertionError("a program that ran names its folder")
    results.__dict__["lines"] = outcome.objects()
    return results


def _results(outcome: Outcome, on: str | None) -> Results | None:
    begun = [
        folder.absolute()
        for folder in outcome.folders
        if any(path.stat().st_size for path in folder.glob("trials*.jsonl"))
    ]
    if not begun:
        return None
    # As they were named: worlds in a sandbox run last.
    named = on.split(",") if on else []
    begun.sort(key=lambda folder: _place(named, str(Results(folder).plan["run"]["world"])))
    return Results(begun[0]) if len(begun) == 1 else Worlds(begun)


def _place(names: builtins.list[str], name: str) -> int:
    return names.index(name) if name in names else len(names)
