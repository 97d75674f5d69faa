"""Templates: what makes one feature, and lists of them as files.

A template is a conjunction of atoms (atoms.py says which there are), written with spaces
between them: ``lower[-1] lower[0]`` is one feature for each pair of neighbouring words. A list
is a text with a template on each line; empty lines and lines that start with ``#`` do not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from perceptron_nlp.errors import ArgumentTypeError, TemplateError, quote
from perceptron_nlp.features.atoms import MANY, Atom, parse_atom
from perceptron_nlp.records import record

if TYPE_CHECKING:
    from pathlib import Path

MAX_ATOMS = 8
MAX_TEMPLATES = 1000


@record()
class Template:
    """One kind of feature: its atoms, all of which must agree.

    ``Template.parse("tag[-1] lower[0]")`` reads one; ``str()`` writes it in the one spelling that
    its hash and the model file use.

    Attributes
    ----------
    atoms : tuple of Atom, 1 to 8 of them, no two alike
    """

    atoms: tuple[Atom, ...]

    @classmethod
    def parse(cls, text: str) -> Template:
        """Read a template.

        Raises
        ------
        TemplateError : it does not follow the language; the message quotes the piece
        ArgumentTypeError : text is not a str
        """
        if not isinstance(text, str):
            raise ArgumentTypeError(f"text: a str is needed, not {type(text).__name__}")
        atoms = tuple(parse_atom(piece) for piece in text.split())
        if not 1 <= len(atoms) <= MAX_ATOMS:
            raise TemplateError(
                f"{quote(text)}: a template has 1 to {MAX_ATOMS} atoms, this one {len(atoms)}"
            )
        if len(set(atoms)) < len(atoms):
            raise TemplateError(f"{quote(text)}: an atom stands in it twice")
        template = cls(atoms)
        template._check_many(text)
        return template

    def in_text_order(self, right_to_left: bool) -> str:
        """The template as people read it; see Atom.in_text_order."""
        return " ".join(atom.in_text_order(right_to_left) for atom in self.atoms)

    def _check_many(self, text: str) -> None:
        """Many-valued atoms stay on one word, so that they can be worked out once per word."""
        many = [atom for atom in self.atoms if atom.value and atom.value.affix in MANY]
        if not many:
            return
        places = {(a.value.column, a.offset) for a in self.atoms if a.value}
        other = [atom for atom in self.atoms if atom.kind != "value"]
        if len(many) > 1 or len(places) > 1 or other:
            raise TemplateError(
                f"{quote(text)}: n-grams and pieces go together only with other values of the same"
                " word, and once in a template"
            )

    @property
    def columns(self) -> frozenset[str]:
        """Columns that it looks at, besides the words themselves."""
        return frozenset(a.value.column for a in self.atoms if a.value) - {"form"}

    def __str__(self) -> str:
        return " ".join(map(str, self.atoms))


def parse_templates(text: str, name: str = "templates") -> tuple[Template, ...]:
    """Read a list of templates, one a line.

    Parameters
    ----------
    text : the list
    name : what to call it in messages, a file's name for instance

    Raises
    ------
    TemplateError : with ``name:line``; also where a template stands twice, or none at all
    """
    found: dict[Template, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            template = Template.parse(line)
        except TemplateError as error:
            raise TemplateError(f"{name}:{number}: {error}") from None
        if template in found:
            raise TemplateError(
                f"{name}:{number}: {quote(str(template))} stands in line {found[template]} already"
            )
        found[template] = number
    return check_templates(found, name)


def check_templates(
    templates: Iterable[Template | str], name: str = "templates"
) -> tuple[Template, ...]:
    """A person's list as Template objects, checked.

    Raises
    ------
    TemplateError : empty, too long, twice the same, or a str that is no template
    ArgumentTypeError : no list, or something in it is neither Template nor str
    """
    if not isinstance(templates, Iterable):
        raise ArgumentTypeError(
            f"{name}: a list of templates is needed, not {type(templates).__name__}"
        )
    parsed: list[Template] = []
    for item in templates:
        if not isinstance(item, str | Template):
            raise ArgumentTypeError(f"{name}: Template or str is needed, not {type(item).__name__}")
        # A Template may have been put together by hand; its text says whether it is one.
        template = Template.parse(str(item))
        if isinstance(item, Template) and template != item:
            raise TemplateError(f"{name}: {quote(str(item))} does not follow the language")
        parsed.append(template)
    if not 1 <= len(parsed) <= MAX_TEMPLATES:
        raise TemplateError(f"{name}: 1 to {MAX_TEMPLATES} templates are needed, not {len(parsed)}")
    if len(set(parsed)) < len(parsed):
        raise TemplateError(f"{name}: a template stands in it twice")
    return tuple(parsed)


def preset_names() -> list[str]:
    """Names of the template lists that come with the library, in alphabetical order."""
    folder = _presets()
    return sorted(
        item.name.removesuffix(".txt") for item in folder.iterdir() if item.name.endswith(".txt")
    )


def preset(name: str, columns: Sequence[str] = ()) -> tuple[Template, ...]:
    """A template list that comes with the library.

    Parameters
    ----------
    name : one of preset_names()
    columns : further columns of the input that are evidence; each gets the templates of
        ``presets/COLUMN.template``, or where there is none ``NAME.template``, or where there is
        none ``columns.template``, with its name put in

    Raises
    ------
    TemplateError : no list has that name; the message gives the nearest
    """
    names = preset_names()
    if name not in names:
        # Here, since a program that nothing goes wrong in does without.
        import difflib

        close = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"
        raise TemplateError(f"no template list is called {quote(name)}; {hint}")
    folder = _presets()
    text = (folder / f"{name}.txt").read_text("utf-8")
    patterns = {
        item.name.removesuffix(".template"): item
        for item in folder.iterdir()
        if item.name.endswith(".template")
    }
    usual = patterns.get(name, patterns["columns"])
    for column in columns:
        own = usual if column in names else patterns.get(column, usual)
        text += own.read_text("utf-8").replace("NAME", column)
    return parse_templates(text, name)


def _presets() -> Path:
    # Here, since tagging does without. importlib.resources would bring in as much as NumPy does.
    from pathlib import Path

    return Path(__file__).with_name("presets")
