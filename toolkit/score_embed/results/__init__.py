"""What a campaign leaves behind: its one record (`campaign.db`), and everything derived from it."""
