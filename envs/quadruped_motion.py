"""The arithmetic of VIQuadruped-v0, compiled: what its state looks like, and what a step is worth."""

import numpy as np

from vigym.engine.compiled import compiled
from vigym.engine.vectors import matvec_t, rotation_matrix

KNEE_RADIUS = 0.02  # m
HALF_LENGTH, HALF_WIDTH, HALF_HEIGHT = 0.24, 0.097, 0.057  # m, of the trunk with its hip motors
CLEAR = 1e-6  # m; below it, a foot touches the ground: contacts are solved to 1e-10 m
STANDS = 0.05  # m/s, rad/s: a slower command is one to stand still
MARGIN = 0.05  # rad: this close to its limits, a joint costs
WIDTH, YAW_WIDTH, FEET_WIDTH = 0.3, 0.5, 0.05  # m/s, rad/s, m: errors at which a reward is down to 1/e
TILT = 50.0  # (rad/s)^2: of turning that costs as much as lying on the side
TURN = 2.0 * np.pi
TERMS = ("velocity", "yaw", "feet", "survive", "vertical", "tilt", "ctrl", "rate", "limits", "slip")


@compiled
def look(
    x,
    q,
    v,
    told_gaps,
    told_slips,
    ground,
    knee,
    health,
    floors,
    up,
    normal,
    velocity,
    heights,
    gaps,
    slip,
    worst,
    healthy,
):
    """Read off the state of all environments (n, body, ...) what the task needs.

    told_gaps, told_slips: (n, c) of the contacts, feet first, as the simulator tells them, m and m/s.

    ground: (3,) normal of the ground. floors: (n, 4) its height under the feet, from a plane through the origin, m; the
    trunk is over their mean. knee: (4, 3) in the frames of the calves, m.
    up, normal: (n, 3) the world's z and the ground's normal in the trunk's frame. velocity: (n, 3) of the trunk in its
    own frame, m/s. heights: (n, 3) above the ground, m, of the trunk's centre of mass, its lowest corner, the lowest
    knee. gaps: (n, 4) of the feet, m. slip: (n, 4) tangential speed of the feet that touch the ground, m/s.
    worst: (2, n) deepest penetration, m, and fastest slip, m/s. healthy: (n,) whether the trunk's height and the cosine
    of its tilt are in their ranges, `health` (lowest, highest, least), and neither trunk nor knees in the ground.
    """
    g1, g2, g3 = ground
    low, high, least = health
    for n in range(len(x)):
        R = rotation_matrix(q[n, 0])
        up[n, 0], up[n, 1], up[n, 2] = R[2]
        n1, n2, n3 = matvec_t(R, (g1, g2, g3))
        normal[n, 0], normal[n, 1], normal[n, 2] = n1, n2, n3
        velocity[n, 0], velocity[n, 1], velocity[n, 2] = matvec_t(R, v[n, 0])
        floor = 0.25 * (floors[n, 0] + floors[n, 1] + floors[n, 2] + floors[n, 3])
        height = g1 * x[n, 0, 0] + g2 * x[n, 0, 1] + g3 * x[n, 0, 2] - floor
        heights[n, 0] = height
        heights[n, 1] = height - HALF_LENGTH * abs(n1) - HALF_WIDTH * abs(n2) - HALF_HEIGHT * abs(n3)
        heights[n, 2] = height
        worst[0, n], worst[1, n] = 0.0, 0.0
        for i in range(4):
            b = 3 + 3 * i
            n1, n2, n3 = matvec_t(rotation_matrix(q[n, b]), (g1, g2, g3))
            height = g1 * x[n, b, 0] + g2 * x[n, b, 1] + g3 * x[n, b, 2] - floors[n, i]
            gap = told_gaps[n, i]
            gaps[n, i], slip[n, i] = gap, told_slips[n, i] if gap < CLEAR else 0.0
            worst[0, n], worst[1, n] = max(worst[0, n], -gap), max(worst[1, n], slip[n, i])
            lowest = height + n1 * knee[i, 0] + n2 * knee[i, 1] + n3 * knee[i, 2] - KNEE_RADIUS
            heights[n, 2] = min(heights[n, 2], lowest)
        upright = low <= heights[n, 0] <= high and normal[n, 2] >= least
        healthy[n] = upright and heights[n, 1] > 0.0 and heights[n, 2] > 0.0


@compiled
def follow(elapsed, dt, period, lift, shift, gaps, slip, peak, slid, lifted, slide, wanted):
    """Follow the feet over a control step of dt s: how high they should be, how high they were, how far they slid.

    elapsed: (n,) control steps since the start. period: of the clock, s. lift: wanted in the middle of a swing, m;
    shift: (4,) of the legs' clocks, periods. wanted: (n, 4) clearance that the clock asks for, m. peak, slid: (n, 4)
    highest clearance and sliding, m, in this period of the clock; lifted, slide: in the last one.
    """
    for n in range(len(gaps)):
        clock = (dt / period) * elapsed[n]
        ended = np.floor(clock) > np.floor((dt / period) * (elapsed[n] - 1))
        for i in range(4):
            wanted[n, i] = lift * max(np.sin(TURN * (clock + shift[i])), 0.0)
            peak[n, i] = max(peak[n, i], gaps[n, i])
            slid[n, i] += dt * slip[n, i]
            if ended:
                lifted[n, i], slide[n, i] = peak[n, i], slid[n, i]
                peak[n, i], slid[n, i] = 0.0, 0.0


@compiled
def reward_terms(
    velocity,
    normal,
    w,
    gaps,
    slip,
    wanted,
    healthy,
    command,
    action,
    last,
    joints,
    rates,
    aims,
    gains,
    limits,
    weights,
    terms,
):
    """Terms (10, n) of the reward, as TERMS names them, with their `weights`; then the last action is this one.

    aims: (n, 12) targets of drives, rad, or without gains torques, N m. gains: (n, 3, 12) kp, kd, effort limit.
    limits: (2, 12) of the joints, rad. wanted: clearances of the feet, see `follow`.
    """
    for n in range(len(w)):
        v1, v2, v3 = velocity[n]
        c1, c2, c3 = command[n]
        w1, w2, w3 = w[n, 0]
        walks = max(abs(c1), abs(c2), abs(c3)) >= STANDS
        miss = slide = effort = jerk = close = 0.0
        for i in range(4):
            miss += (gaps[n, i] - (wanted[n, i] if walks else 0.0)) ** 2
            slide += slip[n, i] * slip[n, i]
        for k in range(12):
            kp, kd, most = gains[n, 0, k], gains[n, 1, k], gains[n, 2, k]
            torque = kp * (aims[n, k] - joints[n, k]) - kd * rates[n, k] if kp > 0.0 else aims[n, k]
            effort += min(torque * torque, most * most)
            jerk += (action[n, k] - last[n, k]) ** 2
            last[n, k] = action[n, k]
            close += max(limits[0, k] + MARGIN - joints[n, k], joints[n, k] - limits[1, k] + MARGIN, 0.0)
        tilt = w1 * w1 + w2 * w2 + TILT * (normal[n, 0] * normal[n, 0] + normal[n, 1] * normal[n, 1])
        terms[0, n] = weights[0] * np.exp(-((v1 - c1) * (v1 - c1) + (v2 - c2) * (v2 - c2)) / WIDTH**2)
        terms[1, n] = weights[1] * np.exp(-((w3 - c3) * (w3 - c3)) / YAW_WIDTH**2)
        terms[2, n] = weights[2] * np.exp(-miss / FEET_WIDTH**2)
        terms[3, n] = weights[3] if healthy[n] else 0.0
        terms[4, n] = -weights[4] * v3 * v3
        terms[5, n] = -weights[5] * tilt
        terms[6, n] = -weights[6] * effort
        terms[7, n] = -weights[7] * jerk
        terms[8, n] = -weights[8] * close
        terms[9, n] = -weights[9] * slide
