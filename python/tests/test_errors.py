"""Errors of the program as exceptions."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import jumbolab
from jumbolab._program import ask


def test_an_error_in_a_file_names_file_line_key_and_value(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    text = ask(["run", "--template"]).replace("\n[network]\n", "\n[network]\nmtuu = 12\n")
    path.write_text(text)
    line = 1 + text.splitlines().index("mtuu = 12")
    with pytest.raises(jumbolab.JumbolabError) as rejected:
        jumbolab.run(path, output=tmp_path / "r")
    error = rejected.value
    assert (error.file, error.line) == (str(path), line)
    assert (error.key, error.value) == ("network.mtuu", "12")
    assert error.argument is None
    assert error.code == 2
    assert str(error).startswith(f"{path}:{line}: network.mtuu = 12: ")


def test_an_error_in_an_argument_names_argument_key_and_value(tmp_path: Path) -> None:
    with pytest.raises(jumbolab.JumbolabError) as rejected:
        jumbolab.run("os-comparison", set={"mtu": [1500, 0]}, output=tmp_path / "r")
    error = rejected.value
    assert error.argument == "--set mtu=1500,0"
    assert error.key == "network.mtu"
    assert error.file is None


def test_an_unknown_experiment_is_named(tmp_path: Path) -> None:
    with pytest.raises(jumbolab.JumbolabError, match="nosuch"):
        jumbolab.run("nosuch", output=tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_a_folder_that_cannot_be_written_is_named() -> None:
    with pytest.raises(jumbolab.JumbolabError, match="/sys/jumbolab"):
        jumbolab.run("mtu-and-queues", on="sim", repeat=1, output="/sys/jumbolab")


def test_an_option_that_is_none_is_named() -> None:
    with pytest.raises(jumbolab.JumbolabError, match="--colour"):
        jumbolab.predict(colour="red")


def test_what_is_no_results_folder_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(jumbolab.JumbolabError, match=r"plan\.toml"):
        jumbolab.load(tmp_path)


def test_a_program_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUMBOLAB_BIN", str(tmp_path / "nosuch"))
    with pytest.raises(jumbolab.JumbolabError, match="JUMBOLAB_BIN"):
        jumbolab.version()


def test_an_error_travels_between_processes() -> None:
    error = jumbolab.VersionMismatch("two", file="a.toml", line=3)
    other = pickle.loads(pickle.dumps(error))
    assert type(other) is jumbolab.VersionMismatch
    assert (other.message, other.file, other.line) == ("two", "a.toml", 3)
    assert str(other) == "two"
