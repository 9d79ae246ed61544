"""Parts of a mechanism can be replaced before it is simulated: checked as when they are added, all or nothing."""

import numpy as np
import pytest
from arms import arm, everything

from vigym import InputError, MechanismError, Simulator, Sphere


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("replace_joint", "shoulder"),
        ("replace_joint", "elbow"),
        ("replace_body", "upper"),
        ("replace_body", "lower"),
        ("replace_contact", "hand"),
        ("replace_collider", "table"),
        ("set_drive", "elbow"),
    ],
)
def test_nothing_changed_is_the_same_to_the_bit(method, name):
    m, same = arm(), everything(arm())
    getattr(m, method)(name)
    assert everything(m) == same


@pytest.mark.parametrize(
    ("method", "name", "changed"),
    [
        ("replace_joint", "shoulder", {"damping": 1.0, "kp": 20.0, "target": 0.3}),
        ("replace_joint", "shoulder", {"axis": (0, 1, 0), "lower": -1.0, "upper": 1.0}),
        ("replace_joint", "shoulder", {"kind": "cylindrical"}),
        ("replace_joint", "elbow", {"lower": -0.5}),  # starts at 0 again
        ("replace_joint", "elbow", {"kp": (1.0, 2.0)}),
        ("replace_body", "upper", {"mass": 3.0}),  # the inertia is that of the shapes
        ("replace_body", "upper", {"shapes": [Sphere(0.2)], "friction": 0.1}),
        ("replace_body", "upper", {"collide": False}),
        ("replace_body", "lower", {"mass": 0.7, "position": (1, 2, 3)}),
        ("replace_contact", "hand", {"normal": (0, 0, 1), "offset": 0.1}),
        ("replace_contact", "hand", {"radius": 0.1, "compliance": 1e-4}),
        ("replace_collider", "table", {"shape": Sphere(0.3), "group": 2}),
    ],
)
def test_replaced_is_as_added_with_these_arguments(method, name, changed):
    m, expected = arm(), arm({(method.removeprefix("replace_"), name): changed})
    getattr(m, method)(name, **changed)
    found, wanted = everything(m), everything(expected)
    assert found[1:] == wanted[1:]
    for part, other in zip(found[0], wanted[0], strict=True):
        for value, want in zip(part, other, strict=True):
            if isinstance(value, str):
                assert value == want
            else:
                np.testing.assert_allclose(value, want, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("method", "name", "changed", "error", "message"),
    [
        ("replace_joint", "elbo", {"damping": 1.0}, MechanismError, "joint 'elbo' is unknown; did you mean 'elbow'"),
        (
            "replace_joint",
            "elbow",
            {"dampng": 1.0},
            TypeError,
            r"replace_joint\(\) got .*'dampng'; did you mean 'damping'",
        ),
        ("replace_joint", "elbow", {"name": "knee"}, TypeError, "multiple values|unexpected"),
        ("replace_joint", "elbow", {"damping": -1.0}, MechanismError, "joint 'elbow': damping must be"),
        ("replace_joint", "elbow", {"upper": 0.1}, MechanismError, "lower must be less than upper"),
        ("replace_joint", "elbow", {"child": "uper"}, MechanismError, "child 'uper' is unknown.*'upper'"),
        ("replace_joint", "elbow", {"parent": "world", "child": "upper"}, MechanismError, "doubly connected"),
        ("replace_joint", "elbow", {"kind": "fixed"}, MechanismError, "no free axis"),
        ("replace_body", "lower", {"mass": -1.0}, MechanismError, "body 'lower': mass must be"),
        ("replace_body", "upper", {"collide": 3}, MechanismError, "collide must be one of True, False"),
        ("replace_body", "upper", {"friction": -1.0}, MechanismError, "friction must be"),
        ("replace_body", "upper", {"colour": 1}, TypeError, "unexpected keyword argument 'colour'"),
        ("replace_contact", "hand", {"body": "world"}, MechanismError, "not the world"),
        ("replace_contact", "hand", {"damping": 3.0}, MechanismError, "no effect on a hard contact"),
        ("replace_contact", "hands", {}, MechanismError, "did you mean 'hand'"),
        ("replace_collider", "table", {"shape": None}, MechanismError, "shape must be"),
        ("replace_collider", "table", {"body": "uper"}, MechanismError, "'uper' is unknown"),
        ("replace_collider", "tabl", {}, MechanismError, "did you mean 'table'"),
        ("set_drive", "elbow", {"kp": np.nan}, MechanismError, "joint 'elbow': kp must be"),
        ("set_drive", 3, {"kp": 1.0}, MechanismError, "joint name must be a string"),
    ],
)
def test_what_is_wrong_changes_nothing(method, name, changed, error, message):
    m, same = arm(), everything(arm())
    with pytest.raises(error, match=message):
        getattr(m, method)(name, **changed)
    assert everything(m) == same


def test_a_collider_that_a_pair_names_cannot_vanish():
    m = arm()
    m.replace_body("upper", shapes=[Sphere(0.1), Sphere(0.2)], mass=1.0)
    m.set_pair("upper 1", "table", friction=0.9)
    same = everything(m)
    with pytest.raises(MechanismError, match="no collider 'upper 1' any more"):
        m.replace_body("upper", shapes=[Sphere(0.1)])
    assert everything(m) == same
    m.replace_body("upper", shapes=[Sphere(0.1), Sphere(0.3)])
    assert [collider.name for collider in m.colliders] == ["upper", "upper 1", "table"]


def test_joints_can_be_hung_elsewhere():
    m = arm()
    m.replace_joint("elbow", parent="world")
    m.add_joint("hinge", "revolute", "upper", "lower")  # the pair is free again
    with pytest.raises(MechanismError, match="doubly connected"):
        m.add_joint("twice", "revolute", "world", "lower")


def test_drives_hold():
    m = arm()
    m.set_drive("shoulder", kp=500.0, kd=50.0, effort_limit=80.0)
    m.set_drive("shoulder", kd=40.0)  # the rest stays
    joint = m.joint("shoulder")
    assert (joint.kp, joint.kd, joint.effort_limit, joint.damping) == (500.0, 40.0, 80.0, 0.3)
    sim = Simulator(m, dt=0.01)
    sim.step(target=[0.4, 0.0, 0.0], repeat=300)
    assert abs(sim.joint_positions()[0, 0] - 0.4) < 0.05


@pytest.mark.parametrize("parts", ["bodies", "joints", "contacts", "colliders"])
def test_parts_cannot_be_assigned(parts):
    m = arm()
    with pytest.raises(TypeError):
        getattr(m, parts)[0] = None
    with pytest.raises(AttributeError):
        setattr(m, parts, ())


@pytest.mark.parametrize(
    ("changed", "call"),
    [
        ({"kp": 3.0}, "set_drive('elbow', kp=...)"),
        ({"effort_limit": 3.0}, "set_drive('elbow', effort_limit=...)"),
        ({"stiffness": 1.0}, "replace_joint('elbow', stiffness=...)"),
        ({"joint_friction": 1.0}, "replace_joint('elbow', friction=...)"),
    ],
)
def test_parameters_that_are_not_there_name_the_call_that_helps(changed, call):
    """The call is made as it is written, and the parameter can then be changed."""
    m = arm()
    ((name, value),) = changed.items()
    none = np.inf if name == "effort_limit" else 0.0
    with pytest.raises(InputError) as caught:
        Simulator(m, compiled=False).set_parameters(**{name: [none, value, none]})
    assert call in str(caught.value)
    eval("m." + call.replace("=...", f"={value}"), {"m": m})
    sim = Simulator(m, compiled=False)
    sim.set_parameters(**{name: [none, 2 * value, value]})
    assert sim.parameter(name)[0].tolist() == [none, 2 * value, value]
