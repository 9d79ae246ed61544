"""Recordings played: in a page, as one HTML file, as a film, as a film strip. Needs the extra `render`."""
