"""The notebooks of docs/notebooks run from beginning to end, and hold what they printed."""

import os
from pathlib import Path

import pytest

WHY = "so the notebooks were not run: pip install nbformat nbclient ipykernel matplotlib pyarrow pandas"
nbformat = pytest.importorskip("nbformat", reason=f"nbformat is not installed, {WHY}")
nbclient = pytest.importorskip("nbclient", reason=f"nbclient is not installed, {WHY}")
for needed in ("ipykernel", "matplotlib", "pyarrow", "pandas"):
    pytest.importorskip(needed, reason=f"{needed} is not installed, {WHY}")

NOTEBOOKS = Path(__file__).resolve().parents[2] / "docs/notebooks"


def executed(name, place):
    notebook = nbformat.read(NOTEBOOKS / name, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(place)}}).execute()
    return notebook


def kinds(notebook):
    """What each cell gave: kinds of outputs, since figures and times differ from run to run."""
    return [sorted({kind for output in cell.get("outputs", []) for kind in output.get("data", {"text/plain": ""})} - {"text/html"})
            for cell in notebook.cells]


@pytest.mark.parametrize("name", sorted(path.name for path in NOTEBOOKS.glob("*.ipynb")))
def test_a_notebook_runs_and_gives_what_it_shows(name, tmp_path, monkeypatch):
    path = os.environ.get("PYTHONPATH")
    if path:
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(str(Path(place).absolute()) for place in path.split(os.pathsep)))
    kept = nbformat.read(NOTEBOOKS / name, as_version=4)
    assert all(cell.execution_count for cell in kept.cells if cell.cell_type == "code"), "the notebook was not executed"
    assert kinds(executed(name, tmp_path)) == kinds(kept)
