"""Makes the pages outside of docs/ to which the book links chapters of it, for mdBook, and looks whether every link of the book leads somewhere.

usage: mdbook runs it (book.toml); python3 docs/book.py check FOLDER, where FOLDER is the book that was built
"""

import json
import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
FENCED = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)


def chapter_of(page):
    """The name in the book of a page of the repository: that of docs/, or one made of its folders."""
    if page.parent == DOCS:
        return page.name
    within = page.relative_to(ROOT)
    words = [*within.parts[:-1], "" if within.stem == "README" else within.stem.lower()]
    return ("-".join(filter(None, words)) or "overview") + ".md"


def title_of(text):
    """The first heading of a page."""
    return next(line[2:].strip("` ") for line in text.splitlines() if line.startswith("# "))


class Pages:
    """The pages outside of docs/ that are linked to, and links as they are in the book."""

    def __init__(self):
        self.outside = []

    def link(self, folder, match):
        """A link of a page in `folder`, as it is in the book; what is no part of the book is named without a link."""
        mark, text, where = match.groups()
        path, _, heading = where.partition("#")
        if "://" in where or not path:
            return match.group(0)
        target = Path(os.path.normpath(folder / path))
        if target.suffix == ".md" and target.is_file():
            if target.parent != DOCS and target not in self.outside:
                self.outside.append(target)
            path = chapter_of(target)
        elif target.is_file() and DOCS in target.parents:
            path = target.relative_to(DOCS).as_posix()
        else:
            return text
        return f"{mark}[{text}]({path}{'#' + heading if heading else ''})"

    def text(self, text, folder):
        """The text of a page in `folder` with its links as they are in the book."""
        parts = FENCED.split(text)
        changed = [LINK.sub(lambda found: self.link(folder, found), part) for part in parts[::2]]
        return "".join(a + b for a, b in zip(changed, [*parts[1::2], ""]))


def chapter(page, text):
    """A chapter as mdBook describes it."""
    name = chapter_of(page)
    return {
        "Chapter": {
            "name": title_of(text),
            "content": text,
            "number": None,
            "sub_items": [],
            "path": name,
            "source_path": name,
            "parent_names": [],
        }
    }


def preprocessed(book):
    """The book with the pages outside of docs/ as its last part."""
    pages = Pages()
    items = book["items"] if "items" in book else book["sections"]
    for item in items:
        if "Chapter" in item:
            item["Chapter"]["content"] = pages.text(item["Chapter"]["content"], DOCS)
    added = []
    # Pages that are added may link to further ones.
    while len(added) < len(pages.outside):
        page = pages.outside[len(added)]
        added.append(chapter(page, pages.text(page.read_text(), page.parent)))
    if added:
        items += [{"PartTitle": "In the repository"}, *added]
    return book


class Named(HTMLParser):
    """Where a page of the finished book leads, and the names that it gives to its parts."""

    def __init__(self):
        super().__init__()
        self.links, self.names = [], set()

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key == "id" or (tag, key) == ("a", "name"):
                self.names.add(value)
            elif key in ("href", "src") and tag != "base":
                self.links.append(value or "")


def named(page):
    """Links and names of a page of the finished book."""
    parser = Named()
    parser.feed(page.read_text())
    return parser


def dead(folder):
    """Links of the finished book that lead nowhere, and how many there are."""
    # What is shown for an address that is not there begins at the root of a server.
    pages = {page: named(page) for page in folder.rglob("*.html") if page.name != "404.html"}
    found, seen = [], 0
    for page, parsed in pages.items():
        for link in parsed.links:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            seen += 1
            target = Path(os.path.normpath(page.parent / unquote(url.path))) if url.path else page
            there = pages[target].names if target in pages else None
            name = unquote(url.fragment)
            if not target.exists() or (name and there is not None and name not in there):
                found.append(f"{page.relative_to(folder)}: {link}")
    return found, seen


def main(words):
    if words[:1] == ["supports"]:
        return 0
    if words[:1] == ["check"]:
        found, seen = dead(Path(words[1]).resolve())
        print("\n".join([*found, f"{seen} links in the book, {len(found)} lead nowhere"]))
        return 1 if found or not seen else 0
    _, book = json.load(sys.stdin)
    json.dump(preprocessed(book), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
