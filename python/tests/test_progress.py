"""The line that a notebook shows while a command is at work."""

import json
import sys
import types

import pytest

import ioscape
from ioscape import _progress


class Shown:
    """A notebook's display: what its one line said."""

    def __init__(self):
        self.said = []

    def update(self, text):
        self.said.append(text)


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test sets, in seconds."""
    now = types.SimpleNamespace(s=100.0)
    monkeypatch.setattr(_progress, "time", types.SimpleNamespace(monotonic=lambda: now.s))
    return now


@pytest.fixture
def notebook(monkeypatch):
    """A process that looks like a notebook's kernel."""
    line, begun = Shown(), []

    def display(text, display_id):
        begun.append(text)
        assert display_id is True
        return line

    class ZMQInteractiveShell:
        pass

    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=ZMQInteractiveShell))
    monkeypatch.setattr(_progress, "_shows", lambda: types.SimpleNamespace(display=display, Pretty=str))
    line.begun = begun
    return line


def test_a_notebook_sees_the_seconds_and_the_end(notebook, clock):
    shown = _progress.Progress("run /data")
    clock.s += 0.9
    shown.tick()
    assert notebook.begun == [] and notebook.said == []
    clock.s += 0.2
    shown.tick()
    clock.s += 0.5
    shown.tick()
    assert notebook.begun == ["ioscape ..."] and notebook.said == ["ioscape run /data: 1 s"]
    clock.s += 0.8
    shown.tick()
    shown.done()
    assert notebook.said[1:] == ["ioscape run /data: 2 s", "ioscape run /data: done in 2.4 s"] and len(notebook.begun) == 1


def test_a_command_that_takes_no_second_shows_nothing(notebook, clock):
    shown = _progress.Progress("doctor")
    clock.s += 0.5
    shown.tick()
    shown.done()
    assert notebook.begun == [] and notebook.said == []


def test_points_are_told_as_far_as_they_are_saved(notebook, clock, tmp_path):
    output = tmp_path / "here.ioscape.json"
    shown = _progress.Progress("evaluate /data", output)
    for text, told in ((None, ""), ('{"evaluation": {"points_m', ""), (json.dumps({"evaluation": {"points_measured": 17}}), ", 17 points"),
                       (json.dumps({"measurements": []}), "")):
        if text is not None:
            output.write_text(text)
        clock.s += 2
        shown.tick()
        assert notebook.said[-1] == f"ioscape evaluate /data: {clock.s - 100:.0f} s{told}"


@pytest.mark.parametrize("shell", [None, types.SimpleNamespace(get_ipython=lambda: None), types.SimpleNamespace(get_ipython=lambda: 7)])
def test_elsewhere_nothing_is_shown(monkeypatch, notebook, clock, shell):
    if shell is None:
        monkeypatch.delitem(sys.modules, "IPython")
    else:
        monkeypatch.setitem(sys.modules, "IPython", shell)
    shown = _progress.Progress("run /data")
    clock.s += 5
    shown.tick()
    shown.done()
    assert notebook.begun == [] and notebook.said == []


def test_a_real_notebook_shows_the_line(tmp_path):
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed, so no notebook was run: pip install nbclient ipykernel")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed, so no notebook was run: pip install nbclient ipykernel")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed, so no notebook was run: pip install ipykernel")
    code = f"import ioscape\nfound = ioscape.run({str(tmp_path)!r}, unique_bytes='1M', seconds='4s', think_time='100ms')\nprint(len(found.measurements))"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = book.cells[0].outputs
    lines = [one["data"]["text/plain"] for one in outputs if "data" in one]
    assert len(lines) == 1 and lines[0].startswith("ioscape run ") and "done in" in lines[0], outputs
    assert any(one.get("text") == "1\n" for one in outputs if one.get("name") == "stdout")
    assert ioscape.binary()
