"""How Sphinx builds the site; ``make docs`` puts it into out/docs."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

project = "perceptron_nlp"
author = "The perceptron_nlp authors"
project_copyright = author
VERSION = (HERE.parent / "perceptron_nlp/_version.py").read_text("utf-8")
release = re.findall(r'^__version__ = "(.+)"', VERSION, re.MULTILINE)[0]
version = release

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
extensions += ["docstrings", "formulas", "verbs"]
exclude_patterns = ["_ext", "_templates"]
# In a console, the comments of CoNLL-U look like the prompt of root.
suppress_warnings = ["config.cache", "misc.highlighting_failure"]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
html_math_renderer = "mathml"

# Notebooks are shown as they stand: docs/_ext/notebooks.py has run them.
nb_execution_mode = "off"

highlight_language = "none"
default_role = "code"

autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Extractor", "Keep", "Labeled")}
autodoc_member_order = "bysource"
# Engines take hundreds of megabytes, and no page needs more of them than their names.
autodoc_mock_imports = ["pyspark", "ray"]
autodoc_default_options = {"members": True}
# A page for each name that the pages of the reference list.
templates_path = ["_templates"]
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
add_module_names = False
toc_object_entries = True
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "perceptron_nlp"
# The pages that the library writes have the same colors and type.
html_favicon = "../perceptron_nlp/pages/templates/icon.svg"
html_static_path = [
    "_static",
    "images/report-desktop.png",
    "../perceptron_nlp/pages/templates/tokens.css",
]
html_css_files = ["tokens.css", "site.css", "home.css"]
html_js_files = ["site.js"]
# What a reader wants first comes first in a search.
html_search_scorer = str(HERE / "_static" / "scorer.js")
# A site that is served somewhere says where, for the card that other sites show of it.
html_baseurl = os.environ.get("PERCEPTRON_NLP_SITE", "")
html_context = {"card": "_static/report-desktop.png", "site": html_baseurl}
html_show_sourcelink = False
html_copy_source = False
html_theme_options: dict[str, object] = {"navigation_with_keys": True}
# Where pages are edited, if they are in public.
repository = os.environ.get("PERCEPTRON_NLP_REPOSITORY", "").rstrip("/")
if repository:
    html_theme_options["source_edit_link"] = f"{repository}/edit/HEAD/docs/{{filename}}"
    html_theme_options["source_view_link"] = f"{repository}/blob/HEAD/docs/{{filename}}"
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/version.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
