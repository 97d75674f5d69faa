"""A column that a person's own Python function makes: the features of each word.

The function is called as ``function(tokens, i)`` for word ``i`` of ``tokens`` (a Sentence: a
sequence of its words, with their other columns in ``tokens.columns``). It returns strings, or a
mapping whose values are strings (``key=value`` is the feature) and bools (``key`` is one if it is
true).

What it returns stands in the column FEATURES, separated by bars, and the template PIECES makes
features of it. All else is as with other templates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, ModelError, encodable, quote
from perceptron_nlp.features.templates import Template, check_templates
from perceptron_nlp.tagger.model.derived import FEATURES, Around, Sentences
from perceptron_nlp.tagger.model.weights import Reader, Writer
from perceptron_nlp.text.sentence import Sentence, with_columns

"""The column's name."""
PIECES = Template.parse(f"column:{FEATURES}.word.pieces")
FUNCTION_TEMPLATES = (PIECES, Template.parse("tag[-1]"), Template.parse("tag[-1] tag[-2]"))
"""The templates of a tagger with a function, if none are given."""
Features: TypeAlias = Iterable[str] | Mapping[str, "str | bool"]
Extractor: TypeAlias = Callable[[Sentence, int], Features]
# A bar ends a feature, and nothing is none.
_ESCAPED = str.maketrans({"\\": r"\\", "|": r"\p"})
_EMPTY = r"\e"


class FeatureFunction(NamedTuple):
    """A feature function, or as much of it as a model file has.

    name : its module and qualified name
    call : the function; None in a model that was read without it
    """

    name: str
    call: Extractor | None = None

    @classmethod
    def of(cls, function: Extractor) -> FeatureFunction:
        """Return a function with its name; ArgumentTypeError if it cannot be called so."""
        # Here, since tagging does without.
        import inspect

        if not callable(function):
            raise ArgumentTypeError(
                f"features: a function is needed, not {type(function).__name__}"
            )
        module = getattr(function, "__module__", None) or "?"
        name = f"{module}.{getattr(function, '__qualname__', type(function).__qualname__)}"
        try:
            inspect.signature(function).bind(Sentence(()), 0)
        except TypeError:
            raise ArgumentTypeError(
                f"features: {name} must take two arguments, (tokens, i); labels given before are"
                " templates, tag[-1] and tag[-1] tag[-2] unless others are given"
            ) from None
        except ValueError:
            # A callable of C, which does not say what it takes.
            pass
        return cls(name, function)

    def column(self, sentence: Sequence[str]) -> tuple[str, ...]:
        """Return the values of the column for a sentence.

        Raises ModelError if the function is not at hand; ArgumentTypeError, ArgumentError if it
        returned something other than features.
        """
        call = self.checked().call
        assert call is not None
        tokens = sentence if isinstance(sentence, Sentence) else Sentence(sentence)
        return tuple([self._value(call(tokens, i)) for i in range(len(tokens))])

    def checked(self) -> FeatureFunction:
        """Return the function itself; ModelError if it is not at hand."""
        if self.call is None:
            raise ModelError(
                f"this model was trained with the feature function {self.name}; give it to"
                " load: pn.load(path, features=your_function)"
            )
        return self

    def added_to(self, sentence: Sequence[str]) -> Sentence:
        """Return a sentence with the column."""
        return with_columns(sentence, {FEATURES: self.column(sentence)})

    @property
    def key(self) -> str:
        """See Derived."""
        return "extractor"

    @property
    def looks_around(self) -> bool:
        """See Derived."""
        return True

    def needs(self, columns: frozenset[str]) -> frozenset[str]:
        """See Derived; what the function looks at is its own business."""
        return columns - {FEATURES}

    def add(self, sentences: Sentences, around: Around) -> list[Sentence]:
        """See Derived."""
        return [self.added_to(sentence) for sentence in sentences]

    def write(self, writer: Writer) -> str:
        """See Derived: its name alone."""
        return self.name

    @classmethod
    def read(cls, described: Any, reader: Reader) -> FeatureFunction:
        """See Derived."""
        if not isinstance(described, str):
            raise reader.bad("extractor", "not a name")
        return cls(described)

    def _value(self, found: object) -> str:
        if isinstance(found, str | bytes) or not isinstance(found, Iterable):
            raise ArgumentTypeError(
                f"features: {self.name} returned {type(found).__name__}; strings, or a mapping"
                " from strings to strings and bools, are needed"
            )
        if isinstance(found, set | frozenset):
            # Its own order is that of the day's hashes, and sums would round in it.
            found = sorted(found, key=str)
        names = [self._string(name) for name in found]
        if isinstance(found, Mapping):
            values = found.values()
            named = [self._named(*item) for item in zip(names, values, strict=True)]
            names = [name for name in named if name is not None]
        text = "|".join([name.translate(_ESCAPED) or _EMPTY for name in names])
        if not encodable(text):
            bad = next(name for name in names if not encodable(name))
            raise ArgumentError(
                f"features: {quote(bad)} from {self.name} holds a lone surrogate, which is not text"
            )
        return text

    def _string(self, name: object) -> str:
        if not isinstance(name, str):
            raise ArgumentTypeError(
                f"features: {self.name} returned a feature of type {type(name).__name__}; a str is"
                " needed"
            )
        return str.__str__(name)

    def _named(self, name: str, value: object) -> str | None:
        """Return the feature of an item of a mapping, if it is one."""
        if isinstance(value, str):
            return f"{name}={value}"
        if not isinstance(value, bool):
            raise ArgumentTypeError(
                f"features: {self.name} returned {quote(name)} with a value of type"
                f" {type(value).__name__}; a str or a bool is needed: put numbers into classes,"
                " such as 'long'"
            )
        return name if value else None


def templates_with_function(
    templates: str | Sequence[Template | str], auto: str
) -> str | Sequence[Template | str]:
    """Return the templates of a tagger with a function, of those asked for; `auto` asks for none.

    Raises ArgumentError if none of a list looks at the function's column.
    """
    if isinstance(templates, str):
        return FUNCTION_TEMPLATES if templates == auto else templates
    checked = check_templates(templates)
    if not any(FEATURES in template.columns for template in checked):
        raise ArgumentError(
            f"templates: none looks at what the function makes; add {PIECES}, or leave features out"
        )
    return checked
