"""The tagger that people use: label, evaluate, save.

What other things than labeling take is imported where it is asked for: a program that only tags
does not wait for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, overload

import perceptron_nlp.formats as formats
from perceptron_nlp._checks import (
    check_choice,
    check_flag,
    check_int,
    check_text,
    check_threads,
    check_tokens,
    did_you_mean,
    parse_size,
    sentence_list,
    token_list,
)
from perceptron_nlp._core.model.frozenmodel import CacheMemory
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, FileError, ModelError
from perceptron_nlp.formats import map_file_bytes, read_file_bytes
from perceptron_nlp.tagger.model.file import FOLDER, model_from_bytes, model_to_bytes
from perceptron_nlp.tagger.model.model import NO_TAGS, TEXT, TaggerModel, joined
from perceptron_nlp.tagger.tag.label import Labeler, make_labeler

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from perceptron_nlp.tagger.evaluation import Evaluation
    from perceptron_nlp.tagger.explain.explanation import Explanation
    from perceptron_nlp.tagger.gold import Evaluations
    from perceptron_nlp.tagger.labelers import ColumnLabelers
    from perceptron_nlp.tagger.model.derived import Around
    from perceptron_nlp.tagger.model.feature_function import Extractor
    from perceptron_nlp.tagger.model.installed import InstalledModel
    from perceptron_nlp.tagger.sources import Labeled, LabelLists, Source
    from perceptron_nlp.tagger.tag.arrays import LabelArrays
    from perceptron_nlp.tagger.tag.constraints import Keep, Lexicon, LexiconSource
    from perceptron_nlp.tagger.tag.segment import AbbreviationSource, Segmenter
    from perceptron_nlp.tagger.tag.text import TextSentence
    from perceptron_nlp.tagger.text_scores import TextScores
    from perceptron_nlp.tagger.train.clusters import RawSource
    from perceptron_nlp.tagger.train.loop import Callback


BUNDLED = ("en",)
_FEW_NAMES = 8


class Tagger:
    """A trained tagger. It does not change; one object serves any number of threads.

    Made by ``perceptron_nlp.train`` or ``perceptron_nlp.load``. It pickles and copies through
    its own file form. One of several columns has a tagger for each of them in ``by_column``, and
    labels one column by itself, several so that ``upos``, ``xpos`` and ``feats`` agree: a token
    gets a combination of labels that training met.

    Parameters
    ----------
    model : what was trained
    cache_size : bytes that what is remembered of words may take, in all columns and threads
        together, or a size such as ``"256MB"``; None for 64 MB. Labels do not depend on it
    lexicon : what labels some forms may have; see with_lexicon
    earlier : taggers of columns that this one looks at, by column; text need not have these

    Raises
    ------
    ModelError : the model needs a feature function, or its parts do not fit together
    """

    def __init__(
        self,
        model: TaggerModel,
        *,
        cache_size: int | str | None = None,
        lexicon: Lexicon | None = None,
        earlier: Mapping[str, Tagger] = MappingProxyType({}),
    ) -> None:
        self._set_up(model, _memory_of(cache_size), lexicon, earlier)

    def _set_up(
        self,
        model: TaggerModel,
        memory: CacheMemory,
        lexicon: Lexicon | None,
        earlier: Mapping[str, Tagger],
    ) -> None:
        self.model = model
        self._memory = memory
        self._lexicon = lexicon
        self._earlier = dict(earlier)
        self._parts = self._parts_by_column() if model.more else ()
        self._own: Labeler | None = self._parts[0]._labeler if model.more else None
        if not model.more and model.column != TEXT:
            own = {name: part._labeler for name, part in self._earlier.items()}
            self._own = make_labeler(model, self._memory, lexicon, own)
        for part in self._parts:
            if len(part._earlier) > 1:
                part._labeler.look_at_agreed(partial(self._agreed, tuple(part._earlier)))

    @property
    def _labeler(self) -> Labeler:
        """What labels its first column; ModelError if it only cuts text."""
        if self._own is None:
            raise ModelError(NO_TAGS)
        return self._own

    @cached_property
    def labelers(self) -> ColumnLabelers:
        """What labels its columns, for programs that take a tagger apart."""
        from perceptron_nlp.tagger.labelers import ColumnLabelers

        parts = {name: part._labeler for name, part in self.by_column.items()}
        return ColumnLabelers(self.model, parts, self._memory)

    def _agreed(
        self, columns: Sequence[str], sentences: Sequence[Sequence[str]], around: Around
    ) -> dict[str, list[list[str]]]:
        """Return the labels of columns that another one looks at, as they are tagged together."""
        found = self.labelers.label(sentences, 1, None, around.before, around.after, columns)
        return {name: labels for name, (labels, _) in found.items()}

    def _parts_by_column(self) -> tuple[Tagger, ...]:
        """Return a tagger for each column, with those of earlier columns that it looks at."""
        parts: dict[str, Tagger] = {}
        for part in self.model.parts_by_column:
            own = self._lexicon is not None and self._lexicon.column == part.column
            earlier = {name: one for name, one in parts.items() if name in part.feature_columns}
            parts[part.column] = one = Tagger.__new__(Tagger)
            one._set_up(part, self._memory, self._lexicon if own else None, earlier)
        return tuple(parts.values())

    @property
    def feature_columns(self) -> tuple[str, ...]:
        """Columns that text must have in addition to its words, in alphabetical order."""
        needed = {n for part in self.by_column.values() for n in part.model.feature_columns}
        return tuple(sorted(needed - {*self._earlier, *self.columns}))

    def resume(
        self,
        data: Labeled,
        *,
        epochs: int | None = None,
        dev: Labeled | None = None,
        average: str = "all",
        format: str = "auto",
        fields: Sequence[str] | None = None,
        callback: Callback | None = None,
    ) -> Tagger:
        """Return a tagger that continues learning from other sentences.

        It is what one training over the old sentences and then these would have given, weight for
        weight: the average, AdaGrad's sums, the numbers of the epochs and the order of sentences go
        on from where they were. Templates, columns, options and tables stay; the vocabulary grows,
        and so do the labels, of which a new one begins with weights of 0. A word of the dictionary
        whose label the new sentences speak against is scored from now on. The new tagger can be
        resumed in its turn; this one does not change.

        Parameters
        ----------
        data, dev, format, fields, callback : as for ``perceptron_nlp.train``; `dev` chooses among
            the new epochs
        epochs : 1 to 10,000; passes over the new sentences; None for as many as in training
        average : ``"all"``, the mean over all words since the beginning of the first training, or
            ``"new"``, over the new ones alone, which forgets more of the old

        Raises
        ------
        ArgumentError, ArgumentTypeError : the tagger keeps no state of its training (train it with
            ``resumable=True``), an option cannot be used, or the labels are of another kind
        FileError, FormatError : as for train
        """
        from perceptron_nlp.tagger.train.resuming import go_on

        model = go_on(
            self.model,
            data,
            dev=dev,
            epochs=epochs,
            average=average,
            format=format,
            fields=fields,
            callback=callback,
        )
        return Tagger(model, cache_size=self._memory.n_bytes)

    def without_state(self) -> Tagger:
        """Return the tagger without the training state, which is most of a file."""
        return self._with(self.model.without_state())

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels that it learned, in code point order; what `scores` are of.

        They are the ones that it gives, except of spans, which are learned in IOBES however they
        are written, and of sets of features, which may be learned with parts of speech before them;
        ``model.written_labels`` are what it may write.
        """
        return self.model.tags.labels

    @property
    def column(self) -> str:
        """The (first) column that it was trained on; ``text`` if it only cuts text."""
        return self.model.column

    @property
    def window(self) -> int:
        """Sentences of document context on either side; 0 for none."""
        return max(part.window or 0 for part in self.model.parts_by_column)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that it was trained on, as they were named; none if it only cuts text."""
        return self.model.columns

    @property
    def by_column(self) -> dict[str, Tagger]:
        """A tagger for each of its columns alone."""
        return {part.column: part for part in self._parts or (self,) if part._own is not None}

    @overload
    def tag(
        self, tokens: Sequence[str], *, columns: None = None, keep: Keep = None
    ) -> list[str]: ...

    @overload
    def tag(
        self,
        tokens: Sequence[str],
        *,
        columns: Sequence[str],
        keep: Mapping[str, Keep] | None = None,
    ) -> dict[str, list[str]]: ...

    def tag(
        self, tokens: Sequence[str], *, columns: Sequence[str] | None = None, keep: Any = None
    ) -> Any:
        """Return the labels of one sentence.

        Parameters
        ----------
        tokens : its words; a Sentence where the model looks at further columns
        columns : some of the tagger's columns, whose labels agree; None for the first by itself
        keep : None, or for each word the label that it has already, or None where it has none;
            these labels stay and are context for the others. A label that was never trained
            stays too, and is context as if there were no label before. If columns are named, a
            mapping from those of which words have labels already to these

        Returns
        -------
        list of str, one label a word; if columns are named, these lists by column

        Raises
        ------
        ArgumentTypeError : something other than a sequence of str
        ArgumentError : columns that the model needs are missing; no such column

        Examples
        --------
        ``tagger.tag(["The", "old", "man"])`` may give ``["DET", "ADJ", "NOUN"]``.
        """
        if columns is not None:
            # What is no mapping is refused there.
            own = keep
            if isinstance(keep, Mapping):
                own = {name: [labels] for name, labels in keep.items()}
            found = self.labelers.label([token_list(tokens)], 1, own, columns=columns)
            return {name: labels for name, ((labels,), _) in found.items()}
        check_tokens(tokens)
        kept = None if keep is None else _checked([tokens], [keep])
        return self._labeler.label(self._labeler.prepared([tokens]), kept)[0]

    @overload
    def tag_sents(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        columns: None = None,
        threads: int = 1,
        keep: Sequence[Keep] | None = None,
        before: Sequence[Sequence[str]] = (),
        after: Sequence[Sequence[str]] = (),
        confidences: Literal[False] = False,
    ) -> list[list[str]]: ...

    @overload
    def tag_sents(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        columns: None = None,
        threads: int = 1,
        keep: Sequence[Keep] | None = None,
        before: Sequence[Sequence[str]] = (),
        after: Sequence[Sequence[str]] = (),
        confidences: Literal[True],
    ) -> tuple[list[list[str]], list[list[float]]]: ...

    @overload
    def tag_sents(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        columns: Sequence[str],
        threads: int = 1,
        keep: Mapping[str, Sequence[Keep]] | None = None,
        before: Sequence[Sequence[str]] = (),
        after: Sequence[Sequence[str]] = (),
        confidences: Literal[False] = False,
    ) -> dict[str, list[list[str]]]: ...

    @overload
    def tag_sents(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        columns: Sequence[str],
        threads: int = 1,
        keep: Mapping[str, Sequence[Keep]] | None = None,
        before: Sequence[Sequence[str]] = (),
        after: Sequence[Sequence[str]] = (),
        confidences: Literal[True],
    ) -> dict[str, tuple[list[list[str]], list[list[float]]]]: ...

    def tag_sents(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        columns: Sequence[str] | None = None,
        threads: int = 1,
        keep: Any = None,
        before: Sequence[Sequence[str]] = (),
        after: Sequence[Sequence[str]] = (),
        confidences: bool = False,
    ) -> Any:
        """Return the labels of many sentences.

        The columns ``upos``, ``xpos`` and ``feats`` give a token a combination of labels that some
        token of the training text had: each is labeled by itself, and where they contradict each
        other, the combination with the highest sum of scores is taken. Labels that are kept, or
        forced by a lexicon, stay even if no combination has them. The confidence of a label in
        such a column is the share that the combinations with it have of all that training met, by
        the product of what each column holds likely.

        Parameters
        ----------
        sentences : as for tag; consecutive ones, where the model looks at a sentence's neighbors
            (`window` is not 0)
        columns : as for tag
        threads : 1 to 1,024; the result does not depend on it
        keep : None, or for each sentence the labels that its words have already, as for tag; if
            columns are named, these by column
        before, after : the sentences around them, which get no labels: with the nearest `window`
            on either side, a text that is tagged in pieces is tagged as in one
        confidences : give a float from 0 to 1 for each label, too: see confidences

        Returns
        -------
        one list of labels a sentence; with confidences (labels, confidences), alike in shape; if
        columns are named, these by column

        Raises
        ------
        ArgumentTypeError, ArgumentError : as for tag; the message gives the sentence's number
        ModelError : confidences are asked for, and the model is not calibrated
        """
        if columns is None and not confidences:
            check_threads(threads)
            batch = sentence_list(sentences)
            kept = None if keep is None else _checked(batch, keep)
            prepared = self._labeler.prepared(batch, before, after)
            return self._labeler.label(prepared, kept, threads)
        names = columns
        if names is None:
            names, keep = [self.column], None if keep is None else {self.column: keep}
        how: dict[str, Any] = {"columns": names, "sure": confidences}
        found = self.labelers.label(sentences, threads, keep, before, after, **how)
        if columns is None:
            return found[self.column]
        return found if confidences else {name: labels for name, (labels, _) in found.items()}

    @property
    def segmenter(self) -> Segmenter:
        """What cuts text: as the bundled model does where ``model.segmentation`` is None."""
        return self.labelers.segmenter

    def confidences(self, tokens: Sequence[str], *, keep: Keep = None) -> list[float]:
        """Return the confidence in each label that `tag` gives.

        Of the words whose labels have a confidence near 0.9, about nine in ten are right, in text
        like the dev set that the model was calibrated on. Labels that are kept have 1; those from
        the model's dictionary have what the dictionary got right on the dev set; and of a word of a
        lexicon (with_lexicon) the other labels that the lexicon leaves are all that can be.

        Parameters
        ----------
        tokens, keep : as for tag

        Returns
        -------
        list of float from 0 to 1, one a word

        Raises
        ------
        ModelError : the model is not calibrated; see calibrate
        ArgumentTypeError, ArgumentError : as for tag
        """
        kept = None if keep is None else [keep]
        return self.tag_sents([token_list(tokens)], keep=kept, confidences=True)[1][0]

    @property
    def is_calibrated(self) -> bool:
        """True if every column has confidences; see calibrate."""
        return all(part.calibration is not None for part in self.model.parts_by_column)

    @overload
    def tag_text(  # type: ignore[overload-overlap]
        self, text: str, *, columns: Sequence[str] | None = None, threads: int = 1
    ) -> list[TextSentence]: ...

    @overload
    def tag_text(
        self, text: Iterable[str], *, columns: Sequence[str] | None = None, threads: int = 1
    ) -> list[list[TextSentence]]: ...

    def tag_text(
        self, text: str | Iterable[str], *, columns: Sequence[str] | None = None, threads: int = 1
    ) -> list[TextSentence] | list[list[TextSentence]]:
        """Return the sentences of running text, cut by the tagger's segmenter, with labels.

        Words without accents, in small letters, in capitals or with a letter drawn out get the
        labels of the words that the training text has, where the whole sentence is written so;
        their forms stay as they are.

        Parameters
        ----------
        text : any str; an empty one has no sentences. Or several texts, each by itself
        columns : some of the tagger's columns; None for all
        threads : as for tag_sents

        Returns
        -------
        a list of sentences, or one for each text. A sentence is a sequence of words with ``form``,
        ``label`` (in the first column), ``lemma``, ``labels`` (by column), ``start`` and ``end``
        (of the word's token, in characters from the beginning of the text); its ``tokens`` have
        several ``words`` each where the model has learned multiword tokens

        Raises
        ------
        ArgumentTypeError : something other than a str
        ArgumentError : a model that looks at further columns; `threads` is out of range; no such
            column

        Examples
        --------
        ``[(w.form, w.label) for s in tagger.tag_text("Don't!") for w in s]`` may give
        ``[("Do", "AUX"), ("n't", "PART"), ("!", "PUNCT")]``.
        """
        how: dict[str, Any] = {"columns": columns, "threads": threads}
        if isinstance(text, str | bytes) or not isinstance(text, Iterable):
            return list(self.iter_text(text, **how))
        return [list(self.iter_text(own, **how)) for own in text]

    def iter_text(
        self, text: str | Iterable[str], *, columns: Sequence[str] | None = None, threads: int = 1
    ) -> Iterator[TextSentence]:
        """Yield the sentences of tag_text one by one, for texts whose words fill the memory.

        Parameters and errors are those of tag_text, but that several str are pieces of one text.
        A sentence comes as soon as nothing that follows can change it, before another piece is
        asked for.
        """
        check_threads(threads)
        if isinstance(text, bytes) or not isinstance(text, Iterable):
            check_text(text)
        return self.labelers.sentences(text, self.labelers.named(columns), threads)

    def tag_arrays(
        self,
        data: Iterable[str] | bytes | bytearray | memoryview | npt.NDArray[np.uint8],
        token_offsets: npt.ArrayLike | None = None,
        sentence_offsets: npt.ArrayLike | None = None,
        *,
        columns: Sequence[str] | None = None,
        threads: int = 1,
        confidences: bool = False,
    ) -> LabelArrays:
        """Return many texts, each as by tag_text, or words in buffers, with labels, as arrays.

        No Python object is made of a word if the model looks at words and their tags alone and, for
        texts, has learned to cut them. The buffers are those of Arrow's ``list<string>`` and
        ``list<large_string>``; labels come out dictionary-encoded.

        Parameters
        ----------
        data : str each, any number; or, where offsets are given, bytes or a contiguous buffer of
            them: the words as UTF-8, one after the other
        token_offsets : whole numbers; word i is bytes ``token_offsets[i]`` to
            ``token_offsets[i + 1]`` of the data. One more than there are words
        sentence_offsets : whole numbers; sentence k is words ``sentence_offsets[k]`` to
            ``sentence_offsets[k + 1]``. One more than there are sentences; words before the first
            and behind the last one are left out
        columns : some of the tagger's columns, whose labels agree; None for all, () for none
        threads : as for tag_sents
        confidences : give those, too

        Returns
        -------
        labels by number and where they stand; see LabelArrays

        Raises
        ------
        ArgumentTypeError : no texts; no buffer of bytes, no flat arrays of whole numbers
        ArgumentError : offsets that fall or lead out of the data, a word that is not UTF-8; a
            model that looks at further columns; no such column
        ModelError : confidences are asked for, and the model is not calibrated
        """
        from perceptron_nlp.tagger.tag.arrays import text_arrays, words_of

        check_threads(threads)
        names = () if columns == () else self.labelers.named(columns)
        if token_offsets is not None or sentence_offsets is not None:
            words = words_of(data, token_offsets, sentence_offsets)
            return self.labelers.buffers(words, names, threads, sure=confidences)
        pieces = self.labelers.texts(names, threads, sure=confidences)
        together = not confidences and self.labelers.text_filler(names) is not None
        return text_arrays(data, self.labelers.known_labels(names), pieces, together=together)

    def with_lexicon(self, lexicon: LexiconSource, *, column: str | None = None) -> Tagger:
        """Return the tagger constrained by a lexicon: its forms only get the labels there.

        A word is looked up as it is written and, where that is not found, lower-cased letter by
        letter. Words that are not in the lexicon are labeled as the model likes, with the labels
        of their neighbors in view. Nothing is learned, and the model that ``save`` writes is the
        same as before. ``scores`` still tells what labels scored that the lexicon forbids. There is
        one lexicon at a time: that of a tagger that is held to one already is left behind.

        For the column ``lemma``, the lexicon has lemmas with their parts of speech. They hold no
        word to anything, but are known lemmas from then on, also in the model that ``save`` writes:
        words that an edit script leads to one of them are more likely to get it.

        Parameters
        ----------
        lexicon : a file with a form, a tab and a label on each line, where forms of several labels
            have several lines; or a mapping from forms to a label or several
        column : of a model of several columns, the one that the labels are of; None for the first

        Raises
        ------
        FileError : the file cannot be read
        FormatError : a line is malformed, or names a label that the model does not have (file:line)
        ArgumentError, ArgumentTypeError : the same of a mapping, or the model labels spans
            or has no such column

        Examples
        --------
        ``tagger.with_lexicon({"fish": ["NOUN", "VERB"], "Ella": "PROPN"})``
        """
        from perceptron_nlp.tagger.tag.constraints import Lexicon

        self.labelers.check_tags()
        name = self.column if column is None else column
        check_choice("column", name, self.columns)
        known = self.by_column[name].model.lemmas
        if known is not None:
            more = Lexicon.of(lexicon)
            # Refuses parts of speech that are none of them.
            more.numbers(known.parts_of_speech)
            pairs = [(lemma, upos) for lemma, own in more.labels.items() for upos in own]
            return self._with(self.model.with_known_lemmas(pairs))
        return Tagger(self.model, **self._how | {"lexicon": Lexicon.of(lexicon, column=name)})

    def with_cutting(
        self, *, abbreviations: AbbreviationSource | None = None, wrapped: bool | None = None
    ) -> Tagger:
        """Return a tagger that cuts running text a little otherwise, wherever it does.

        Its model is changed, and is saved so.

        Parameters
        ----------
        abbreviations : words before a full stop, such as ``["Prof.", "z.B.", "et al."]``, or a file
            with one on each line; in addition to those that the model knows. No token ends within
            one, and no sentence behind it but at an empty line or the end of the text. In small
            letters it stands for its form with a capital, too, but for no acronym
        wrapped : True: line breaks are white space; False: one that leaves room in its line ends a
            sentence, as those of headings, items and messages do. None for no change

        Raises
        ------
        FileError : the file cannot be read
        FormatError : a line that is no abbreviation (file:line)
        ArgumentError, ArgumentTypeError : the same of a list; the model has not learned to cut text

        Examples
        --------
        ``pn.load("en").with_cutting(abbreviations=["al."]).tag_text("Roe et al. agree.")``
        """
        found = self.model.segmentation
        if found is None:
            raise ArgumentError(
                "abbreviations, wrapped: this model has not learned to cut text; train with the"
                " column text or all"
            )
        if abbreviations is not None:
            from perceptron_nlp.tagger.tag.segment import abbreviations_of

            listed = {*found.abbreviations, *abbreviations_of(abbreviations)}
            found = found._replace(abbreviations=tuple(sorted(listed)))
        if wrapped is not None:
            check_flag("wrapped", wrapped)
            found = found._replace(wrapped=wrapped)
        return self._with(self.model.replace(segmentation=found))

    def scores(
        self, tokens: Sequence[str], *, probabilities: bool = False
    ) -> npt.NDArray[np.float64]:
        """Return the score of each label at each token, as it was tagged.

        Parameters
        ----------
        tokens : as for tag
        probabilities : of a calibrated model, give the probability of each label, given the labels
            around it: the softmax of the word's scores over the model's temperature; where a curve
            tells more of the label given, its share is what `confidences` says, and the others keep
            their proportions. Labels that a lexicon forbids have 0; those of spans that would be
            illegal between the labels around them have not

        Returns
        -------
        float64[n_words, n_labels], labels as in ``labels``; sums of weights, without a unit, or
        rows that sum to one. Words that get their label from a dictionary or a lexicon are scored
        too, though that decides nothing (not by a feature function, which is not asked about words
        of the dictionary)

        Raises
        ------
        ArgumentTypeError, ArgumentError : as for tag
        ModelError : probabilities are asked for, and the model is not calibrated
        """
        if not probabilities:
            check_tokens(tokens)
            return self._labeler.scores(tokens)
        from perceptron_nlp.tagger.confidence import label_chances

        return label_chances(self._labeler, token_list(tokens))

    def calibrate(
        self, dev: Labeled, *, format: str = "auto", fields: Sequence[str] | None = None
    ) -> Tagger:
        """Return the tagger calibrated on labeled text, for confidences.

        Training with a dev set does this too. Each column is calibrated by itself, without a
        lexicon that the tagger is held to; labels stay the same.

        Parameters
        ----------
        dev : labeled text, as for train; not what the model was trained on, in which it is surer
            than elsewhere
        format, fields : see ``perceptron_nlp.open_corpus``

        Raises
        ------
        FileError, FormatError : `dev` cannot be read
        ArgumentError : it is too small: less than 300 labeled words
        """
        from perceptron_nlp.tagger.train.calibrate import calibrated_columns

        self.labelers.check_tags()
        source = self._source(dev, "dev", format, fields)
        model, left_out = calibrated_columns(self.model, source)
        if left_out:
            raise ArgumentError(f"dev: {left_out[0]}")
        return self._with(model)

    def explain(
        self,
        tokens: Sequence[str],
        *,
        column: str | None = None,
        top: int | None = None,
        before: Sequence[Sequence[str]] = (),
        after: Sequence[Sequence[str]] = (),
        against: Sequence[str | None] | None = None,
    ) -> Explanation:
        """Explain the labels of one sentence.

        Parameters
        ----------
        tokens : as for tag
        column : of a tagger of several columns, the one to explain; None for the first
        top : how many features of each word are kept one by one, the others being one sum; 0 to
            1,000,000, or None for all
        before, after : the sentences around it, as for tag_sents
        against : None, or for each word a label to compare with in place of the runner-up (why not
            that one?), or None; labels that the model does not have, and the one that the word
            gets, count as None

        Returns
        -------
        Explanation : for each word its features with their weights for its label and for the
            runner-up. What they add sums to `scores`, whatever way of tagging was used, up to
            rounding in a float's last digits

        Raises
        ------
        ArgumentTypeError, ArgumentError : as for tag; no such column

        Examples
        --------
        ``print(tagger.explain(["The", "old", "man"]))``
        """
        from perceptron_nlp.tagger.explain.explanation import explanations

        labeler = self.labelers.named_one(column)
        if top is not None:
            check_int("top", top, 0, 1_000_000)
        prepared = labeler.prepared([token_list(tokens)], before, after)
        return explanations(labeler, prepared, top, None if against is None else [against])[0]

    def evaluate(
        self,
        data: Labeled,
        labels: LabelLists | None = None,
        *,
        column: str | None = None,
        format: str = "auto",
        fields: Sequence[str] | None = None,
        threads: int = 1,
        calibration: bool = False,
        mistakes: bool = False,
    ) -> Evaluation:
        """Compare the labels that it gives with gold ones, in one column.

        Parameters
        ----------
        data, labels : a path, several paths, or labeled sentences; or lists of words, and for
            each as many labels (see ``perceptron_nlp.train``)
        column : the column that holds the gold labels; None for the (first) one trained on. Where
            several were trained on, one of these is compared with its own labels
        format, fields : see ``perceptron_nlp.open_corpus``
        threads : as for tag_sents
        calibration : whether it is told, as ``calibration``, if the confidences hold
        mistakes : keep the words labeled wrong, as ``mistakes``, with their confidences where the
            model is calibrated

        Raises
        ------
        FormatError : a file breaks its format, or has no gold labels
        ModelError : `calibration` is asked for, but the model is not calibrated
        """
        from perceptron_nlp.tagger.gold import evaluated
        from perceptron_nlp.tagger.sources import with_labels

        source = self._source(with_labels(data, labels, "data"), "data", format, fields)
        name = source.column_named(self.column if column is None else column)
        how = {"calibration": calibration, "mistakes": mistakes}
        return evaluated(self.labelers, source, name, threads, **how)

    def evaluate_columns(
        self,
        data: Labeled,
        *,
        format: str = "auto",
        fields: Sequence[str] | None = None,
        threads: int = 1,
        calibration: bool = False,
        mistakes: bool = False,
    ) -> Evaluations:
        """Compare the labels that it gives with gold ones, in every column that it fills.

        Parameters and errors are those of evaluate.

        Returns
        -------
        for each column, in order, its accuracy, of the labels that tag_sents gives with all columns
        """
        from perceptron_nlp.tagger.gold import evaluated_together

        source = self._source(data, "data", format, fields)
        how = {"calibration": calibration, "mistakes": mistakes}
        return evaluated_together(self.labelers, source, threads, **how)

    def evaluate_text(self, data: Labeled, *, threads: int = 1) -> TextScores:
        """Compare what it makes of running text with a treebank.

        The text is put together from the treebank's tokens, spaces (``SpaceAfter=No``) and
        paragraphs. A warning says if the bundled model cuts it, since this one never learned to.

        Parameters
        ----------
        data : CoNLL-U: a path, several paths, or sentences that were read from it
        threads : as for tag_sents

        Returns
        -------
        F1 by name, as the CoNLL 2018 shared task counts: ``Tokens``, ``Sentences``, ``Words``, and
        of the columns that the tagger fills ``UPOS``, ``XPOS``, ``UFeats`` (universal features),
        ``AllTags`` (these three at once), ``Lemmas``; and by column, as ``columns``, an Evaluation
        of the words that are in both

        Raises
        ------
        FileError : a file cannot be read
        FormatError : it breaks its format, is not CoNLL-U, or has no sentences
        ArgumentError : the model looks at columns besides the words

        Examples
        --------
        ``tagger.evaluate_text("test.conllu")["Lemmas"].f1``
        """
        from perceptron_nlp.tagger.sources import Source
        from perceptron_nlp.tagger.text_scores import scores_from_text

        tag = partial(self.iter_text, threads=threads)
        return scores_from_text(Source(data, "data"), self.model, tag)

    def _source(
        self, data: Labeled, name: str, format: str, fields: Sequence[str] | None
    ) -> Source:
        """Return labeled text, whose columns go by the names of training if they have none."""
        from perceptron_nlp.tagger.sources import Source

        usual = self.model.fields
        source = Source(data, name, format=format, fields=fields, usual_fields=usual)
        source.hold()
        return source

    def compress(
        self,
        size: int | str,
        *,
        dev: Labeled | None = None,
        raw: RawSource | None = None,
        force: bool = False,
        like: Tagger | None = None,
        format: str = "auto",
        fields: Sequence[str] | None = None,
    ) -> Tagger:
        """Return the tagger in a smaller file: pruned features, coarser weights, packed.

        The features with the heaviest weights stay, as many as fit; in a model of several columns
        so many of each as are worth their bytes: see levels.py. What it cost is in the model's
        record, as ``compressed``; see compress.compress_model. A tagger
        that fits already is given back as it is.

        Parameters
        ----------
        size : bytes that the model file may have, or text such as ``"400kB"`` or ``"1.1MB"``
        dev : labeled text, as for train, that the steps of weights are chosen by: those with
            which most words (of several columns: the mean; of a model that only cuts text, F1 of
            tokens, sentences and words) are labeled right. Without it, the
            heaviest weight becomes 127 at most. What was made smaller is calibrated again by it,
            if it does for that; else confidences stay as they were for the same scores
        raw : without `dev`: text without labels, as for train, on which the labels of both taggers
            are compared; None for 86 bundled sentences of English
        force : without `dev`: compare nothing, whatever the size costs
        like : a compressed tagger of the same columns: as much of each stays, and confidences are
            its own; so what a dev set chose for it holds for one that has learned that, too
        format, fields : of `dev`; see ``perceptron_nlp.open_corpus``

        Raises
        ------
        ArgumentError, ArgumentTypeError : not a size, or one too small for any form of the model,
            or, without `dev`, one that changes over 2 % of the labels of a column; the message
            says what it can do with. Or that cannot be compared
        FileError, FormatError : `dev` or `raw` cannot be read
        """
        from perceptron_nlp.tagger.train.compress import compress_model, compressed

        n_bytes = parse_size(size)
        source = self._source([] if dev is None else dev, "dev", format, fields)
        if self._own is None and dev is not None:
            return self._with(compress_model(self.model, n_bytes, partial(self._f1, list(source))))
        model = compressed(
            self.model,
            n_bytes,
            lambda model: self._with(model).labelers,
            dev=None if dev is None else source,
            raw=raw,
            force=force,
            like=None if like is None else like.model,
        )
        return self._with(model)

    def _f1(self, treebank: Labeled, model: TaggerModel) -> dict[str, float]:
        return {name: one.f1 for name, one in self._with(model).evaluate_text(treebank).items()}

    def _with(self, model: TaggerModel) -> Tagger:
        return self if model is self.model else Tagger(model, **self._how)

    @property
    def _how(self) -> dict[str, Any]:
        """Arguments that a tagger is made with in addition to its model."""
        return {
            "cache_size": self._memory.n_bytes,
            "lexicon": self._lexicon,
            "earlier": self._earlier,
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, which is replaced whole or not at all.

        Raises
        ------
        FileError : the place cannot be written
        """
        formats.replace_file(path, self.to_bytes())

    def to_bytes(self) -> bytes:
        """The content of the model file."""
        return model_to_bytes(self.model)

    @classmethod
    def joined(cls, taggers: Iterable[Tagger]) -> Tagger:
        """Return one tagger that fills the columns of several, each column as its tagger does.

        Parameters
        ----------
        taggers : at least one; of models with templates. Lexicons are left behind

        Raises
        ------
        ArgumentError, ArgumentTypeError : there is none, two fill the same column, or one is no
            tagger
        ModelError : one was trained with a feature function
        """
        given = [*taggers] if isinstance(taggers, Iterable) else [taggers]
        for one in given:
            if not isinstance(one, Tagger):
                raise ArgumentTypeError(
                    f"taggers: a list of taggers is needed, not {type(one).__name__}"
                )
        models = [model for tagger in given for model in tagger.model.parts_by_column]
        if not models:
            raise ArgumentError("taggers: there is none; give one at least")
        return cls(joined(models))

    @classmethod
    def from_bytes(
        cls,
        data: bytes | bytearray | memoryview,
        *,
        features: Extractor | None = None,
        cache_size: int | str | None = None,
    ) -> Tagger:
        """A tagger from the content of a model file; see load."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise ArgumentTypeError(f"data: bytes are needed, not {type(data).__name__}")
        model = model_from_bytes(data, "<bytes>").with_function(features)
        return cls(model, cache_size=cache_size)

    def __reduce__(self) -> tuple[Any, ...]:
        functions = [part.function for part in self.model.parts_by_column if part.function]
        function = functions[0].call if functions else None
        return _unpickled, (self.to_bytes(), function, self._how)

    def __repr__(self) -> str:
        if self._parts or self._own is None:
            return f"<Tagger of {', '.join(self.columns) or self.column}>"
        weights = self.model.weights
        return (
            f"<Tagger of {self.column}: {len(self.labels)} labels, {weights.n_rows:,} features,"
            f" {weights.n_cells:,} weights>"
        )


def _checked(batch: Sequence[Sequence[str]], keep: Sequence[Keep]) -> list[Keep] | None:
    # Here, since most text has no labels yet.
    from perceptron_nlp.tagger.tag.constraints import check_keep

    return check_keep(batch, keep)


def _memory_of(cache_size: int | str | None) -> CacheMemory:
    """Return what caches of this size together may take."""
    if cache_size is None:
        return CacheMemory()
    return CacheMemory(parse_size(cache_size, "cache_size"))


def _unpickled(data: bytes, function: Extractor | None, how: dict[str, Any]) -> Tagger:
    return Tagger(model_from_bytes(data, "<bytes>").with_function(function), **how)


def load(
    path: str | os.PathLike[str],
    *,
    features: Extractor | None = None,
    cache_size: int | str | None = None,
    mmap: bool = False,
) -> Tagger:
    """A tagger from a model file.

    Parameters
    ----------
    path : the file, or the name of a model: ``"en"`` (English: text, upos, xpos, feats and lemma)
        is bundled, and packages may bring others (``"pt-bosque"``, or ``"pt"``). A file of that
        name in the working folder goes before it
    features : the feature function, where the model was trained with one; the file only names it
    cache_size : bytes that what is remembered of words may take, in all columns and threads
        together, or a size such as ``"256MB"``; None for 64 MB. Labels do not depend on it
    mmap : map the file into memory rather than read it: processes that load the same file share
        what stays of it. It is checked in the same way. While the tagger lives, the file may be
        replaced, as ``save`` does, but nobody may write into it

    Raises
    ------
    ArgumentTypeError : `path` or `mmap` is of another type
    FileError : the file is missing, a folder, or cannot be read; the model of this name was removed
    ModelError : it is damaged, of another program or version, or needs `features`
    """
    if mmap is not False:
        check_flag("mmap", mmap)
    path = model_path(path)
    data = map_file_bytes(path) if mmap else read_file_bytes(path)
    try:
        model = model_from_bytes(data, os.fspath(path)).with_function(features)
        return Tagger(model, cache_size=cache_size)
    except ModelError as error:
        name = os.fspath(path)
        raise error if str(error).startswith(name) else ModelError(f"{name}: {error}") from None


def read_model(path: str | os.PathLike[str]) -> TaggerModel:
    """Read a model file, without the means to tag: see ``perceptron_nlp.load`` for those.

    A model that was trained with a feature function is read without that function.

    Raises
    ------
    FileError : the file is missing, a folder, or cannot be read
    ModelError : damaged, of another program, or of a version not known here
    """
    path = model_path(path)
    return model_from_bytes(read_file_bytes(path), os.fspath(path))


def model_path(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Return the file of a model that is given by its path, or by a name such as ``en``.

    A file in the working folder goes before a model of its name; a folder does not. After the
    bundled models come those of installed packages (group ``perceptron_nlp.models``), such as
    ``pt-bosque``, or ``pt`` for the one of that language that learned from the most words.

    Raises FileError if there is no model of this name, or it was removed from the package.
    """
    if not isinstance(path, str) or not _is_name(path):
        return path
    location = os.path.join(FOLDER, f"{path}.model")
    if os.path.isfile(location):
        return location
    if path in BUNDLED:
        raise FileError(
            f"{path}: there is no such file, and the model of this name, which comes with"
            f" perceptron_nlp, was removed from it ({location}); install perceptron-nlp again, or"
            " name a model file"
        )
    from perceptron_nlp.tagger.model.installed import model_named

    found = model_named(path)
    if found is not None:
        return found.path
    if os.path.lexists(path):
        return path
    names = [model.name for model in named_models()]
    there = ", ".join(names[:_FEW_NAMES]) + ", …" * (len(names) > _FEW_NAMES)
    raise FileError(
        f"{path}: there is no such file, and no model of this name; there is {there}"
        " (perceptron-nlp models); to make one: perceptron-nlp train TRAIN.conllu --column all"
        f" --model {path}.model{did_you_mean(path, names)}"
    )


def named_models() -> list[InstalledModel]:
    """Return the models that have names: the bundled ones, and those of installed packages."""
    from perceptron_nlp._version import __version__
    from perceptron_nlp.tagger.model.installed import installed_models, models_in

    return [*models_in(FOLDER, f"perceptron-nlp {__version__}"), *installed_models()]


def is_model_name(path: str) -> bool:
    """Tell if this is the name of a model, there or removed, and of no file."""
    return _is_name(path) and (
        path in BUNDLED or any(path in (model.name, model.language) for model in named_models())
    )


def _is_name(path: str) -> bool:
    first, *others = path.replace("_", "-").split("-")
    looks_so = path.isascii() and first.isalpha() and all(map(str.isalnum, others))
    return looks_so and (not os.path.lexists(path) or os.path.isdir(path))
