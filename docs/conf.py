"""How Sphinx builds the site; ``make docs`` puts it into out/docs."""

from __future__ import annotations

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
html_title = f"perceptron_nlp {release}"
# The pages that the library writes have the same colors and type.
html_favicon = "../perceptron_nlp/pages/templates/icon.svg"
html_static_path = ["_static", "../perceptron_nlp/pages/templates/tokens.css"]
html_css_files = ["tokens.css", "site.css", "home.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
