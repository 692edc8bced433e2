"""The approval prompt: what is asked, and how a person decides in a terminal."""
