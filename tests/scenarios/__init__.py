"""What people do with signoff, as tests: one file for each scenario, from the user's side."""
