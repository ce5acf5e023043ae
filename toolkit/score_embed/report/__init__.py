"""What others read of a campaign: text for people, files for coverage viewers, test runners and code review."""
