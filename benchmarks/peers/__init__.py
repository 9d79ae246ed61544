"""The other engines: converters of a mechanism, and what runs them."""
