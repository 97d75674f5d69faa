"""What the library promises, checked: ``python -m benchmarks.trust`` prints the table.

Each row of the table of docs/promises.md is a function that breaks things on purpose and says what
it found. It has a quick size, seconds, which the tests run, and a full one, which ``make trust``
runs.
"""
