"""``python -m perceptron_nlp``: the command line."""

from __future__ import annotations

import sys

from perceptron_nlp.cli.main import main

sys.exit(main())
