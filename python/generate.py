"""Makes src/ioscape/_documents.py from the JSON Schema that the program publishes, and _options.py from the program's own help.

`python3 generate.py` makes the first, `python3 generate.py target/debug/ioscape` both.
"""

from __future__ import annotations

import json
import keyword
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCHEMA = HERE.parent / "docs" / "document.schema.json"
TARGET = HERE / "src" / "ioscape" / "_documents.py"
OPTIONS = HERE / "src" / "ioscape" / "_options.py"

HEAD = '''"""The documents of ioscape as dataclasses. Made by generate.py from the JSON Schema: do not edit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Optional

'''


def hint(part: dict, defined: dict) -> str:
    """The type of a value as Python writes it."""
    if "anyOf" in part:
        return f"Optional[{hint(part['anyOf'][0], defined)}]"
    if "$ref" in part:
        name = part["$ref"].rsplit("/", 1)[1]
        return name if "properties" in defined[name] else hint(defined[name], defined)
    if "enum" in part:
        return f"Literal[{', '.join(repr(word) for word in part['enum'])}]"
    kind = part.get("type")
    if kind == "array":
        return f"list[{hint(part['items'], defined) if 'items' in part else 'Any'}]"
    if kind == "object":
        return f"dict[str, {hint(part.get('additionalProperties', {}), defined)}]"
    return {"integer": "int", "number": "float", "string": "str", "boolean": "bool"}.get(kind, "Any")


def docstring(text: str) -> list[str]:
    """The lines of a docstring inside a class."""
    plain = text.replace("\\", "\\\\").replace('"""', "'''")
    return textwrap.wrap(f'"""{plain}"""', 110, initial_indent="    ", subsequent_indent="    ")


def of_class(name: str, part: dict, defined: dict) -> str:
    """A dataclass: required keys first, then the others, which are None where they are absent."""
    lines = ["@dataclass(kw_only=True)", f"class {name}:"]
    lines += docstring(part.get("description", "") or name)
    required = set(part.get("required", []))
    for key, value in sorted(part["properties"].items(), key=lambda pair: pair[0] not in required):
        own = key + "_" if keyword.iskeyword(key) else key
        kind = hint(value, defined)
        described = value.get("description", "")
        if key in required:
            lines.append(f"    {own}: {kind}")
        else:
            kind = kind if kind.startswith("Optional[") or kind == "Any" else f"Optional[{kind}]"
            lines.append(f"    {own}: {kind} = None")
        # A string after an attribute is what editors and documentation tools show for it.
        if described:
            lines += docstring(described)
    return "\n".join(lines) + "\n"


def source() -> str:
    """The module."""
    schema = json.loads(SCHEMA.read_text())
    defined = schema["$defs"]
    classes = [of_class(name, part, defined) for name, part in sorted(defined.items()) if "properties" in part]
    classes.append(of_class("Document", schema, defined))
    return HEAD + "\n" + "\n\n".join(classes)


# The commands that are functions, and the names of their options' types.
COMMANDS = {
    "evaluate": "EvaluateOptions", "run": "RunOptions", "predict": "PredictOptions", "compare": "CompareOptions",
    "characterize": "CharacterizeOptions", "simulate": "SimulateOptions", "doctor": "DoctorOptions",
    "trace analyze": "TraceAnalyzeOptions", "trace characterize": "TraceCharacterizeOptions", "trace import": "TraceReadOptions",
}
# The document is what a function gives: these say how the summary looks, which is not printed.
PRINTING = ("help", "json", "color", "width", "dry-run")
# A table is what `trace.read` gives.
TO_A_FILE = ("output", "output-format", "force")

OPTIONS_HEAD = '''"""The options of the program as types of keyword arguments. Made by generate.py from the program's help: do not edit."""

from __future__ import annotations

import os
from typing import Literal, Mapping, Optional, Sequence, TypedDict, Union

# The place of a file or directory.
Place = Union[str, "os.PathLike[str]"]
# Bytes: a number, or a text such as "64k" or "1.5G" (powers of 1024).
Size = Union[int, str]
# Seconds, or a text such as "500ms", "30s" or "10m".
Time = Union[int, float, str]
# A disk by its name, by the number at the end of it, or else by its place from 0.
Disk = Union[int, str]

'''

# The types of values, by what the help calls them; all others are texts.
KINDS = {"SIZE": "Size", "TIME": "Time", "N": "int", "FRAC": "float", "FACTOR": "float", "FILE": "Place", "DIR": "Place", "RESULT": "Place",
         "TRACE": "Place", "JOB.toml": "Place", "SET | JOB.toml | RESULT.json": "Place", "[DEVICE=]NAME | FILE": "Place", "DISK": "Disk"}
# One of these is a value of any option.
SAMPLES = ("1G", "1s", "1", "60", "none", "a=1", "cache=none", "memory=1G", "throughput < 1", "500MB/s")
# Every command refuses this, so that nothing is ever carried out here; what stands before it is refused first.
REFUSED = ("--width", "?")


@dataclass
class Option:
    """An option as the help tells it."""

    name: str
    # What the help calls its value; None: it takes none.
    value: str | None
    text: str


def told(program: str, words: list[str]) -> str:
    """What the program says to a line."""
    done = subprocess.run([program, *words], capture_output=True, text=True)
    return done.stdout + done.stderr


def options_in(help_text: str) -> list[Option]:
    """The options that a help names, in its order."""
    found: list[Option] = []
    for line in help_text.split("Options:\n", 1)[1].splitlines():
        begun = re.fullmatch(r"\s{2,6}(?:-\w, )?--([a-z-]+)(?: <(.+)>)?", line)
        if begun:
            found.append(Option(begun[1], begun[2], ""))
        elif line.startswith(" " * 10) and found:
            found[-1].text += " " + line.strip()
    return found


def words_of(program: str, command: list[str], option: Option) -> list[str]:
    """The only words that the program takes as value, as it says itself; none where it takes others."""
    said = told(program, [*command, f"--{option.name}", "?", *REFUSED])
    named = re.search(r"(?:one of|known are|possible values:|give) ([a-z0-9_, -]+?)\]? \(see --help\)", said)
    return [word for word in re.split(", | or ", named[1]) if " " not in word and is_taken(program, command, option, [word])] if named else []


def is_taken(program: str, command: list[str], option: Option, values: list[str]) -> bool:
    """Whether the program takes the values, so that it has nothing against the line but what it always refuses."""
    given = [word for value in values for word in (f"--{option.name}", value)]
    return "invalid value '?' for '--width" in told(program, [*command, *given, *REFUSED])


def hint_of(program: str, command: list[str], option: Option) -> str:
    """The type of an option as Python writes it."""
    if option.value is None:
        return "bool"
    words = words_of(program, command, option)
    kind = f"Literal[{', '.join(map(repr, words))}]" if words else KINDS.get(option.value, "str")
    sample = next(value for value in (*words, *SAMPLES) if is_taken(program, command, option, [value]))
    if is_taken(program, command, option, [sample, sample]):
        kind = f"Union[{kind}, Sequence[{kind}]]"
        kind = kind.replace("]]", "], Mapping[str, Union[str, int, float]]]") if "=" in option.value and "[" not in option.value else kind
    return f"Optional[{kind}]"


def plain(text: str) -> str:
    """What the help tells of an option, in one line."""
    text = re.sub(r"\s+", " ", re.sub(r"\[alias: [^]]*\]", "", text))
    return re.sub(r" (?:Possible values: )?- (?=[a-z]+: )", "; ", text).strip()


def of_command(program: str, command: str, name: str) -> str:
    """The type of a command's options."""
    words = command.split()
    lines = [f"class {name}(TypedDict, total=False):", f'    """Options of `ioscape {command}`."""']
    for option in options_in(told(program, [*words, "--help"])):
        if option.name in PRINTING or command == "trace import" and option.name in TO_A_FILE:
            continue
        own = option.name.replace("-", "_")
        lines.append(f"    {own + '_' if keyword.iskeyword(own) else own}: {hint_of(program, words, option)}")
        lines += docstring(plain(option.text))
    return "\n".join(lines) + "\n"


def options_source(program: str) -> str:
    """The module of options, as this program has them."""
    return OPTIONS_HEAD + "\n" + "\n\n".join(of_command(program, command, name) for command, name in COMMANDS.items())


if __name__ == "__main__":
    TARGET.write_text(source())
    if len(sys.argv) > 1:
        OPTIONS.write_text(options_source(sys.argv[1]))
