# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx on the pages of the repository: scripts/site copies them here."""
import pathlib
import re

project = "bisai"
copyright = "The bisai authors, BSD 3-Clause"
root = pathlib.Path(__file__).parents[2]
release = re.search(r"project\(bisai VERSION ([0-9.]+)",
                    (root / "CMakeLists.txt").read_text()).group(1)
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "docs/site/index"
exclude_patterns = [".github", "python", "docs/site/advice.md"]
html_static_path = ["static"]
html_css_files = ["narrow.css"]
html_theme = "furo"
html_title = f"bisai {release}"
myst_heading_anchors = 4
# The README, to which start.md leads, is in no list.
suppress_warnings = ["toc.not_included"]
LINK = re.compile(r"(?<!!)\[([^\]\[]+)\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)")


def unlink(app, page, source):
    """Leaves the words of links to folders and figures, which the site does not have."""
    folder = (root / page).parent
    source[0] = LINK.sub(
        lambda link: link[0] if (folder / link[2]).is_file() else link[1], source[0])


def setup(app):
    app.connect("source-read", unlink)
