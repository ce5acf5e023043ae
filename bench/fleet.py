"""The figures of docs/design/fleet.md: simulated fleets of some sizes, for a fixed time and to the end of a campaign.

python bench/fleet.py 64,256,1024
"""

from __future__ import annotations

import sys

from score_embed.cli.main import main

ENDS = (("--time", "50s"), ("--tests", "1000"))  # a thousand tests of 50 ms each time
TREES = ("tokenizer", "sort", "tlv")

runs = [("--shape", shape, *end) for end in ENDS for shape in ("balanced", "uneven")]
runs += [("--tree", tree, "--test", "50ms") for tree in TREES]
for words in runs:
    main(["fleet", "simulate", "--clients", sys.argv[1], "--seed", "1", *words])
    print()
