"""``perceptron-nlp evaluate``: a tagger's labels, or what it makes of text, against gold ones."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp._display import counted, percent, points, printable
from perceptron_nlp.cli.inputs import (
    STDIN,
    ReadProgress,
    check_apart,
    check_stdin,
    load_tagger,
    open_inputs,
)
from perceptron_nlp.cli.parsing import (
    JSON,
    LEXICON,
    QUIET,
    THREADS,
    UsageError,
    Verb,
    format_options,
)
from perceptron_nlp.cli.terminal import BOLD, Terminal, output, print_json, say, shortened_inside
from perceptron_nlp.formats import begins_like_tensors

_FIGURES = "precision  recall      F1   support"
_CONFUSIONS = 10
LEMMA = "lemma"


EVALUATE = Verb(
    """\
Compare a tagger's labels with gold ones.""",
    f"""\
MODEL  a model file; or CoNLL-U that any program made of the text of TEST (- is standard input),
    which is scored as with --from-text
TEST...  labeled files; - is standard input
--column NAME  the column with the gold labels, by name or number (default: the one, or all, that
    the model fills)
{LEXICON}
{format_options()}
--calibration  compare confidences with accuracy: of tokens with a confidence of 0.9, nine in ten
    should be right (the model must be calibrated)
--errors OUT  write all mistakes to OUT as a table separated by tabs: place, column, token, gold and
    predicted label, confidence if the model is calibrated, and the words around; the most frequent
    confusions come first
--all-labels  list labels that occur in no gold text, too
--report DIR  write all of it as a page of HTML, DIR/index.html, with its charts next to it; an
    earlier report there is replaced (needs the extra report)
--from-text  from the running text of TEST, which is CoNLL-U: F1 of tokens, sentences, words and
    columns by the definition of the CoNLL 2018 shared task
{JSON}
{THREADS}
{QUIET}
""",
    """\
  perceptron-nlp evaluate en.model test.conllu
  perceptron-nlp evaluate en.model test.conllu --json | jq .accuracy
  perceptron-nlp evaluate en.model test.conllu --calibration
  perceptron-nlp evaluate en.model test.conllu --errors errors.tsv
  perceptron-nlp evaluate en.model test.conllu --report report
  perceptron-nlp evaluate en.model test.conllu --from-text
  perceptron-nlp evaluate system.conllu gold.conllu
  perceptron-nlp evaluate chunk.model test.txt --fields form,xpos,chunk""",
)


def run_evaluate(chosen: argparse.Namespace) -> None:
    """Evaluate and print."""
    is_output = is_conllu(chosen.model)
    if is_output or chosen.from_text:
        _check_for_text(chosen, is_output)
        _check_errors(chosen)
        check_stdin([chosen.model, *chosen.test], quiet=chosen.quiet)
        if is_output:
            scores = pn.text_scores(chosen.test, chosen.model)
        else:
            tagger = load_tagger(chosen.model, chosen.lexicon)
            scores = tagger.evaluate_text(chosen.test, threads=chosen.threads)
        _write_errors(list(scores.columns.values()), chosen)
        _show_text(scores, chosen)
        return
    check_stdin([*chosen.test, *filter(None, [chosen.lexicon])], quiet=True)
    _check_errors(chosen)
    tagger = load_tagger(chosen.model, chosen.lexicon, column=chosen.column)
    with ReadProgress(chosen.test, quiet=chosen.quiet) as progress:
        corpora = open_inputs(chosen, chosen.test, tagger.model, progress)
        how: dict[str, Any] = {
            "fields": chosen.fields,
            "threads": chosen.threads,
            "calibration": chosen.calibration,
            "mistakes": chosen.errors is not None,
        }
        if chosen.report is not None:
            results = list(_reported(tagger, corpora, chosen).values())
        elif chosen.column is None and len(tagger.columns) > 1:
            results = list(tagger.evaluate_columns(corpora, **how).values())
        else:
            results = [tagger.evaluate(corpora, column=chosen.column, **how)]
    _write_errors(results, chosen)
    _show(results, chosen)


def _check_errors(chosen: argparse.Namespace) -> None:
    """Check before the work that the table of mistakes can be written."""
    if chosen.errors is None:
        return
    if chosen.report is not None:
        raise UsageError("--errors does not go with --report; run them one after the other")
    check_apart(chosen.errors, [chosen.model, *chosen.test], "one of the files to compare")
    pn.check_place(chosen.errors)


def _write_errors(results: Sequence[pn.Evaluation], chosen: argparse.Namespace) -> None:
    """Write the table of mistakes if it is asked for."""
    if chosen.errors is None:
        return
    pn.replace_file(chosen.errors, pn.Evaluation.mistakes_table(results).encode("utf-8"))
    if not chosen.quiet:
        count = sum(len(result.mistakes or ()) for result in results)
        say(f"{chosen.errors}: {counted(count, 'mistake')}")


def _show_text(scores: pn.TextScores, chosen: argparse.Namespace) -> None:
    """Print F1 from running text, and the scores of each column over the words in both."""
    if chosen.json:
        columns = [result.to_dict() for result in scores.columns.values()]
        print_json({**{name: f1.to_dict() for name, f1 in scores.items()}, "columns": columns})
        return
    terminal = output()
    pages = ["\n".join(text_table(scores, terminal))]
    for column, result in scores.columns.items():
        if column == LEMMA:
            # As many labels as words.
            pages.append("\n".join(confusion_table(result, terminal, f"{column}, "))[1:])
        else:
            pages.append(page(result, terminal, all_labels=chosen.all_labels, is_output=True))
    print("\n\n".join(pages))


def is_conllu(path: str) -> bool:
    """Return True for standard input and for a file that is CoNLL-U, not a model."""
    if path == STDIN:
        return True
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        if begins_like_tensors(file.read(9)):
            return False
    try:
        with pn.open_corpus(path) as corpus:
            return corpus.format == "conllu"
    except pn.FormatError:
        return False


def _check_for_text(chosen: argparse.Namespace, is_output: bool) -> None:
    """Raise UsageError for options that say nothing of running text."""
    given = {
        "--column": chosen.column,
        "--fields": chosen.fields,
        "--format": chosen.format != "auto" and chosen.format != "conllu",
        "--calibration": chosen.calibration,
        "--report": chosen.report,
        "--lexicon": is_output and chosen.lexicon,
    }
    what = f"{chosen.model} as CoNLL-U" if is_output else "--from-text"
    for option, value in given.items():
        if value:
            raise UsageError(f"{option} does not go with {what}; leave it out")


def text_table(scores: Mapping[str, pn.F1], terminal: Terminal) -> list[str]:
    """Return a line a metric: precision, recall, F1, accuracy on aligned words, and gold units."""
    lines = [terminal.line("from text  precision  recall      F1  aligned      gold", BOLD)]
    for name, score in scores.items():
        aligned = "–" if score.aligned is None else points(score.aligned_accuracy)
        lines.append(
            terminal.line(
                f"{name:<9}  {points(score.precision):>9}  {points(score.recall):>6}"
                f"  {points(score.f1):>6}  {aligned:>7}  {score.gold:8,}"
            )
        )
    return lines


def _reported(
    tagger: pn.Tagger, corpora: list[pn.Corpus], chosen: argparse.Namespace
) -> dict[str, pn.Evaluation]:
    """Write the report and return its scores."""
    if chosen.calibration:
        # Refused before the work if a model is not calibrated.
        for part in tagger.by_column.values():
            part.confidences([])
    written = pn.report(
        tagger,
        corpora,
        chosen.report,
        column=chosen.column,
        fields=chosen.fields,
        threads=chosen.threads,
        title=f"Accuracy of {os.path.basename(chosen.model)}",
    )
    if not chosen.quiet:
        size = sum(page.stat().st_size for page in written.pages)
        pages = "" if len(written.pages) == 1 else f" in {len(written.pages)} pages"
        say(f"{written.page}: {size:,} bytes{pages}, and {len(written.pictures)} pictures")
    if not chosen.calibration:
        for result in written.evaluations.values():
            result.calibration = None
    return written.evaluations


def _show(results: list[pn.Evaluation], chosen: argparse.Namespace) -> None:
    """Print the scores of one column, or of each of several and of all together."""
    together = pn.Evaluation.all_tags(results) if len(results) > 1 else None
    if chosen.json:
        columns = [result.to_dict() for result in results]
        print_json(columns[0] if together is None else {"columns": columns, "all_tags": together})
        return
    terminal = output()
    pages = [page(result, terminal, all_labels=chosen.all_labels) for result in results]
    if together is not None:
        pages.append(terminal.line(f"all columns right: {percent(together)}", BOLD))
    print("\n\n".join(pages))


def page(
    result: pn.Evaluation,
    terminal: Terminal,
    *,
    all_labels: bool = False,
    is_output: bool = False,
    heading: str = "accuracy",
) -> str:
    """Return the lines of one column; if it holds spans, their scores come first.

    With `all_labels`, labels that occur in no gold text are listed, too. Of another program's
    output nobody can tell which words it knew. `heading` names the shares of tokens.
    """
    return "\n".join(
        [
            *span_table(result, terminal),
            *summary(result, terminal, is_output=is_output, heading=heading),
            "",
            *feature_table(result, terminal),
            *label_table(result, terminal, all_labels=all_labels),
            *confusion_table(result, terminal),
            *reliability_table(result, terminal),
        ]
    )


def span_table(result: pn.Evaluation, terminal: Terminal) -> list[str]:
    """Return precision, recall and F1 of spans, of all and of each type; else nothing."""
    if result.spans is None:
        return []
    scores = result.spans.to_dict()
    kinds = sorted(scores["spans"].items(), key=lambda item: (-item[1]["support"], item[0]))
    total = {**scores, "support": result.spans.gold.total()}
    return [
        terminal.line(f"column {result.column}, spans:", BOLD),
        *_score_table("type", [("all", total), *kinds], terminal),
        "",
    ]


def summary(
    result: pn.Evaluation, terminal: Terminal, *, is_output: bool = False, heading: str = "accuracy"
) -> list[str]:
    """Return lines with the accuracy of tokens and sentences."""
    unknown = result.tokens - result.known_tokens
    rows = [
        ("tokens", result.accuracy, result.tokens),
        ("known tokens", result.known_accuracy, result.known_tokens),
        ("unknown tokens", result.unknown_accuracy, unknown),
        ("sentences", result.sentence_accuracy, result.sentences),
    ]
    lines = [terminal.line(f"column {result.column}, {heading}:", BOLD)]
    for name, share, count in rows[::3] if is_output else rows:
        figure = f"{'–':>6}  " if share is None else f"{percent(share):>8}"
        lines.append(terminal.line(f"{name:<14}{figure}  of {count:,}"))
    if result.unlabeled:
        lines.append(terminal.line(f"{result.unlabeled:,} tokens without a gold label left out"))
    if result.untrained:
        named = " ".join(sorted(result.untrained))
        lines.append(
            terminal.line(
                f"{result.untrained.total():,} tokens have labels not seen in training: {named}"
            )
        )
    return lines


def feature_table(result: pn.Evaluation, terminal: Terminal) -> list[str]:
    """Return a line a feature of a column of features, and an empty one; else nothing."""
    scores = sorted(result.features.items(), key=lambda item: (-item[1].support, item[0]))
    shown = [(name, asdict(score)) for name, score in scores]
    return [*_score_table("feature", shown, terminal), ""] if shown else []


def label_table(
    result: pn.Evaluation, terminal: Terminal, *, all_labels: bool = False
) -> list[str]:
    """Return a line a label, the most frequent first, no wider than the terminal."""
    scores = sorted(result.labels.items(), key=lambda item: (-item[1].support, item[0]))
    shown = [(name, asdict(score)) for name, score in scores if score.support or all_labels]
    hidden = len(scores) - len(shown)
    lines = _score_table("label", shown, terminal)
    lines.append(terminal.line(f"macro F1 {points(result.macro_f1)}"))
    if hidden:
        lines.append(
            terminal.line(f"{counted(hidden, 'label')} of no gold token left out (--all-labels)")
        )
    return lines


def _score_table(
    what: str, rows: Sequence[tuple[str, Mapping[str, Any]]], terminal: Terminal
) -> list[str]:
    names = [printable(name) for name, _ in rows]
    # On a very narrow terminal lines are cut at their end, after the figures that matter most.
    room = max(5, terminal.width - len(_FIGURES) - 2)
    width = min(room, max(len(what), *map(len, names)))
    return [
        terminal.line(f"{what:<{width}}  {_FIGURES}", BOLD),
        *(
            terminal.line(
                f"{shortened_inside(name, width):<{width}}  {points(score['precision']):>9}"
                f"  {points(score['recall']):>6}  {points(score['f1']):>6}  {score['support']:8,}"
            )
            for name, (_, score) in zip(names, rows, strict=True)
        ),
    ]


def confusion_table(result: pn.Evaluation, terminal: Terminal, column: str = "") -> list[str]:
    """Return the most frequent errors, if there are any."""
    confusion = result.confusion.items()
    wrong = sorted((-n, gold, given) for (gold, given), n in confusion if gold != given and n)
    if not wrong:
        return []
    lines = ["", terminal.line(f"{column}most frequent errors", BOLD)]
    # Neither label pushes the other out of the line.
    room = max(5, (terminal.width - len(f"{'':8}  gold , predicted ")) // 2)
    for count, *labels in wrong[:_CONFUSIONS]:
        gold, given = (shortened_inside(printable(label), room) for label in labels)
        lines.append(terminal.line(f"{-count:8,}  gold {gold}, predicted {given}"))
    return lines


_HEAD = "confidence      tokens    mean  accuracy"
_NARROWEST_BAR, _WIDEST_BAR = 10, 40


def reliability_table(result: pn.Evaluation, terminal: Terminal) -> list[str]:
    """Return a line for each bin that has tokens; nothing without a calibration."""
    found = result.calibration
    if found is None:
        return []
    room = min(_WIDEST_BAR, terminal.width - len(_HEAD) - 2)
    lines = [
        "",
        terminal.line(
            f"calibration error {found.ece:.4f}, in {len(found.bins)} bins of confidence", BOLD
        ),
    ]
    head = _HEAD + ("  accuracy, and | the mean" if room >= _NARROWEST_BAR else "")
    lines.append(terminal.line(head))
    for part in found.bins:
        if part.confidence is None or part.accuracy is None:
            continue
        dash, block = "–█" if terminal.unicode else "-#"
        line = f"{part.low:.3f}{dash}{part.high:.3f}  {part.count:9,}  {points(part.confidence):>6}"
        line += f"  {points(part.accuracy):>8}"
        if room >= _NARROWEST_BAR:
            line += "  " + _bar(part.accuracy, part.confidence, room, block)
        lines.append(terminal.line(line))
    return lines


def _bar(accuracy: float, confidence: float, width: int, block: str) -> str:
    filled = round(width * accuracy)
    cells = [block] * filled + [" "] * (width - filled)
    cells[min(width - 1, round(width * confidence))] = "|"
    return "".join(cells).rstrip()
