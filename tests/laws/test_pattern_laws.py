"""Laws of patterns: the core finds what regular expressions find, in time that texts are long."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles.atoms import atoms_of, marks_of, patterns_of
from oracles.marks import breaks_of, marks
from oracles.patterns import patterns

from perceptron_nlp.text.tagset import PARAGRAPH, PATTERN_KINDS

PIECES = st.sampled_from(
    [
        *"aAvVcCDPo中אé09.,:;!?/\\@#&%+-_~^'\"()[]<>=|*$ \n\u200d",
        *("www", "http", "com", "uk", "co", "txt", "mp3", "T", "Z", "AT", "3", "12", "2001", "345"),
        *("&amp;", "&#", ";", "x0", "b1c", ":80", "rc", "-beta", "v1.2", "1.2.3", "°", "~/."),
        *("/.", "/64"),
        *("os.", ".ab", "://[", "]:", "::", "fe80", "1:", ":a", "00:1a:", "@a.b:c/d", "%e0"),
        *("://", "++", "<3", ":-)", "^_^", "👩", "💻", "👍", "🏽", "🇩", "🇪", "\ufe0f", "شبكة"),
    ]
)
TEXTS = st.lists(PIECES, max_size=24).map("".join)
MARKS = st.sampled_from(
    [
        *"aAéI中で1.,;:!?…*_`'\"()[]«»„“”‘’‚–—-¿¡%¹²⁴™ \u00ad\u0301",
        *(" a", " A", " 中", " – ", "word", "Word", " http", " www.", "...", "''", "``", "**"),
        *(
            "&quot;",
            "&sup1;",
            "\n",
            " (",
            "[1]",
            "[a]",
            "。",
            "」",
            "「",
            "😀",
            "http://a.bc",
            "#tag",
        ),
        *("।", "words.", " *W", "\n> ", "\n# ", " -> ", " |", "=", "<", ">", "→ "),
    ]
)


@given(text=TEXTS | st.text())
@example("(see https://a.org/b_(c)), www.x.org. a/b/c.txt C:\\x\\y (/usr/bin/x) ~/y youtu.be/x")
@example("jane.roe@mail.org @jane_d. #tag-2 bbc.co.uk/news x.com+y.com v1.2.3 1.2.3.4 1.234.567")
@example("2001-05-12T10:30:00Z 3/15/01 1994-95-96 3:1 10:30,5 1.299,99 1/2 1/2/3 AT&T H&M C++ F#")
@example("v1.2-rc.1 1.2.3-beta2 1.2.3-x 2.0.0-dev-4- 3 °C °F °c 3°C ~/.x /etc/.x/y ./.. /.")
@example("&amp; &#39; &#x27;x &a1; &; B12 H2O 5kg 3f2a9c 3f2 x.com:80/y x.com:80 éa1 a1é")
@example("U.S.A. A.B.C J.K.Roe A.B .A.B. É.U. --- ==== **** #### a---b 4x4 10X20 4x 5kg <<<")
@example(":-) ;P :)). <3, ^_^ -.- =( <4 :Dx 👩\u200d💻👍🏽🇩🇪🇩 :) A&B&C c#x")
@example("2001:db8::8a2e:370:7334, ::1 fe80::1%eth0: 2001:db8::/32. ::ffff:192.168.0.1 fe80:: a::b")
@example("00:1a:2B:3c:4d:5e 1:2:3:4:5:6:7:8 1:2:3:4:5:6:7:8:9 :::1 1:::2 1::2::3 ::é 1::xy a::b:")
@example("git@host.org:team/x.git, a@b.org:c a@b.org:c/ a@b.org: c/d a@b.org:~c/d.")
@example("@jane:example.org, @a:b.com. @a:b @a:b.xy @a:.com @a:b-.com @a:com")
@example("<b>x</b> <br/>. <h1>x <p><a <é> <a-b> </1> x<i>y <&Uacute;>")
@example("x.edu/~y/z x.com/~ x.ab/~c x.ab/c x.ab/")
@example("os.path.join() com.foo.Bar, x.path.join os.path os.path.x os.path.jo1 a.os.ab.cd Os.a.b")
@example("a://[::1]:80/ a://[1.2%e].x a://[] a://[:] a://[x a://[/a] a://[::1]")
def test_the_core_finds_the_patterns_that_expressions_find(text: str) -> None:
    assert patterns_of(text) == patterns(text)


@given(text=st.lists(MARKS, max_size=16).map("".join))
@example("it *is* **so** _very_ `nice` 'here' ``there'' s*** *ss 'n' __x__ _x but_ ~x 'ab 'ab's")
@example('noted¹² it¹ "said"² (seen)¹. Then¹ … and: so; to - x ™ y... a … A *. b :( c http://d')
@example(
    "word.[12] It.[a][2] 12 x.² «It So「一。」「二。」三。[1]四。😀五 So. http://a.bc #t 😀 It"
)
@example("word[1] It **word** **It** words. *It* `a` *a* It *it ab. **It** U.S.[1] ab.)) It [1] .")
@example("x... www.y z... www .y a: ¿b a: (b a. (B a... – b ab'' ``ab'' ‘ab' ab_ _ab_ (_ab_)")
def test_the_core_finds_the_marks_that_the_oracle_finds(text: str) -> None:
    spans, gaps = atoms_of(text)
    found = marks([text[begin:end] for begin, end in spans], gaps, breaks_of(text, spans))
    assert sorted(marks_of(text)) == sorted(
        {mark for mark in found if 0 <= mark[1] < len(gaps) - 1 and gaps[mark[1]] != PARAGRAPH}
    )


@given(text=TEXTS)
def test_patterns_follow_each_other_and_hold_no_white_space(text: str) -> None:
    spans = atoms_of(text).spans
    last = 0
    for kind, begin, end in patterns_of(text):
        assert kind in PATTERN_KINDS and last <= begin and begin + 1 < end <= len(spans)
        assert not any(letter.isspace() for letter in text[spans[begin][0] : spans[end - 1][1]])
        last = end


@pytest.mark.parametrize(
    "piece",
    [
        *(*"a.@#/:~-(<^", "a.", "a@", "a/", "/a", "@_-", "1.", "1-", "1/", "a-1,", "a://((", "(/"),
        *(
            "a1",
            "&a",
            "&#1",
            ".^_",
            ".-.",
            ":)",
            "<a>",
            "a+",
            "1:1.",
            "#_a-",
            "x.com/",
            "A&",
            "~/",
            "👩\u200d",
        ),
    ],
)
def test_the_time_is_proportional_to_the_length(piece: str) -> None:
    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        begin = time.process_time()
        patterns_of(text)
        return time.process_time() - begin

    seconds(1000)
    least = min(seconds(100_000) for _ in range(3))
    assert min(seconds(400_000) for _ in range(3)) < 16 * least + 0.05
