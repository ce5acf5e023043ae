"""Many clients, one exploration: SCORE's protocol made fault-tolerant (docs/design/fleet.md). Sans I/O."""
