"""A recording with names that try to be more than names."""

import vigym

HOSTILE = [
    "</script><b id=hostile>",
    "</SCRIPT ><img id=hostile src=x onerror=alert(1)>",
    "<!--<script>",  # after it, the end of a script is not one
    "]]>--><svg/onload=alert(1)>",
    "\"'`;alert(1)//",
    "\u2028alert(1)",
    "__proto__",
    "constructor",
    "1",
    "/../a/b",
    "\ud800",
    "a" * 500,
]


def hostile(path, names=HOSTILE):
    """A recording whose title, bodies and contacts have such names; no more than four contacts are plotted by name."""
    mechanism = vigym.Mechanism()
    for k, name in enumerate(HOSTILE):
        mechanism.add_body(name, mass=1.0, shapes=[vigym.Sphere(0.1)], position=(0.3 * k, 0, 1), collide=False)
    for name in names:
        mechanism.add_contact(name, name, radius=0.1)
    sim = vigym.Simulator(mechanism, compiled=False)
    with sim.record(path, title="".join(HOSTILE)):
        sim.step()
