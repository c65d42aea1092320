"""Hooks of mkdocs: adds pages outside docs/ to the site, and leads links to the pages of the site.

README.md becomes the first page. Links to files that are no pages, such as headers, become their text.
"""
import posixpath
import re
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "LICENSES.md"]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def sources_outside():
    """Returns the pages outside docs/ as paths in the repository."""
    return OUTSIDE + sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("bench/RESULTS*.md"))


def place_of(source):
    """Returns the path in the site of a file of the repository."""
    return "index.md" if source == "README.md" else source.removeprefix("docs/")


def source_of(place):
    """Returns the file of the repository of a path in the site."""
    if place == "index.md":
        return "README.md"
    return place if place in sources_outside() else f"docs/{place}"


def on_files(files, config):
    """Adds the pages outside docs/."""
    for source in sources_outside():
        files.append(File.generated(config, place_of(source), abs_src_path=str(ROOT / source)))
    return files


def led(match, place, files):
    """Returns a link of the page at `place` as the site needs it."""
    mark, text, target = match.groups()
    path, hash_, anchor = target.partition("#")
    if not path or "://" in path:
        return match[0]
    source = posixpath.normpath(posixpath.join(posixpath.dirname(source_of(place)), path))
    if files.get_file_from_path(place_of(source)):
        near = posixpath.relpath(place_of(source), posixpath.dirname(place) or ".")
        return f"{mark}[{text}]({near}{hash_}{anchor})"
    if not (ROOT / source).exists():
        raise PluginError(f"{source_of(place)}: leads nowhere: {target}")
    return text


def on_page_markdown(markdown, page, config, files):
    """Rewrites the links of a page, except in blocks of code."""
    lines, fenced = [], False
    for line in markdown.split("\n"):
        fenced ^= line.lstrip().startswith("```")
        lines.append(line if fenced else LINK.sub(lambda match: led(match, page.file.src_uri, files), line))
    return "\n".join(lines)
