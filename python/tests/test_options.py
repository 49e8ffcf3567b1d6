"""The options as types: what an editor and `help` see is what the program takes, and anything else is refused."""

import inspect
import os
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import ioscape
from ioscape import _command, _options

HERE = Path(__file__).resolve().parents[1]
FUNCTIONS = {
    ioscape.evaluate: "EvaluateOptions", ioscape.run: "RunOptions", ioscape.predict: "PredictOptions", ioscape.compare: "CompareOptions",
    ioscape.characterize: "CharacterizeOptions", ioscape.simulate: "SimulateOptions", ioscape.doctor: "DoctorOptions",
    ioscape.trace.analyze: "TraceAnalyzeOptions", ioscape.trace.characterize: "TraceCharacterizeOptions", ioscape.trace.read: "TraceReadOptions",
}


@pytest.fixture(scope="module")
def generate():
    sys.path.insert(0, str(HERE))
    import generate

    return generate


def test_the_options_are_those_of_the_program(generate):
    assert generate.OPTIONS.read_text() == generate.options_source(_command.binary()), "run python generate.py PROGRAM"


def test_the_help_is_read_whole(generate):
    program = _command.binary()
    for command in generate.COMMANDS:
        told = generate.told(program, [*command.split(), "--help"])
        named = [line.split("--")[1].split()[0] for line in told.split("Options:\n", 1)[1].splitlines()
                 if re.match(r"\s+-", line) and "--" in line and not line.startswith(" " * 10)]
        found = [option.name for option in generate.options_in(told)]
        assert found == named and {"output", "json", "quiet"} <= set(found), command
        assert all(option.text for option in generate.options_in(told)), command


@pytest.mark.parametrize("function", FUNCTIONS, ids=FUNCTIONS.get)
def test_a_function_shows_its_options_and_refuses_all_others(function):
    shown = inspect.signature(function).parameters
    kind = getattr(_options, FUNCTIONS[function])
    assert set(kind.__annotations__) <= set(shown) and shown["quiet"].kind == inspect.Parameter.KEYWORD_ONLY
    with pytest.raises(ioscape.Misuse, match="has no option quite: did you mean quiet"):
        function("nowhere", quite=True)
    with pytest.raises(ioscape.Misuse, match="has no option zzz; it has .*anonymous, .*quiet, "):
        function("nowhere", zzz=1)
    with pytest.raises(ioscape.Misuse, match="has no option json"):
        function("nowhere", json=True)


def test_words_that_an_option_takes_are_the_programs():
    hints = typing.get_type_hints(_options.EvaluateOptions)
    engines = typing.get_args(typing.get_args(hints["engine"])[0])
    assert engines == ("psync", "io_uring", "mmap", "dontcache")
    with pytest.raises(ioscape.Misuse, match="give psync, io_uring"):
        ioscape.evaluate("nowhere", engine="null_")
    assert int in typing.get_args(hints["memory"]) and float in typing.get_args(hints["budget"])


def test_options_become_words():
    given = {"size_mean": 4096, "from_": "1h", "direct": True, "dsync": False, "memory": None, "access": ["direct", "dsync"],
             "price": {"a": 3, "b": 4.5}}
    assert _command.options(given) == ["--size-mean", "4096", "--from", "1h", "--direct", "--access", "direct", "--access", "dsync",
                                       "--price", "a=3", "--price", "b=4.5"]


def test_numbers_become_words_without_exponents():
    assert _command.options({"think_time": 50e-6}) == ["--think-time", "0.00005s"]
    assert _command.options({"budget": 90.0, "price": {"a": 1e16}}) == ["--budget", "90.0", "--price", "a=10000000000000000"]


WRONG = {
    'ioscape.run(".", size_meen="4k")': "size_meen",
    'ioscape.run(".", size_dist="gauss")': "size_dist",
    'ioscape.evaluate(".", queue_depth="deep")': "queue_depth",
    'ioscape.evaluate(".", access=["direct", "slow"])': "access|List item",
    'ioscape.trace.analyze("t", by="colour")': '"by"',
}
RIGHT = """
ioscape.run(".", size_mean=4096, size_dist="fixed", read_frac=1.0, seconds="2s", direct=True, memory=None)
ioscape.evaluate(".", budget=90, access=["buffered", "direct"], max_unique_bytes="4M", output="here.ioscape.json")
ioscape.compare("a", "b", price={"a": 3}, fail_if="throughput < 0.95")
ioscape.trace.analyze("t", from_="1h", disk=0, by="disk")
found: ioscape.Document = ioscape.simulate("t", drive=["hp-c2200a", "hp-c2247a"], cache="none")
"""


def checked(code):
    words = ["--strict", "--config-file", os.devnull, "-c", "import ioscape\n" + code]
    return subprocess.run([sys.executable, "-m", "mypy", *words], cwd=HERE, env={**os.environ, "MYPYPATH": str(HERE / "src")}, capture_output=True,
                          text=True)


def test_an_editor_knows_what_is_wrong():
    pytest.importorskip("mypy", reason="mypy is not installed, so the types were not checked: pip install mypy")
    told = checked(RIGHT)
    assert told.returncode == 0, told.stdout
    told = checked("\n".join(WRONG)).stdout
    lines = [line for line in told.splitlines() if ": error:" in line]
    assert len(lines) == len(WRONG), told
    for number, (line, name) in enumerate(zip(lines, WRONG.values()), 2):
        assert line.startswith(f"<string>:{number}:") and any(one in line for one in name.split("|")), line
