"""One experiment in several backends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import jumbolab


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> jumbolab.Results:
    output = tmp_path_factory.mktemp("backends") / "r"
    settings: dict[str, Any] = {"scenario": "LU-LU", "offloads": "off", "mtu": [1500, 9000]}
    return jumbolab.run("os-comparison", on="sim,model", set=settings, repeat=2, output=output)


def test_backends_are_beside_each_other_in_every_table(both: jumbolab.Results) -> None:
    assert list(both.backends) == ["sim", "model"], "as they were named"
    trials = both.trials().to_pylist()
    assert [trial["backend"] for trial in trials] == ["sim"] * 4 + ["model"] * 2
    rows = both.comparisons().to_pylist()
    rates = [row for row in rows if row["metric"] == "throughput"]
    assert {(row["backend"], row["mtu"]) for row in rates} == {
        (backend, mtu) for backend in ("sim", "model") for mtu in (1500, 9000)
    }
    alone = both.backends["sim"].comparisons().to_pylist()
    means = {row["mtu"]: row["mean"] for row in alone if row["metric"] == "throughput"}
    assert {row["mtu"]: row["mean"] for row in rates if row["backend"] == "sim"} == means
    verdicts = both.verdicts().to_pylist()
    assert {row["backend"] for row in verdicts if row["metric"] == "throughput"} == {"sim", "model"}


def test_backends_have_a_page_a_report_and_a_view(both: jumbolab.Results) -> None:
    assert len(both.plot().data) > 0
    assert "model" in both.report()
    assert both.headline[0].startswith("sim: ")
    assert "<h4>model</h4>" in both._repr_html_()
    with pytest.raises(jumbolab.JumbolabError, match="own run: sim, model"):
        _ = both.run
    loaded = jumbolab.load(both.backends["sim"].path, both.backends["model"].path)
    assert loaded.comparisons().equals(both.comparisons())


def test_a_run_in_one_backend_is_its_own_backend(whole: jumbolab.Results) -> None:
    assert whole.backends == {"sim": whole}


def test_two_runs_in_one_backend_are_rejected(whole: jumbolab.Results, tmp_path: Path) -> None:
    with pytest.raises(jumbolab.JumbolabError, match="of one backend"):
        jumbolab.load(whole.path, whole.path)
    with pytest.raises(jumbolab.JumbolabError, match=r"plan\.toml"):
        jumbolab.load(whole.path, tmp_path)
