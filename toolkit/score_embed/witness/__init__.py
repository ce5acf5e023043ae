"""The second witness: the plain program under gcc's sanitizers, which runs again what a campaign keeps."""
