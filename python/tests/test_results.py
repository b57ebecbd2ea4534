"""Runs and what is read from their folders."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import polars
import pyarrow as pa
import pytest

import jumbolab
from jumbolab._program import start

from .conftest import SHORT, STUDY, holds, processes


def test_three_lines_give_a_data_frame_and_a_plot(tmp_path: Path) -> None:
    results = jumbolab.run(STUDY, on="sim", set=SHORT, repeat=2, output=tmp_path / "r")
    frame = results.trials().to_pandas()
    figure = results.plot()

    assert len(frame) == 4 * 2
    assert set(frame["mtu"]) == {1500, 9000}
    assert len(figure.data) > 0


def test_a_table_of_trials_is_the_file_for_every_library(whole: jumbolab.Results) -> None:
    trials = whole.trials()
    assert polars.from_arrow(trials).shape == (40, trials.num_columns)
    lines = (whole.path / "trials.jsonl").read_text().splitlines()
    assert trials["id"].to_pylist() == [json.loads(line)["id"] for line in lines]


def test_a_folder_says_the_same_when_it_is_loaded(whole: jumbolab.Results) -> None:
    loaded = jumbolab.load(whole.path)
    assert loaded.comparisons().equals(whole.comparisons())
    assert loaded.headline == whole.headline
    assert loaded.complete
    assert loaded.plan["run"]["backend"] == "sim"
    assert loaded.run["plan"] == jumbolab.plan(STUDY, on="sim", set=SHORT, repeat=10).hash


def test_comparisons_have_a_row_for_each_metric_and_cell(whole: jumbolab.Results) -> None:
    rows = whole.comparisons().to_pylist()
    delays = [row for row in rows if row["metric"] == "delay"]
    assert [(row["load"], row["mtu"]) for row in delays] == [
        ("30%", 1500),
        ("30%", 9000),
        ("70%", 1500),
        ("70%", 9000),
    ]
    assert all(row["ci95_low"] <= row["mean"] <= row["ci95_high"] for row in delays)
    assert [row["change_percent"] is None for row in delays] == [True, False, True, False]


def test_verdicts_are_those_of_claims_and_of_published_changes(tmp_path: Path) -> None:
    settings: dict[str, jumbolab.Value] = {"scenario": "LU-LU"}
    results = jumbolab.run(
        "os-comparison", on="sim", set=settings, repeat=1, output=tmp_path / "r", threads=1
    )
    verdicts = results.verdicts().to_pylist()
    kinds = {row["kind"] for row in verdicts}
    assert kinds == {"claim", "published"}
    words = {"reproduced", "direction_only", "not_reproduced", "inconclusive", "not_measured"}
    assert {row["verdict"] for row in verdicts} <= words
    published = [row for row in verdicts if row["kind"] == "published"]
    assert all(row["published_change_percent"] and row["reason"] for row in published)
    assert dict(published[0]["factors"])["scenario"] == "LU-LU"


def test_results_without_a_claim_have_an_empty_table(whole: jumbolab.Results) -> None:
    verdicts = whole.verdicts()
    assert verdicts.num_rows == 0
    assert "verdict" in verdicts.column_names


def test_figures_are_those_of_the_page(whole: jumbolab.Results) -> None:
    figures = whole.figures()
    assert {"delay", "delay-change", "throughput"} <= set(figures)
    assert whole.plot("throughput").to_dict() == figures["throughput"].to_dict()
    names = {trace.name for trace in whole.plot("delay").data}
    assert any(name and "9000" in name for name in names) or len(names) > 1
    with pytest.raises(jumbolab.JumbolabError, match="nosuch"):
        whole.plot("nosuch")


def test_a_notebook_shows_the_answer_and_escapes_it(whole: jumbolab.Results) -> None:
    shown = whole._repr_html_()
    assert "40 of 40 finished" in shown
    other = jumbolab.load(whole.path)
    other.__dict__["run"] = {**whole.run, "headline": ["<script>"]}
    assert "<script>" not in other._repr_html_()


def test_progress_goes_from_nothing_to_everything(tmp_path: Path) -> None:
    said: list[tuple[int, int]] = []
    words = ["run", STUDY, "--on", "sim", "--set", "traffic.duration=20ms", "--repeat", "3"]

    def listen(one: dict[str, Any]) -> None:
        if one["kind"] == "progress":
            said.append((one["done"], one["total"]))

    start([*words, "-o", str(tmp_path / "r")], listener=listen)
    assert said[0] == (0, 12)
    assert said[-1] == (12, 12)


def test_ctrl_c_keeps_what_was_measured(tmp_path: Path) -> None:
    output = tmp_path / "r"

    def stop() -> None:
        journal = output / "trials.jsonl"
        assert holds(lambda: journal.is_file() and journal.stat().st_size > 0)
        os.kill(os.getpid(), signal.SIGINT)

    stopper = threading.Thread(target=stop)
    stopper.start()
    with pytest.raises(jumbolab.Interrupted) as stopped:
        jumbolab.run(STUDY, on="sim", repeat=5000, output=output, threads=1)
    stopper.join()
    results = stopped.value.results
    assert results is not None
    kept = results.trials().num_rows
    assert 0 < kept < 4 * 5000
    assert not results.complete


def test_a_stopped_run_is_gone_on_with(tmp_path: Path, whole: jumbolab.Results) -> None:
    output = tmp_path / "r"
    output.mkdir()
    (output / "plan.toml").write_bytes((whole.path / "plan.toml").read_bytes())
    lines = (whole.path / "trials.jsonl").read_bytes().splitlines(keepends=True)
    (output / "trials.jsonl").write_bytes(b"".join(lines[:17]))
    with pytest.raises(jumbolab.JumbolabError, match="17 of 40"):
        jumbolab.run(STUDY, on="sim", set=SHORT, repeat=10, output=output)
    results = jumbolab.run(STUDY, on="sim", set=SHORT, repeat=10, output=output, resume=True)
    assert results.trials().equals(whole.trials())


def test_the_program_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    mark = f"JUMBOLAB_TEST={tmp_path}"
    line = f"import jumbolab; jumbolab.run({STUDY!r}, on='sim', repeat=5000, output='r')"
    environment = {**os.environ, "JUMBOLAB_TEST": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", line], cwd=tmp_path, env=environment) as process:
        journal = tmp_path / "r" / "trials.jsonl"
        assert holds(lambda: journal.is_file() and journal.stat().st_size > 0)
        process.kill()
        process.wait()
    assert holds(lambda: not processes(mark)), processes(mark)


def test_shipped_experiments_are_listed() -> None:
    names = [experiment.name for experiment in jumbolab.list()]
    assert "os-comparison" in names
    assert STUDY in names


def test_predictions_are_tables() -> None:
    frames = jumbolab.predict(size="5MB", rate="10gbit", hops=2).to_pylist()
    assert [row["mtu"] for row in frames] == [1500, 4000, 9000]
    overhead = jumbolab.predict("overhead", mtu=[1500, 9000])
    assert overhead["efficiency_percent"].to_pylist() == pytest.approx([92.85, 98.78], abs=0.01)
    assert isinstance(overhead, pa.Table)
