"""The documentation is true: its Python blocks run, its links lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"])
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]\n]+\]\(([^)\s]+)\)")


def named(path):
    return path.relative_to(ROOT).as_posix()


def python_blocks(path):
    """Return the Python blocks of a page; one that ends in ``# ...`` is a sketch and is left out."""
    blocks = [code for language, code in FENCE.findall(path.read_text(encoding="utf-8")) if language == "python"]
    return [code for code in blocks if not code.rstrip().endswith("# ...")]


def anchors(path):
    """Return the anchors that the headings of a page make, as Markdown sites derive them."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ +(.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", [path for path in PAGES if python_blocks(path)], ids=named)
def test_python_blocks_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__docs__"}
    for number, code in enumerate(python_blocks(path), 1):
        exec(compile(code, f"{named(path)}, block {number}", "exec"), names)


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_links_lead_somewhere(path):
    for target in LINK.findall(FENCE.sub("", path.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        page = (path.parent / file).resolve() if file else path
        assert page.exists(), target
        assert not anchor or anchor in anchors(page), target


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_page_has_one_title(path):
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1


def test_every_page_can_be_reached():
    pages = {path.resolve() for path in (ROOT / "docs").rglob("*.md")}
    linked = {ROOT / "docs" / "index.md"}
    waiting = list(linked)
    while waiting:
        page = waiting.pop()
        for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
            found = (page.parent / target.partition("#")[0]).resolve()
            if found in pages and found not in linked:
                linked.add(found)
                waiting.append(found)
    assert pages - linked == set()
