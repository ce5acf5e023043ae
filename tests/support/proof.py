"""How far the proofs go: `--all` takes them whole, with all inputs and long campaigns; which cases else, share.py
says."""

from __future__ import annotations

import os

FULL = os.environ.get("SCORE_PROOF") == "full"  # tests/conftest.py sets it, before the tests are read
STREAMS = 1_000_000 if FULL else 20_000  # damaged streams and frames that a test sends
