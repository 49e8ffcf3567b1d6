"""Runs the program and reads its document."""

from __future__ import annotations

import contextlib
import difflib
import functools
import inspect
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import types
import typing
from dataclasses import fields, is_dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, Optional, TypeVar, Union

from . import _documents
from ._documents import Document
from ._progress import Progress
from .errors import CommandFailed, ConditionFailed, Failed, Interrupted, IoscapeError, Misuse

Words = Union[str, "os.PathLike[str]"]

# Writes bytes into a pipe.
Feed = Callable[[Any], None]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_ERRORS = {2: Misuse, 3: ConditionFailed, 130: Interrupted}

# Is told which program was started, and that it has ended; interrupts it where the latter never comes.
_GUARD = 'read -r program && { read -r ended || kill "$program"; }'


def binary() -> str:
    """Path of the program: `IOSCAPE_BINARY`, that of this environment, or the first on the path."""
    named = os.environ.get("IOSCAPE_BINARY")
    if named:
        return named
    beside = Path(sysconfig.get_path("scripts")) / "ioscape"
    found = str(beside) if beside.exists() else shutil.which("ioscape")
    if found is None:
        raise Failed("there is no program `ioscape`: install the wheel, or name it in IOSCAPE_BINARY")
    return found


def takes(command: str, kind: type) -> Callable[[_Function], _Function]:
    """For a function that runs `ioscape COMMAND`: refuses options that are none of `kind`, and shows them to `help` and notebooks."""
    named = list(kind.__annotations__)

    def wrap(function: _Function) -> _Function:
        own = [one for one in inspect.signature(function).parameters.values() if one.kind != one.VAR_KEYWORD]
        known = {*named, *(one.name for one in own)}

        @functools.wraps(function)
        def checked(*words: Any, **given: Any) -> Any:
            for name in given:
                if name not in known:
                    raise Misuse(f"{command} has no option {name}{_meant(name, named)}")
            return function(*words, **given)

        hints = {name: getattr(hint, "__forward_arg__", hint) for name, hint in kind.__annotations__.items()}
        shown = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hint) for name, hint in hints.items()]
        setattr(checked, "__signature__", inspect.signature(function).replace(parameters=[*own, *shown]))
        return typing.cast(_Function, checked)

    return wrap


def _meant(name: str, named: list[str]) -> str:
    near = difflib.get_close_matches(name.replace("-", "_"), named, 1, 0.5)
    return f": did you mean {near[0]}?" if near else f"; it has {', '.join(sorted(named))}"


def options(given: Mapping[str, Any]) -> list[str]:
    """Keyword arguments as options: `size_mean="4k"` is `--size-mean 4k`, `direct=True` is `--direct`."""
    words: list[str] = []
    for name, value in given.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
        elif isinstance(value, (list, tuple)):
            for one in value:
                words += [option, _word(one)]
        elif isinstance(value, dict):
            for key, one in value.items():
                words += [option, f"{key}={_word(one)}"]
        else:
            # The program refuses a pause without a unit, which is microseconds in files of fio.
            unit = "s" if name == "think_time" and not isinstance(value, str) else ""
            words += [option, _word(value) + unit]
    return words


def _word(value: Any) -> str:
    """A value as the program reads it, which takes no exponents."""
    return format(Decimal(repr(float(value))), "f") if isinstance(value, float) else str(value)


def _operand(word: Words) -> str:
    """A command, file or folder as the program reads it: a file whose name begins with `-` is no option."""
    text = os.fspath(word)
    return f"./{text}" if text.startswith("-") and text != "-" else text


def document(
    words: list[Words], given: Mapping[str, Any], behind: Optional[list[str]] = None, feed: Optional[Feed] = None
) -> Document:
    """Runs `ioscape WORDS OPTIONS --json [-- BEHIND]` and gives its document; `feed` writes its standard input.

    Messages go to this process's standard error as they come, and a notebook shows how long it has been at work. Ctrl-C is passed on once;
    the program then saves what it has, as it does where this process is killed.
    """
    line = [binary(), *map(_operand, words), *options(given), "--json", *(["--", *behind] if behind else [])]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    # A command may say any bytes, and waits for ever once nobody reads on.
    with _started(line, stdin=subprocess.PIPE if feed else None, text=True, encoding="utf-8", errors="replace", **pipes) as child:
        if feed:
            threading.Thread(target=_fed, args=(_pipe(child.stdin).buffer, feed), daemon=True).start()
        out, err = _Lines(child.stdout), _Lines(child.stderr, sys.stderr)
        shown = Progress(" ".join(map(str, words[:2])), given.get("output"))
        while True:
            try:
                if not (out.is_open() or err.is_open()):
                    break
                out.wait(0.2)
                err.wait(0.2)
                err.show()
                shown.tick()
            except KeyboardInterrupt:
                child.send_signal(signal.SIGINT)
        child.wait()
    err.show()
    shown.done()
    return _outcome(child.returncode, out.text(), err.text(), behind)


@contextlib.contextmanager
def _started(line: list[str], **given: Any) -> Iterator[subprocess.Popen[Any]]:
    """A program in a session of its own, since Ctrl-C is passed on to it; it does not outlive this process."""
    nowhere: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    guard = subprocess.Popen(["sh", "-c", _GUARD], stdin=subprocess.PIPE, start_new_session=True, bufsize=0, **nowhere)

    def tell(word: str) -> None:
        with contextlib.suppress(BrokenPipeError):
            _pipe(guard.stdin).write(f"{word}\n".encode())

    try:
        child = subprocess.Popen(line, start_new_session=True, **given)
        tell(str(child.pid))
        yield child
        tell("ended")
    finally:
        _pipe(guard.stdin).close()
        guard.wait()


def _pipe(pipe: Optional[Any]) -> Any:
    """A pipe that was asked for."""
    assert pipe is not None
    return pipe


def _fed(pipe: Any, feed: Feed) -> None:
    # A program that refuses what it reads closes the pipe, and says why.
    with contextlib.suppress(OSError), pipe:
        feed(pipe)


def stream(words: list[Words], given: Mapping[str, Any], take: Callable[[Any], Any]) -> Any:
    """Runs `ioscape WORDS OPTIONS` and gives what `take` makes of its standard output, bytes that come while it runs."""
    line = [binary(), *map(_operand, words), *options(given)]
    with _started(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        out, err = _pipe(child.stdout), _Lines(io.TextIOWrapper(_pipe(child.stderr), errors="replace"))
        taken, refused = None, None
        try:
            taken = take(out)
        except KeyboardInterrupt:
            child.send_signal(signal.SIGINT)
            out.close()
        except Exception as error:
            # Where the program failed, its own sentence says more.
            refused = error
            out.close()
        code = child.wait()
        err.wait(5)
    if code != 0:
        _outcome(code, "", err.text())
    if refused is not None:
        raise refused
    sys.stderr.write(err.text())
    return taken


class _Lines:
    """What a pipe says, read by a thread, and shown by whoever started it: notebooks know whose cell it belongs to."""

    def __init__(self, pipe: Any, screen: Any = None) -> None:
        self._lines: list[str] = []
        self._shown, self._screen = 0, screen
        # Whether a thread is alive cannot be asked: one whose `join` Ctrl-C ended counts as dead, though it reads on (CPython issue 90882).
        self._ended = threading.Event()
        threading.Thread(target=self._read, args=(pipe,), daemon=True).start()

    def _read(self, pipe: Any) -> None:
        try:
            for line in pipe:
                self._lines.append(line)
        finally:
            self._ended.set()

    def is_open(self) -> bool:
        return not self._ended.is_set()

    def wait(self, seconds: float) -> None:
        self._ended.wait(seconds)

    def show(self) -> None:
        fresh = self._lines[self._shown:]
        self._shown += len(fresh)
        if fresh and self._screen is not None:
            self._screen.write("".join(fresh))
            self._screen.flush()

    def text(self) -> str:
        return "".join(self._lines)


def _outcome(code: int, out: str, err: str, behind: Optional[list[str]] = None) -> Document:
    found = of_json(out) if out.strip() else None
    if code == 0 and found is not None:
        return found
    said = [line for line in err.splitlines() if line.strip()]
    sentence = said[-1].removeprefix("ioscape: ") if said else f"ioscape ended with {code}"
    if behind and found is not None and _is_of_command(found):
        raise CommandFailed(sentence, found, code)
    kind: type[IoscapeError] = _ERRORS.get(code, Failed)
    raise kind(sentence, found)


def _is_of_command(found: Document) -> bool:
    """Whether the exit code is that of the command which was run, and not of the program, which was interrupted or could not save."""
    is_done: bool = found.characterization is not None and found.characterization.ending == {"exit": 0}
    return not (found.interrupted or is_done)


def of_json(text: str) -> Document:
    """The document in a text of JSON. Keys of newer versions are left out."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Misuse(f"this is not JSON: {error}") from None
    schema = str(value.get("schema", "")) if isinstance(value, dict) else ""
    if not schema.startswith("ioscape/"):
        raise Misuse('this is not a result of ioscape: it has no "schema"')
    if schema != "ioscape/1":
        raise Misuse(f"this was written by a newer ioscape (schema {schema}): update ioscape")
    try:
        found: Document = _of_value(Document, value)
    except (TypeError, AttributeError) as error:
        raise Misuse(f"the result is damaged: {error}") from None
    return found


def load(path: Words) -> Document:
    """Reads a result file.

    Raises `Misuse` where it is no result of ioscape, and `OSError` where it cannot be read.
    """
    try:
        found = of_json(Path(path).read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise Misuse(f"this is not JSON: {error}") from None
    if found.trace_summary is not None or found.comparison is not None:
        # Earlier versions wrote zeros for what a trace does not record, and judged comparisons by another rule; the program corrects both.
        with contextlib.suppress(Failed):
            return document(["report", path], {})
    return found


_HINTS: dict[type, dict[str, Any]] = {}


def _hints(kind: type) -> dict[str, Any]:
    if kind not in _HINTS:
        _HINTS[kind] = typing.get_type_hints(kind, dict(vars(_documents)))
    return _HINTS[kind]


def _of_value(kind: Any, value: Any) -> Any:
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if value is None:
        return None
    if origin in (Union, types.UnionType):
        return _of_value(inside[0], value)
    if origin is list:
        return [_of_value(inside[0], one) for one in value]
    if origin is dict:
        return {key: _of_value(inside[1], one) for key, one in value.items()}
    if isinstance(kind, type) and is_dataclass(kind):
        known = _hints(kind)
        given = {}
        for one in fields(kind):
            key = one.name.rstrip("_") if one.name.rstrip("_") in value else one.name
            if key in value:
                given[one.name] = _of_value(known[one.name], value[key])
        return kind(**given)
    return value
