"""Where runs are kept: the shape of a checkpoint, its serialisation and the savers."""
