_Strings = tuple[str, ...]
_ScannedSentence = tuple[str, int, int, int, tuple[int, ...] | None, _Strings, _Strings, _Strings]

class ConlluScanner:
    def take(
        self, text: bytes | bytearray, line: int
    ) -> tuple[list[_ScannedSentence], int, int, bool]: ...

def count_newlines(text: bytes | bytearray | memoryview) -> int: ...
