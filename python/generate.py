"""Makes src/ioscape/_documents.py from the JSON Schema that the program publishes."""

from __future__ import annotations

import json
import keyword
import textwrap
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCHEMA = HERE.parent / "docs" / "document.schema.json"
TARGET = HERE / "src" / "ioscape" / "_documents.py"

HEAD = '''"""The documents of ioscape as dataclasses. Made by generate.py from the JSON Schema: do not edit."""

from __future__ import annotations

from dataclasses import dataclass, field
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
    if len(lines) == 3 and not part["properties"]:
        lines.append("    pass")
    return "\n".join(lines) + "\n"


def source() -> str:
    """The module."""
    schema = json.loads(SCHEMA.read_text())
    defined = schema["$defs"]
    classes = [of_class(name, part, defined) for name, part in sorted(defined.items()) if "properties" in part]
    classes.append(of_class("Document", schema, defined))
    return HEAD.replace(", field", "") + "\n" + "\n\n".join(classes)


if __name__ == "__main__":
    TARGET.write_text(source())
