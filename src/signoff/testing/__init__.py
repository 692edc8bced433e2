"""For those who test what they build with signoff, or build parts of it themselves."""
