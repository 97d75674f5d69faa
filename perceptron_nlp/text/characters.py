"""Classes of characters, as pieces of regular expressions, for text in any script.

Words are told by what they are not: neither white space nor punctuation, symbols or controls.
Python's ``\\w`` would cut words at combining marks, such as the vowels of Devanagari.
"""

from __future__ import annotations

# Punctuation, symbols and controls; the two joiners (U+200C, U+200D) and the soft hyphen belong to
# words.
_NOT_WORD = (
    r"\s!-/:-@\[-`{-~\x00-\x1f\x7f-\xa9\xab\xac\xae-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7\u037e\u0387"
    r"\u055a-\u055f\u0589\u058a\u05be\u05c0\u05c3\u05c6\u05f3\u05f4\u0609-\u060d\u061b-\u061f"
    r"\u066a-\u066d\u06d4\u0700-\u070d\u0964\u0965\u0970\u0e4f\u0e5a\u0e5b\u104a-\u104f\u10fb"
    r"\u1360-\u1368\u166d\u166e\u17d4-\u17db\u1800-\u180a\u2000-\u200b\u200e-\u206f\u20a0-\u20cf"
    r"\u2100-\u214f\u2190-\u2bff\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030\u303d\u30fb\ud800-\udfff"
    r"\ufe10-\ufe19\ufe30-\ufe6f\ufeff\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
    r"\uffe0-\uffee\ufff0-\uffff\U0001d000-\U0001d24f\U0001f000-\U0001faff"
)
# A character of words, a digit included.
WORD = f"[^{_NOT_WORD}]"
APOSTROPHE = "['’`´]"
# A picture with what may follow it: skin tones, variants, tags, joined pictures. Two letters of
# flags are one flag.
PICTURE = (
    r"[\U0001f1e6-\U0001f1ff]{2}|[\u2600-\u27bf\U0001f000-\U0001faff]"
    r"(?:[\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
    r"|\u200d[\u2600-\u27bf\U0001f000-\U0001faff])*+"
)
# What ends a sentence, in scripts that have their own full stop too.
FULL_STOPS = frozenset(".!?…‽։؟۔।॥።។。！？｡．")
