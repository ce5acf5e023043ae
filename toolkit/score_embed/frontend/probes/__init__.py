"""What has to be recorded and checked where: the analyses that place probes."""
