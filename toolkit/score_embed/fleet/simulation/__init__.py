"""Both sides without processes: seeded faults, and rehearsals of recorded explorations."""
