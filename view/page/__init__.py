"""Mechanisms in a browser, on a page of viser, and the live page. Needs the extra `render`."""
