"""The words that users write with: they find them in `signoff.types`, rooms of this house where they are defined."""
