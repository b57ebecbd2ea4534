"""Arguments and programs of any kind: one `JumbolabError`, or a `TypeError` for a wrong type."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

import jumbolab
from jumbolab._errors import one_line
from jumbolab._program import Outcome, _listen, ask, finish, start
from jumbolab._progress import Bar

from .conftest import SHORT, STUDY, holds, processes, rejected

EXPERIMENTS = ["--help", "--version", "-h", "--template", "a\0b", "x" * 300_000, "\udfff", "", "./"]


@pytest.mark.parametrize("name", EXPERIMENTS, ids=[repr(name[:12]) for name in EXPERIMENTS])
def test_a_hostile_name_of_an_experiment_is_one_line(
    name: str, client: Client, tmp_path: Path
) -> None:
    rejected(lambda: jumbolab.run(name, on="sim", output=tmp_path / "r", progress=False))
    rejected(lambda: jumbolab.plan(name))
    rejected(lambda: jumbolab.sensitivity(name, on="sim", output=tmp_path / "r", progress=False))
    rejected(lambda: jumbolab.sweep(name, client=client, output=tmp_path / "r", progress=False))
    rejected(lambda: jumbolab.load(name or "nosuch"))
    rejected(lambda: jumbolab.predict(name or "nosuch"))
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("experiment", [None, 5, b"os-comparison", ["os-comparison"]])
def test_a_wrong_type_of_argument_is_a_type_error(experiment: Any, client: Client) -> None:
    for call in (
        lambda: jumbolab.run(experiment, on="sim"),
        lambda: jumbolab.plan(experiment),
        lambda: jumbolab.sweep(experiment, client=client),
    ):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("value", [None, {"a": 1}, b"1500", [[1500], [9000]], object()])
def test_a_wrong_type_of_value_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError):
        jumbolab.plan(STUDY, set={"mtu": value})


def test_no_value_is_an_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    hostile: tuple[dict[str, Any], ...] = (
        {"set": {"--allow-commands": "x"}},
        {"on": "--template"},
        {"repeat": "--template"},
    )
    for options in hostile:
        rejected(partial(jumbolab.plan, STUDY, **options))
    made = jumbolab.run(STUDY, on="sim", set=SHORT, repeat=1, output="--json", progress=False)
    assert made.path == tmp_path / "--json"
    assert jumbolab.load("--json").trials().num_rows == 4


@pytest.mark.parametrize("printed", ["", "[]", "[1", "text", '{"plan": 5}', "NaN", "[" * 100_000])
def test_another_program_than_jumbolab_is_one_line(
    printed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "said").write_text(printed)
    script = tmp_path / "program"
    script.write_text(f"#!/bin/sh\ncat '{tmp_path}/said'; cat '{tmp_path}/said' >&2\n")
    script.chmod(0o755)
    monkeypatch.setenv("JUMBOLAB_BIN", str(script))
    rejected(lambda: jumbolab.plan(STUDY))
    rejected(lambda: jumbolab.run(STUDY, progress=False))
    rejected(lambda: jumbolab.load(tmp_path / "nosuch"))


@pytest.mark.parametrize(
    "said",
    [
        b'{"kind": "error"}', b'{"kind": "error", "message": null}', b'{"kind": "message"}',
        b'{"kind": "folder", "folder": 5}', b'{"kind": "message", "message": []}',
        b'{"kind": "progress", "done": "x", "total": 1}', b'{"kind": "progress"}',
        b'{"kind": 5}', b'{"message": "x"}', b"5", b"null", b"\xff\xff", b"[" * 100_000,
    ],
)  # fmt: skip
def test_a_message_of_another_shape_is_text(said: bytes) -> None:
    outcome = Outcome(code=2, stdout="")
    with Bar("x", False) as bar:
        _listen([said + b"\n"], outcome, bar.take)
    assert outcome.error is None
    assert outcome.messages == [said.decode(errors="replace")]


def test_a_program_that_cannot_be_started_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for content, mode in ((b"\x7fELF", 0o755), (b"#!/nosuch\n", 0o755)):
        (tmp_path / "program").write_bytes(content)
        (tmp_path / "program").chmod(mode)
        monkeypatch.setenv("JUMBOLAB_BIN", str(tmp_path / "program"))
        assert "program" in str(rejected(jumbolab.version))
    monkeypatch.setenv("JUMBOLAB_BIN", str(tmp_path))
    assert "JUMBOLAB_BIN" in str(rejected(jumbolab.version))


def test_a_relative_program_is_found_from_other_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "own").symlink_to(jumbolab.program())
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUMBOLAB_BIN", "bin/own")
    said = finish(start(["--version"], folder=tmp_path / "elsewhere")).stdout
    assert said.startswith("jumbolab ")


def test_an_error_is_one_printable_line() -> None:
    error = jumbolab.JumbolabError("a\nb\x1b[31m\u2028\u202e\udc80" + "x" * 9000)
    assert str(error).startswith("a\\u000ab\\u001b[31m\\u2028\\u202e\\udc80x")
    assert len(str(error).splitlines()) == 1
    assert len(one_line("y" * 5000)) == 4000
    str(error).encode()


def test_a_bar_shows_no_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    rejected(lambda: jumbolab.run("\x1b[31m\r" + "z" * 500, on="sim", progress=True))
    shown = capsys.readouterr().err
    assert "\x1b[31m" not in shown
    assert "z" * 200 not in shown


def test_a_setting_may_be_an_iterator(client: Client, tmp_path: Path) -> None:
    results = jumbolab.sweep(
        STUDY,
        client=client,
        set={**SHORT, "mtu": (mtu for mtu in [1280, 4000])},  # type: ignore[dict-item]
        repeat=1,
        output=tmp_path / "r",
        storage=tmp_path / "store",
        progress=False,
    )
    assert set(results.trials()["mtu"].to_pylist()) == {1280, 4000}


@pytest.mark.parametrize("name", ["shard", "search", "plan.toml", "input", "-x.toml", "a b;$(x)"])
def test_an_experiment_file_may_have_any_name(name: str, client: Client, tmp_path: Path) -> None:
    (tmp_path / "of").mkdir()
    path = tmp_path / "of" / name
    path.write_text(ask(["show", STUDY, "--template"]))
    results = jumbolab.sweep(
        path, client=client, set=SHORT, repeat=1, output=tmp_path / "r", progress=False
    )
    assert isinstance(results, jumbolab.Results)
    assert results.complete


def test_integers_beyond_64_bits_are_floats() -> None:
    rows = jumbolab.predict(size=2**63 + 12345, rate="10gbit").to_pylist()
    assert rows
    assert any(isinstance(value, float) and value > 2**62 for value in rows[0].values())


def test_ctrl_c_during_a_report_is_a_keyboard_interrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "program"
    script.write_text(
        f"#!/bin/sh\ntrap 'exit 130' INT\n: > '{tmp_path}/begun'\nwhile :; do sleep 0.05; done\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("JUMBOLAB_BIN", str(script))
    monkeypatch.setenv("JUMBOLAB_TEST", str(tmp_path))

    def stop() -> None:
        assert holds((tmp_path / "begun").exists)
        os.kill(os.getpid(), signal.SIGINT)

    stopper = threading.Thread(target=stop)
    stopper.start()
    with pytest.raises(KeyboardInterrupt):
        _ = jumbolab.Results(tmp_path).lines
    stopper.join()
    assert not processes(f"JUMBOLAB_TEST={tmp_path}")


def test_ctrl_c_while_the_program_starts_stops_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "program"
    script.write_text("#!/bin/sh\ntrap 'exit 130' INT\nwhile :; do sleep 0.05; done\n")
    script.chmod(0o755)
    monkeypatch.setenv("JUMBOLAB_BIN", str(script))
    monkeypatch.setenv("JUMBOLAB_TEST", str(tmp_path))
    popen = subprocess.Popen

    def interrupted(*words: Any, **options: Any) -> Any:
        process = popen(*words, **options)
        # The shell has set its trap once it has a child.
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        assert holds(lambda: bool(children.read_text()))
        os.kill(os.getpid(), signal.SIGINT)
        return process

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    assert start([]).was_interrupted
    assert not processes(f"JUMBOLAB_TEST={tmp_path}")


@pytest.mark.parametrize(("target", "code"), [("/dev/full", 2), ("closed", 0)])
def test_the_module_ends_in_order_where_nobody_reads(
    target: str, code: int, tmp_path: Path
) -> None:
    line = (
        "import sys; from jumbolab import Results; import jumbolab.sweep as command\n"
        "found = Results('r'); found.__dict__['run'] = {'headline': ['a', 'b']}\n"
        "command._swept = lambda *_: found\n"
        "sys.exit(command.main(['x', '--local', '1']))\n"
    )
    reader, writer = os.pipe()
    os.close(reader)
    with Path("/dev/full").open("wb") as full, os.fdopen(writer, "wb", buffering=0) as closed:
        ran = subprocess.run(
            [sys.executable, "-c", line],
            cwd=tmp_path,
            stdout=full if target == "/dev/full" else closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (ran.returncode, len(ran.stderr.splitlines())) == (code, 1 if code else 0), ran.stderr
