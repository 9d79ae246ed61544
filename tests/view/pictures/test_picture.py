"""Pictures: geometry that has closed forms, and what the arguments do."""

import numpy as np
import pytest
from pictures import exact

import vigym
from vigym import Box, Capsule, InputError, Mechanism, Sphere
from vigym.view.pictures.picture import Arrows, Camera, Renderer, save_png, tile

UPRIGHT = [[1.0, 0.0, 0.0, 0.0]]
RED = (1.0, 0.0, 0.0)


def body(shape, planes=None, **options):
    m = Mechanism()
    m.add_body("body", mass=1.0, shapes=[shape])
    return Renderer(m, planes=planes, **options)


def redness(image):
    """Excess of red over blue, 0 to 255."""
    return image[..., 0].astype(int) - image[..., 2]


# -------------------- geometry


def test_silhouette_of_a_ball():
    """A ball of radius r at distance L is a disc: tan(angle) = r / sqrt(L^2 - r^2), times the focal length in pixels.

    Its area in pixels has an error of about the square root of the pixels on its rim.
    """
    size, r, L = 201, 0.5, 4.0  # an odd size has a pixel in the middle
    renderer = body(Sphere(r), [], width=size, height=size, camera=Camera(L, 30.0, -25.0))
    depth = renderer.depth([[0, 0, 0]], UPRIGHT)
    focal = size / 2 / np.tan(np.radians(45.0) / 2)
    radius = focal * r / np.sqrt(L**2 - r**2)
    area = np.isfinite(depth).sum()
    assert abs(area - np.pi * radius**2) < np.sqrt(2 * np.pi * radius)
    # its nearest point is L - r away
    assert abs(depth.min() - (L - r)) < 1e-6


def test_antialiasing_gives_a_ball_its_exact_area():
    """Coverage: with 8 points in a pixel at the rim the area is good to about sqrt(pixels on the rim) / 8."""
    size = 96
    renderer = body(
        Sphere(0.5, color=(0.0, 0.0, 0.0)), [], width=size, height=size, camera=Camera(4.0, 0.0, 0.0), samples=8
    )
    blank = renderer.render([[100.0, 0, 0]], UPRIGHT).astype(float)[..., 2] / 255
    image = renderer.render([[0, 0, 0]], UPRIGHT).astype(float)[..., 2] / 255
    inside = np.isfinite(renderer.depth([[0, 0, 0]], UPRIGHT))
    deep = inside.copy()
    for axis in (0, 1):
        deep &= np.roll(inside, 1, axis) & np.roll(inside, -1, axis)
    dark = (image[deep] ** 2).mean()  # colours mix as squares, see shade.py
    coverage = ((blank**2 - image**2) / (blank**2 - dark))[~deep].clip(0, 1).sum() + deep.sum()
    radius = size / 2 / np.tan(np.radians(22.5)) * 0.5 / np.sqrt(16 - 0.25)
    assert abs(coverage - np.pi * radius**2) < 0.02 * np.pi * radius**2
    levels = np.unique(image[size // 2 - 10 : size // 2 + 10])
    assert len(levels) > 10  # not only black and bright


def test_depth_of_level_and_inclined_planes():
    planes = [((0, 0, 1), 0.0), ((-0.6, 0.0, 0.8), -0.4)]
    camera = Camera(5.0, 100.0, -10.0, (0.3, 0.2, 0.4))
    depth = body(Sphere(0.1), planes, width=60, height=40, camera=camera).depth([[0, 0, -50.0]], UPRIGHT)
    eye, d = exact.rays(camera, 60, 40)
    expected = np.minimum(*(exact.ground(eye, d, n, offset) for n, offset in planes))
    assert np.isinf(expected).any()
    assert len(np.unique(expected < exact.ground(eye, d))) == 2  # both planes are seen
    np.testing.assert_allclose(depth, expected, rtol=1e-6)  # float32


def test_planes_come_from_contacts():
    m = Mechanism()
    m.add_body("box", mass=1.0, shapes=[Box((1, 1, 1))])
    m.add_contact("a", "box", normal=(0, 0, 2), offset=0.25)
    m.add_contact("b", "box", (0.1, 0, 0), normal=(0, 0, 1), offset=0.25)
    m.add_contact("c", "box", normal=(0, -1, 0), offset=-2.0)
    camera = Camera(5.0, 90.0, -30.0, (0.0, 0.0, 1.0))
    depth = Renderer(m, 40, 40, camera).depth([[0, 0, -50.0]], UPRIGHT)
    eye, d = exact.rays(camera, 40, 40)
    expected = np.minimum(exact.ground(eye, d, offset=0.25), exact.ground(eye, d, (0, -1, 0), -2.0))
    np.testing.assert_allclose(depth, expected, rtol=1e-6)


def test_a_plane_is_seen_from_above_only():
    from_below = Camera(3.0, 0.0, 40.0)
    assert np.isinf(body(Sphere(0.1), width=24, height=24, camera=from_below).depth([[9, 9, 9]], UPRIGHT)).all()


def test_depth_of_a_box_face():
    """A face across the camera's axis has the same depth everywhere, and the edges that similar triangles give."""
    camera = Camera(4.0, 0.0, 0.0)  # looks along x
    depth = body(Box((1.0, 1.2, 0.8)), [], width=121, height=121, camera=camera).depth([[0, 0, 0]], UPRIGHT)
    seen = np.isfinite(depth)
    np.testing.assert_allclose(depth[seen], 3.5, rtol=1e-6)
    focal = 121 / 2 / np.tan(np.radians(22.5))
    assert abs(seen.any(axis=0).sum() - focal * 1.2 / 3.5) < 1
    assert abs(seen.any(axis=1).sum() - focal * 0.8 / 3.5) < 1


def test_shadow_of_a_ball():
    """On the floor, p is in shadow where the line from p towards the sun passes the ball's centre closer than r."""
    sun = np.array([0.3, -0.5, 0.9])
    sun /= np.linalg.norm(sun)
    centre, r = np.array([0.1, 0.2, 1.0]), 0.4
    camera = Camera(6.0, 40.0, -50.0)
    options = {"width": 150, "height": 110, "camera": camera, "sun": sun, "samples": 1}
    with_ball = body(Sphere(r), **options).render([centre], UPRIGHT)
    # the same, far up: no shadow, no ball, but the same floor
    without = body(Sphere(r), **options).render([[0.0, 0.0, 1e4]], UPRIGHT)
    darker = with_ball.astype(int).sum(-1) < 0.85 * without.astype(int).sum(-1)

    eye, d = exact.rays(camera, 150, 110)
    floor, ball = exact.ground(eye, d), exact.sphere(eye - centre, d, r)
    p = eye + np.where(np.isfinite(floor), floor, 0.0)[..., None] * d
    across = np.linalg.norm(np.cross(p - centre, sun), axis=-1)
    visible = np.isfinite(floor) & (floor < ball)
    sure = visible & (np.abs(across - r) > 1e-9)
    assert (visible & (across < r)).sum() > 150
    # soft shade darkens beside the shadow too, but by less than 15 %: the ball is 0.6 m above the floor
    assert (darker == (across < r))[sure].all()


def test_shadow_of_one_body_on_another():
    m = Mechanism()
    m.add_body("plate", mass=1.0, shapes=[Box((2, 2, 0.1), color=(0.8, 0.8, 0.8))])
    m.add_body("ball", mass=1.0, shapes=[Sphere(0.2)])
    camera = Camera(5.0, 90.0, -60.0)
    r = Renderer(m, 80, 80, camera, sun=(0.0, 1.0, 1.0), samples=1)
    q = UPRIGHT * 2
    shaded = r.render([[0, 0, 1.0], [0, 0.5, 1.55 + 0.2]], q)  # centre 0.7 above the plate's upper face
    free = r.render([[0, 0, 1.0], [50, 50, 50]], q)
    # a point of the plate at y has its line towards the sun through (0, y + 0.7, 1.75): the middle is at y = -0.2
    eye, d = exact.rays(camera, 80, 80)
    t = exact.ground(eye, d, offset=1.05)
    y = (eye + t[..., None] * d)[..., 1]
    x = (eye + t[..., None] * d)[..., 0]
    ratio = shaded.astype(int).sum(-1) / free.astype(int).sum(-1)
    inside = (x**2 + ((y + 0.2) * np.sqrt(0.5)) ** 2 < 0.17**2) & (np.abs(x) < 1) & (np.abs(y) < 1)
    # the ball itself covers y > 0.5 - 0.2 or so, seen from y < 0 and above
    assert inside.sum() > 10
    assert (ratio[inside & (y < -0.1)] < 0.8).all()
    outside = (x**2 + ((y + 0.2) * np.sqrt(0.5)) ** 2 > 0.25**2) & (np.abs(x) < 0.95) & (y < -0.6) & (y > -0.95)
    assert (ratio[outside] == 1.0).all()


def test_arrows_point_where_told():
    """Seen along y with x to the right: the arrow's red pixels start at its foot and end at its tip."""
    r = body(Sphere(0.01), [], width=121, height=121, camera=Camera(4.0, 90.0, 0.0))
    focal = 121 / 2 / np.tan(np.radians(22.5)) / 4.0  # pixels a metre, in the plane y = 0
    for vector in ((1.0, 0.0, 0.0), (-0.8, 0.0, 0.6), (0.0, 0.0, -1.2)):
        image = r.render([[0, 0, -30]], UPRIGHT, arrows=Arrows([[0.1, 0.0, 0.2]], [vector], RED, 0.02))
        v, u = np.nonzero(redness(image) > 60)
        points = np.stack([(u + 0.5 - 60.5) / focal, (60.5 - v - 0.5) / focal], -1) - [0.1, 0.2]
        way = np.array(vector)[[0, 2]] / np.linalg.norm(vector)
        along, across = points @ way, points @ [-way[1], way[0]]
        pixel = 1 / focal
        assert abs(along.min()) < 1.5 * pixel
        assert abs(along.max() - np.linalg.norm(vector)) < 2.5 * pixel  # the tip is thinner than a pixel
        head = along > np.linalg.norm(vector) - 5 * 0.02
        assert abs(np.abs(across[~head]).max() - 0.02) < pixel
        assert abs(np.abs(across[head]).max() - 2.4 * 0.02) < 1.5 * pixel


def test_arrows_of_no_length_and_several_colours():
    r = body(Sphere(0.01), width=40, height=40, camera=Camera(4.0, 90.0, -20.0))
    x = [[0, 0, 50]]
    blank = r.render(x, UPRIGHT)
    assert (r.render(x, UPRIGHT, arrows=Arrows([[0, 0, 1]], [[0, 0, 0]])) == blank).all()
    red, blue = Arrows([[-0.5, 0, 0.5]], [[0, 0, 0.5]], RED), Arrows([[0.5, 0, 0.5]], [[0, 0, 0.5]], (0, 0, 1))
    both = redness(r.render(x, UPRIGHT, arrows=[red, blue])) - redness(blank)
    assert both[:, :20].max() > 80
    assert both[:, 20:].min() < -80


def test_stand_in_of_a_body_without_shapes():
    """A solid box has 1/12 m (b^2 + c^2): a body with these moments is drawn as that box."""
    size = np.array([0.6, 0.4, 0.9])
    J = 2.0 / 12 * ((size**2).sum() - size**2)
    bare = Mechanism()
    bare.add_body("body", mass=2.0, inertia=J)
    shaped = body(Box(tuple(size)), [], width=64, height=64, camera=Camera(3.0, 35.0, -30.0))
    q = [[0.6, 0.0, 0.64, 0.48]]
    expected = shaped.depth([[0, 0, 0]], q)
    found = Renderer(bare, 64, 64, Camera(3.0, 35.0, -30.0), planes=[]).depth([[0, 0, 0]], q)
    both = np.isfinite(found) & np.isfinite(expected)
    assert (np.isfinite(found) != np.isfinite(expected)).sum() <= 2
    np.testing.assert_allclose(found[both], expected[both], rtol=1e-5)


def test_scenery_and_invisible_shapes():
    camera = Camera(3.0, 0.0, -20.0)
    m = Mechanism()
    m.add_body("ghost", mass=1.0, shapes=[Sphere(0.5, color=(1, 0, 0, 0))])
    assert np.isinf(Renderer(m, 32, 32, camera, planes=[]).depth([[0, 0, 0]], UPRIGHT)).all()
    Renderer(m, 32, 32, planes=[]).render([[0, 0, 0]], UPRIGHT)  # nothing to frame
    step = Box((0.4, 0.4, 0.4), position=(0.1, 0.0, 0.2))
    depth = Renderer(m, 32, 32, camera, planes=[], scenery=[step]).depth([[0, 0, 0]], UPRIGHT)
    eye, d = exact.rays(camera, 32, 32)
    expected = exact.box(eye - step.position, d, np.array(step.size))
    seen = np.isfinite(expected)
    assert (np.isfinite(depth) == seen).all()
    np.testing.assert_allclose(depth[seen], expected[seen], rtol=1e-6)


# -------------------- arguments


def test_shapes_types_and_fresh_arrays():
    r = body(Capsule(0.2, 0.5), width=50, height=30)
    image, depth = r.render([[0, 0, 1]], UPRIGHT), r.depth([[0, 0, 1]], UPRIGHT)
    assert (image.shape, image.dtype) == ((30, 50, 3), np.uint8)
    assert (depth.shape, depth.dtype) == ((30, 50), np.float32)
    again = r.render([[0, 0, 1]], UPRIGHT)
    assert again is not image
    assert not np.shares_memory(again, image)
    assert (again == image).all()
    image[:] = 0
    assert (r.render([[0, 0, 1]], UPRIGHT) == again).all()


@pytest.mark.parametrize(("width", "height"), [(1, 1), (1, 9), (9, 1), (2, 2), (3, 5), (301, 7)])
def test_any_size(width, height):
    camera = Camera(3.0, 0.0, -20.0)
    depth = body(Sphere(1.0), width=width, height=height, camera=camera).depth([[0, 0, 0.5]], UPRIGHT)
    eye, d = exact.rays(camera, width, height)
    expected = np.minimum(exact.ground(eye, d), exact.sphere(eye - [0, 0, 0.5], d, 1.0))
    np.testing.assert_allclose(depth, expected, rtol=1e-5)
    assert body(Sphere(1.0), width=width, height=height).render([[0, 0, 1]], UPRIGHT).shape == (height, width, 3)


def test_a_part_of_a_large_picture_is_the_small_picture():
    """Rays do not depend on the size: every third pixel of 3n is the pixel of n, before edges are smoothed."""
    camera = Camera(3.0, 60.0, -20.0)
    small, large = (body(Capsule(0.2, 0.5), width=w, height=w, camera=camera, samples=1) for w in (31, 93))
    a, b = small.depth([[0, 0, 0.6]], UPRIGHT), large.depth([[0, 0, 0.6]], UPRIGHT)[1::3, 1::3]
    np.testing.assert_allclose(a, b, rtol=1e-6)


def test_several_poses_in_one_picture():
    m = Mechanism()
    m.add_body("body", mass=1.0, shapes=[Sphere(0.2, color=RED), Box((0.1, 0.1, 0.5), color=RED)])
    r = Renderer(m, 90, 60, Camera(5.0, 90.0, -10.0))
    x = np.array([[[-1.0, 0, 0.5]], [[0.0, 0, 0.5]], [[1.0, 0, 0.5]]])
    q = np.tile([1.0, 0, 0, 0], (3, 1, 1))
    strip = r.render(x, q)
    reds = [redness(r.render(x[k], q[k])) > 60 for k in range(3)]
    assert all(red.sum() > 20 for red in reds)
    assert ((redness(strip) > 60) == np.any(reds, axis=0)).mean() > 0.995
    ghosts = redness(r.render(x, q, fade=[1.0, 0.5, 0.0]))
    columns = [np.nonzero(red.any(axis=0))[0] for red in reds]
    strength = [ghosts[:, c].max() for c in columns]
    assert strength[0] < 30 < strength[1] < strength[2]
    np.testing.assert_allclose(r.depth(x, q), np.min([r.depth(*pose) for pose in zip(x, q, strict=True)], axis=0))


def test_bad_arguments():
    m = Mechanism()
    m.add_body("body", mass=1.0, shapes=[Sphere(0.2)])
    for options, words in (
        ({"width": 0}, "width"),
        ({"height": 2.5}, "height"),
        ({"samples": 3}, "samples"),
        ({"camera": {"distance": 2}}, "camera"),
        ({"camera": Camera(trackbodyid="bodi")}, "did you mean 'body'"),
        ({"camera": Camera(trackbodyid=1)}, "trackbodyid"),
        ({"hulls": {"wheel": np.eye(3)}}, "wheel"),
        ({"planes": [((0, 0, 0), 0.0)]}, "normal"),
        ({"sun": (0, 0, 0)}, "sun"),
    ):
        with pytest.raises(InputError, match=words):
            Renderer(m, **options)
    r = Renderer(m, 8, 8)
    for x, q in (
        ([[0, 0]], UPRIGHT),
        ([[0, 0, 0]] * 2, UPRIGHT * 2),
        ([[0, 0, np.nan]], UPRIGHT),
        ([[0, 0, 0]], [[1, 0, 0]]),
        ([[[0, 0, 0]]] * 2, UPRIGHT),
    ):
        with pytest.raises(InputError):
            r.render(x, q)
    with pytest.raises(InputError, match="arrows"):
        r.render([[0, 0, 0]], UPRIGHT, arrows=Arrows([[0, 0, 0]], [[0, 0, 1]] * 2))
    with pytest.raises(InputError, match="fade"):
        r.render([[0, 0, 0]], UPRIGHT, fade=[0.0, 1.0])


# -------------------- cameras


def test_camera_from_a_gymnasium_configuration():
    config = {"trackbodyid": 2, "distance": 3.0, "lookat": np.array((0.0, 0.0, 1.15)), "elevation": -20.0}
    assert Camera.from_config(config) == Camera(3.0, 90.0, -20.0, (0.0, 0.0, 1.15), 2)
    assert Camera.from_config(config | {"type": 0}) == Camera(3.0, 90.0, -20.0, (0.0, 0.0, 1.15), None)
    assert Camera.from_config(config | {"type": 1, "trackbodyid": -1}).trackbodyid is None
    assert Camera.from_config({"fixedcamid": -1, "azimuth": 10}) == Camera(azimuth=10.0)
    for wrong in ({"distanc": 3}, {"type": 2}, {"fixedcamid": 0}, {"distance": -1}, {"lookat": 3}, {"elevation": 95}):
        with pytest.raises(InputError, match="camera"):
            Camera.from_config(wrong)


def test_camera_angles():
    """Azimuth 90 looks along y with x to the right; a negative elevation looks down."""
    x = {"right": (0.5, 0, 0), "far": (0, 5.0, 0), "high": (0, 0, 0.5)}
    r = body(Sphere(0.1, color=RED), [], width=61, height=61, camera=Camera(4.0, 90.0, 0.0))
    middle = {k: np.argwhere(redness(r.render([p], UPRIGHT)) > 60).mean(axis=0) - 30 for k, p in x.items()}
    focal = 61 / 2 / np.tan(np.radians(22.5)) / 4.0 * 0.5
    np.testing.assert_allclose(middle["right"], (0, focal), atol=0.6)
    np.testing.assert_allclose(middle["far"], (0, 0), atol=0.6)
    np.testing.assert_allclose(middle["high"], (-focal, 0), atol=0.6)
    above = body(Sphere(0.1, color=RED), [], width=61, height=61, camera=Camera(4.0, 90.0, -90.0))
    far = np.argwhere(redness(above.render([(0, 0.5, 0)], UPRIGHT)) > 60).mean(axis=0) - 30
    np.testing.assert_allclose(far, (-focal, 0), atol=0.6)  # what is farther along the azimuth is higher up


@pytest.mark.parametrize("which", ["body", 1, np.int64(1)])
def test_camera_follows_a_body(which):
    """Across the ground with it, but not up and down."""
    m = Mechanism()
    m.add_body("other", mass=1.0, shapes=[Sphere(0.01)])
    m.add_body("body", mass=1.0, shapes=[Sphere(0.3, color=RED)])
    r = Renderer(m, 41, 41, Camera(4.0, 20.0, -15.0, (0.2, 0.1, 0.5), which), planes=[])
    at = np.array([[0.0, 0.0, -90.0], [0.2, 0.1, 0.5]])
    still = r.render(at, UPRIGHT * 2)
    assert (redness(r.render(np.add(at, [7.0, -3.0, 0.0]), UPRIGHT * 2)) - redness(still) == 0).mean() > 0.99
    raised = np.argwhere(redness(r.render(np.add(at, [0.0, 0.0, 0.4]), UPRIGHT * 2)) > 60).mean(axis=0)
    assert raised[0] < np.argwhere(redness(still) > 60).mean(axis=0)[0] - 3


def test_a_camera_of_its_own_frames_everything_once():
    m = Mechanism()
    for k in range(4):
        m.add_body(f"ball {k}", mass=1.0, shapes=[Sphere(0.2, color=RED)])
    for width, height in ((60, 60), (40, 90), (120, 30)):
        r = Renderer(m, width, height, planes=[])
        x = np.array([[-2.0, 0, 0.2], [2.0, 1.0, 0.2], [0, 0, 3.0], [5.0, -1.0, 0.5]])
        seen = np.isfinite(r.depth(x, UPRIGHT * 4))
        assert not seen[[0, -1]].any()
        assert not seen[:, [0, -1]].any()
        first = r.camera
        r.render(x + 1.0, UPRIGHT * 4)
        assert r.camera is first


# -------------------- images


def test_tile():
    images = [np.full((2, 3, 3), k, np.uint8) for k in range(5)]
    grid = tile(images)
    assert grid.shape == (4, 9, 3)
    assert [[grid[2 * i, 3 * j, 0] for j in range(3)] for i in range(2)] == [[0, 1, 2], [3, 4, 255]]
    assert tile(images[:1]).shape == (2, 3, 3)
    with pytest.raises(InputError, match=r"one size, got \(2, 3, 3\) and \(4, 4, 3\)"):
        tile([*images, np.zeros((4, 4, 3), np.uint8)])
    assert tile(np.zeros((4, 2, 3), np.float32), fill=np.inf).shape == (4, 6)
    with pytest.raises(InputError, match="at least one"):
        tile([])


def test_png(tmp_path):
    pyplot = pytest.importorskip("matplotlib.image")
    image = np.random.default_rng(0).integers(0, 256, (13, 7, 3), np.uint8)
    save_png(tmp_path / "noise.png", image)
    np.testing.assert_array_equal(np.round(pyplot.imread(tmp_path / "noise.png")[..., :3] * 255), image)
    with pytest.raises(InputError, match="uint8"):
        save_png(tmp_path / "wrong.png", image.astype(float))


def test_shapes_that_are_unknown():
    class Torus(vigym.Sphere):
        pass

    assert body(Torus(0.3), width=8, height=8).render([[0, 0, 1]], UPRIGHT).any()  # drawn as what it derives from
