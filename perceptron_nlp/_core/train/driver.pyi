from collections.abc import Callable

looks: dict[int, Callable[[], None]]
RULES: tuple[str, ...]

class Scratch: ...
