"""Whether confidences hold, as a table with a bar for each bin."""

from __future__ import annotations

from perceptron_nlp.cli.style import BOLD, Terminal
from perceptron_nlp.tagger.confidence.reliability import Reliability, ReliabilityBin

_HEAD = "confidence       words    mean   right"
_NARROWEST_BAR, _WIDEST_BAR = 10, 40


def reliability_table(found: Reliability | None, terminal: Terminal) -> list[str]:
    """A line for each bin that has words; nothing where nothing was found out.

    A bar is as long as the share of words that are right, and its mark stands where their mean
    confidence says that it should end.
    """
    if found is None:
        return []
    room = min(_WIDEST_BAR, terminal.width - len(_HEAD) - 2)
    lines = [
        "",
        terminal.line(
            f"calibration error {found.ece:.4f}, in {len(found.bins)} bins of confidence", BOLD
        ),
    ]
    head = _HEAD + ("  right, and | where it should be" if room >= _NARROWEST_BAR else "")
    lines.append(terminal.line(head))
    for part in found.bins:
        if part.confidence is None or part.accuracy is None:
            continue
        line = (
            f"{part.low:.3f}–{part.high:.3f}"
            if terminal.unicode
            else f"{part.low:.3f}-{part.high:.3f}"
        )
        line += f"  {part.count:9,}  {100 * part.confidence:6.2f}  {100 * part.accuracy:6.2f}"
        if room >= _NARROWEST_BAR:
            line += "  " + _bar(part, room, "█" if terminal.unicode else "#")
        lines.append(terminal.line(line))
    return lines


def _bar(part: ReliabilityBin, width: int, block: str) -> str:
    filled = round(width * (part.accuracy or 0))
    cells = [block] * filled + [" "] * (width - filled)
    cells[min(width - 1, round(width * (part.confidence or 0)))] = "|"
    return "".join(cells).rstrip()
