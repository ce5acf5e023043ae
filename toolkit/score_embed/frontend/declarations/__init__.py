"""What names mean, where objects lie and what they hold at first."""
