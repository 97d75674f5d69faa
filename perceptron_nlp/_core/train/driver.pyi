RULES: tuple[str, ...]
BLOCK: int

class Scratch: ...
