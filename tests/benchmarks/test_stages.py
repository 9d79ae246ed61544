"""Where the time of a step goes: the stages are the step."""

import inspect
import re

from vigym.benchmarks import stages
from vigym.benchmarks.flops import Counted
from vigym.engine.kernels import interior_point, step


def test_every_function_of_a_newton_step_is_in_a_stage():
    """By name, as interior_point.py calls them; those that only set one number, and those of loops, are left out."""
    sources = [interior_point.residual, interior_point.factorize, interior_point.correct, interior_point.update]
    called = {name for source in sources for name in re.findall(r"(\w+)\(m, s, t\)", inspect.getsource(source))}
    small = {"clear_norm", "check", "clear_sums", "choose_center", "final_length"}
    small |= {"choose_lift", "update_dry", "residual", "factorize", "correct", "update"}
    known = {function.__name__ for functions, _ in stages.STAGES.values() for function in functions}
    assert {name for name in called if "loop" not in name and name not in small and "clear" not in name} <= known


def test_the_stages_add_up_to_a_step():
    """Operations: those of a whole step, uncompiled, but for the small functions and the last residual."""
    bench = stages.Bench("A1 standing")
    total = sum(
        bench.flops(function) * (calls * bench.iterations if calls else 1)
        for functions, calls in stages.STAGES.values()
        for function in functions
    )
    slow = bench.sims[1]
    bench.restore(slow)
    Counted.start()
    slow.step()
    iterations = int(slow.status.iterations.max())
    whole = Counted.operations / (iterations + 1 / 3)  # the last residual is about a third of an iteration
    assert 0.85 < total / bench.iterations / whole < 1.15
    assert bench.ns(step.begin_step, repeat=3, tries=1) > 0
