"""The other engines, as runners of scenes."""
