"""What has to be stored of a run, and when; and in which form."""
