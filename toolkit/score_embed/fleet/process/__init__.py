"""The processes of a fleet: server, clients, what they write down."""
