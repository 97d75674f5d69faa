"""Learning lemmas: a column of edit scripts, learned from words and their tags."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from perceptron_nlp.crossfit import unheard
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.features.templatefile import preset
from perceptron_nlp.features.templates import Template
from perceptron_nlp.tagger.model.derived import Around, with_each
from perceptron_nlp.tagger.model.label_components import UPOS
from perceptron_nlp.tagger.model.lemmas import KNOWN, SEVERAL, KnownLemmas, form_hash
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.tag.label import Labeler
from perceptron_nlp.tagger.train.stacking import HELD_OUT, Fit, with_predicted_tags
from perceptron_nlp.text.script_making import alphabet_of, make_script
from perceptron_nlp.text.scripts import LEMMA, Script, lowered, read_in
from perceptron_nlp.text.sentence import Sentence, with_columns
from perceptron_nlp.text.tagset import check_label

RUNS, EPOCHS = 4, 6  # of lemmas
# If predicted tags cost more accuracy on dev than this, lemmas are learned from such tags, too, and
# dev tells if that was better.
MUCH_LOST = 0.025


def learn_lemmas(
    train: Sequence[Sentence],
    dev: Sequence[Sentence] | None,
    fit: Fit,
    tags: Sequence[str],
    taggers: Callable[[], Sequence[TaggerModel]] = tuple,
    always_jackknife: bool = False,
    lexicon: Iterable[tuple[str, str]] = (),
    threads: int = 1,
    **options: Any,
) -> TaggerModel:
    """Return a model that gives words their lemmas.

    train, dev : sentences with lemmas; ``_`` on a word of another form says that it has none
    fit : what trains a tagger of sentences
    tags : those of upos, xpos and feats that the sentences have, and that all text will have
    taggers : gives those that predict the tags in use, as soon as they are there; none if text has
        them
    always_jackknife : learn from predicted tags, too, even if they cost little on `dev`
    lexicon : further lemmas with their parts of speech
    threads : trainings at a time
    options : further options of the training, such as the seed

    Raises ArgumentError for a lemma that no file format can carry.
    """
    _check_lemmas(train)
    alphabet = alphabet_of(
        (word, lemma)
        for sentence in train
        for word, lemma in zip(sentence.words, sentence.column(LEMMA), strict=True)
        if lemma != "_"
    )
    scripts = [_scripts(sentence, alphabet) for sentence in train]
    lemmas = _known_lemmas(train, scripts, tags, alphabet).with_lexicon(lexicon)
    columns = [*tags, KNOWN]
    short = _unknown_short(train)
    known = itertools.chain(*scripts, *short[1])
    labels = {script: str(script) for script in known if script is not None}

    def example(sentence: Sentence, own: Sequence[Script | None]) -> Sentence:
        """Return the same with its known lemmas, and scripts in place of the lemmas."""
        written = tuple("_" if script is None else labels[script] for script in own)
        return with_columns(_with_known(sentence, lemmas, tags), {LEMMA: written})

    examples = [*map(example, train, scripts), *map(example, *short)]
    held_out = None if dev is None else [_with_known(sentence, lemmas, tags) for sentence in dev]

    def learned(sentences: list[Sentence]) -> TaggerModel:
        return fit(
            sentences,
            dev=held_out,
            column=LEMMA,
            fields=("form", *columns, LEMMA),
            templates=lemma_templates(columns),
            right_to_left=False,
            lemmas=lemmas,
            **{"runs": RUNS, "epochs": EPOCHS, **options},
        )

    gold, behind = None, list[Sentence]()
    if not (always_jackknife and taggers()):
        gold = learned(examples)
        if not taggers() or not dev:
            return gold
        behind = _with_tags(taggers(), dev)
        lost = _n_correct(gold, dev) - _n_correct(gold, behind)
        if lost <= MUCH_LOST * sum(map(len, dev)):
            return gold
    predicted = with_predicted_tags(train, taggers(), fit, options.get("seed", 1), threads)
    examples += map(example, predicted, scripts[HELD_OUT])
    if gold is None:
        return learned(examples)
    with unheard():
        both = learned(examples)
    return max(gold, both, key=lambda model: _n_correct(model, behind))


def _known_lemmas(
    train: Sequence[Sentence],
    scripts: Sequence[Sequence[Script | None]],
    tags: Sequence[str],
    alphabet: str,
) -> KnownLemmas:
    """Return the lemmas of sentences, and the scripts of their words that were met twice."""
    forms: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for sentence, own in zip(train, scripts, strict=True):
        rows = (sentence.words, parts_of_speech(sentence, tags), sentence.column(LEMMA), own)
        for form, upos, lemma, script in zip(*rows, strict=True):
            if script is None:
                continue
            key = f"{lowered(lemma, alphabet)}\t{upos}"
            one = form_hash(lowered(read_in(form, alphabet), alphabet))
            if forms.setdefault(key, one) != one:
                forms[key] = SEVERAL
            if script.literal is None:
                counts[str(script._replace(case="l"))] += 1
    found = (label for label, n in counts.items() if n > 1)
    common = sorted(found, key=lambda label: (-counts[label], label))
    return KnownLemmas(alphabet, common, dict(sorted(forms.items())))


def _check_lemmas(sentences: Sequence[Sentence]) -> None:
    """Raise ArgumentError for a lemma that is no label: scripts, which escape it, always are."""
    for lemma in sorted({lemma for sentence in sentences for lemma in sentence.column(LEMMA)}):
        try:
            check_label(lemma)
        except ArgumentError as error:
            raise ArgumentError(f"train: column {LEMMA}: {error}") from None


def _with_tags(taggers: Sequence[TaggerModel], dev: Sequence[Sentence]) -> list[Sentence]:
    """Return sentences with the tags that these predict."""
    found = list(dev)
    for tagger in taggers:
        labels = Labeler(tagger).label([sentence.words for sentence in dev])
        found = with_each(found, tagger.column, labels)
    return found


def _n_correct(model: TaggerModel, gold: Sequence[Sentence]) -> int:
    """Return how many words of sentences with their tags get the right lemma."""
    lemmas = Labeler(model).label([*gold])
    return sum(
        lemma == right
        for own, sentence in zip(lemmas, gold, strict=True)
        for lemma, right in zip(own, sentence.column(LEMMA), strict=True)
    )


def lemma_templates(columns: Sequence[str]) -> tuple[Template, ...]:
    """Return the templates of lemmas that look at no other columns than these."""
    return tuple(t for t in preset("lemmas") if {*t.columns} <= {*columns})


def parts_of_speech(sentence: Sentence, tags: Sequence[str]) -> Sequence[str]:
    """Return the parts of speech of a sentence; where nobody knows them, all are the same."""
    return sentence.column(UPOS) if UPOS in tags else ("_",) * len(sentence)


def _scripts(sentence: Sentence, alphabet: str) -> list[Script | None]:
    return [
        None if lemma == "_" != word else make_script(word, lemma, alphabet)
        for word, lemma in zip(sentence.words, sentence.column(LEMMA), strict=True)
    ]


def _unknown_short(train: Sequence[Sentence]) -> tuple[list[Sentence], list[list[Script | None]]]:
    """Return examples of abbreviations that nobody knows, which are their own lemmas.

    They are those of training that stand for their lemmas, their first letters backward: what
    *Aug.* is short for must not be learned of other words that end with *g.*
    """
    found: list[Sentence] = []
    for sentence in train:
        lemmas = sentence.column(LEMMA)
        for at, (word, lemma) in enumerate(zip(sentence.words, lemmas, strict=True)):
            turned = (word[-3::-1] + word[-2:]).lower()
            if word[-1] == "." and lemma[-1].isalpha() and turned != word.lower():
                form = turned.capitalize() if word[0].isupper() else turned
                columns = {name: (own[at],) for name, own in sentence.columns.items()}
                found.append(Sentence([form], {**columns, LEMMA: (form,)}))
    return found, [_scripts(one, "") for one in found]


def _with_known(sentence: Sentence, lemmas: KnownLemmas, tags: Sequence[str]) -> Sentence:
    """Return a sentence with its tags, its lemmas, and the scripts that lead to known ones."""
    columns = {name: sentence.column(name) for name in (*tags, LEMMA)}
    return lemmas.add([Sentence(sentence.words, columns)], Around(tags))[0]
