"""The notebooks run to their ends."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize("name", ["2019-study.ipynb", "mred-verdict.ipynb"])
@pytest.mark.timeout(300)
def test_a_notebook_runs_to_its_end(name: str, tmp_path: Path) -> None:
    notebook = nbformat.read(EXAMPLES / name, as_version=4)
    run = NotebookClient(
        notebook, timeout=240, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    )
    run.execute()
    outputs = [
        output["data"]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "data" in output
    ]
    assert any("text/html" in data for data in outputs)
    assert any("application/vnd.plotly.v1+json" in data for data in outputs)


def test_every_notebook_is_tested_and_has_no_outputs() -> None:
    paths = sorted(EXAMPLES.glob("*.ipynb"))
    assert [path.name for path in paths] == ["2019-study.ipynb", "mred-verdict.ipynb"]
    for path in paths:
        cells = nbformat.read(path, as_version=4).cells
        assert not any(cell.get("outputs") for cell in cells), path.name
