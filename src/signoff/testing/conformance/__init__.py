"""What every saver and every store promises, as checks that anybody's can be put to."""
