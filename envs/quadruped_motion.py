"""The arithmetic of VIQuadruped-v0, compiled: what its state looks like, and what a step is worth."""

import numpy as np

from vigym.engine.compiled import compiled, inlined
from vigym.engine.vectors import cross, dot, matvec, matvec_t, rotation_matrix
from vigym.envs.compiled_task import physics_of, sense_solver, sum_of_squares, write, write_maximal
from vigym.envs.robot import sense_base
from vigym.envs.terrain.field import height_at
from vigym.envs.terrain.steps import tread_at

KNEE_RADIUS = 0.02  # m
HALF_LENGTH, HALF_WIDTH, HALF_HEIGHT = 0.24, 0.097, 0.057  # m, of the trunk with its hip motors
FOOT_RADIUS = 0.02  # m
CLEAR = 1e-6  # m; below it, a foot touches the ground: contacts are solved to 1e-10 m
NEAR = 1e-3  # m: the same on ground of triangles, where a foot may stand on the one beside that below its middle
STANDS = 0.05  # m/s, rad/s: a slower command is one to stand still
MARGIN = 0.05  # rad: this close to its limits, a joint costs
WIDTH, YAW_WIDTH, FEET_WIDTH = 0.3, 0.5, 0.05  # m/s, rad/s, m: errors at which a reward is down to 1/e
TILT = 50.0  # (rad/s)^2: of turning that costs as much as lying on the side
TURN = 2.0 * np.pi
SHIFT = (0.0, 0.5, 0.5, 0.0)  # of each leg's clock, periods: diagonal legs move together


@compiled
def aim(actions, neutral, scale, limits, aims):
    """Targets of the drives for actions (n, 12), cut to the limits (2, 12) of the joints, rad."""
    for n in range(len(actions)):
        for k in range(12):
            aims[n, k] = min(max(neutral[k] + scale * actions[n, k], limits[0, k]), limits[1, k])


@inlined
def floor_at(terrain, x, y):
    """Height of stairs or of a field at a point, and slopes along x and y; see `Quadruped.terrain`."""
    is_stairs, (rise, length, n), heights, spacing = terrain
    if is_stairs:
        return tread_at(x, rise, length, n), 0.0, 0.0
    return height_at(heights, spacing, x, y)


@inlined
def foot_over(terrain, x, q, foot):
    """Height of a foot above the plane of the ground below its middle; normal of that; its middle from the calf's."""
    p = matvec(rotation_matrix(q), foot)
    floor, by_x, by_y = floor_at(terrain, x[0] + p[0], x[1] + p[1])
    size = np.sqrt(1.0 + by_x * by_x + by_y * by_y)
    return (x[2] + p[2] - floor) / size - FOOT_RADIUS, (-by_x / size, -by_y / size, 1.0 / size), p


@compiled
def least_heights(terrain, x, q, feet, out):
    """Heights (n,) of the lowest foot above stairs or a field, along z, or less; x, q: poses of all bodies.

    A ball of radius r is clear of ground that rises by at most m around it if its middle is r sqrt(1 + m^2) above the
    ground below. All triangles under the ball are found at its middle and at the corners of the square around it.
    """
    for n in range(len(x)):
        out[n] = np.inf
        for i in range(4):
            body = x[n, 3 + 3 * i]
            p = matvec(rotation_matrix(q[n, 3 + 3 * i]), feet[i])
            px, py = body[0] + p[0], body[1] + p[1]
            floor, by_x, by_y = floor_at(terrain, px, py)
            steepest = by_x * by_x + by_y * by_y
            for k in range(4):
                dx, dy = FOOT_RADIUS * (1 - 2 * (k % 2)), FOOT_RADIUS * (1 - 2 * (k // 2))
                _, by_x, by_y = floor_at(terrain, px + dx, py + dy)
                steepest = max(steepest, by_x * by_x + by_y * by_y)
            out[n] = min(out[n], body[2] + p[2] - floor - FOOT_RADIUS * np.sqrt(1.0 + steepest))


@inlined
def sense_trunk(me, physics, ground):
    """Sense the direction of up, the trunk's motion and its height; see `Quadruped.senses`."""
    x = physics.x[0]
    R = rotation_matrix(physics.q[0])
    me.up[0], me.up[1], me.up[2] = R[2]
    n1, n2, n3 = matvec_t(R, ground)
    me.normal[0], me.normal[1], me.normal[2] = n1, n2, n3
    me.velocity[0], me.velocity[1], me.velocity[2] = matvec_t(R, physics.v[0])
    floor = 0.25 * (me.floors[0] + me.floors[1] + me.floors[2] + me.floors[3])
    me.height = ground[0] * x[0] + ground[1] * x[1] + ground[2] * x[2] - floor
    me.lowest_corner = me.height - HALF_LENGTH * abs(n1) - HALF_WIDTH * abs(n2) - HALF_HEIGHT * abs(n3)
    me.forward_velocity, me.sideways_velocity, me.yaw_rate = me.velocity[0], me.velocity[1], physics.w[0, 2]
    sense_base(me, x, physics.v[0])


@inlined
def sense_feet(me, physics):
    """Gaps and slips of feet that touch a plane."""
    me.penetration = 0.0
    for i in range(4):
        me.floors[i], me.penetration = 0.0, max(me.penetration, -physics.gaps[i])
        me.foot_clearance[i] = physics.gaps[i]
        me.foot_slip[i] = physics.slips[i] if physics.gaps[i] < CLEAR else 0.0


@inlined
def sense_feet_on(terrain, me, physics, feet):
    """Gaps and slips of the feet on stairs or a field; feet: (4, 3) in the frames of the calves, m."""
    me.penetration = 0.0
    for i in range(4):
        b = 3 + 3 * i
        gap, normal, p = foot_over(terrain, physics.x[b], physics.q[b], feet[i])
        floor, _, _ = floor_at(terrain, physics.x[b, 0] + p[0], physics.x[b, 1] + p[1])
        me.floors[i], me.foot_clearance[i], me.foot_slip[i] = floor, gap, 0.0
        if terrain[0]:  # where a field has an edge, a foot may come closer than its radius to the plane beyond it
            me.penetration = max(me.penetration, -gap)
        if gap < (CLEAR if terrain[0] else NEAR):
            w, v = matvec(rotation_matrix(physics.q[b]), physics.w[b]), physics.v[b]
            r = FOOT_RADIUS
            turn = cross(w, (p[0] - r * normal[0], p[1] - r * normal[1], p[2] - r * normal[2]))
            speed = v[0] + turn[0], v[1] + turn[1], v[2] + turn[2]
            along = dot(speed, normal)
            me.foot_slip[i] = np.sqrt(max(dot(speed, speed) - along * along, 0.0))


@inlined
def sense_legs(me, physics, ground, knees):
    """Height of the lowest knee and fastest slip of a foot; knees: (4, 3) in the frames of the calves, m."""
    me.lowest_knee, me.slip = me.height, 0.0
    for i in range(4):
        b = 3 + 3 * i
        x, knee = physics.x[b], knees[i]
        n1, n2, n3 = matvec_t(rotation_matrix(physics.q[b]), ground)
        height = ground[0] * x[0] + ground[1] * x[1] + ground[2] * x[2] - me.floors[i]
        lowest = height + n1 * knee[0] + n2 * knee[1] + n3 * knee[2] - KNEE_RADIUS
        me.lowest_knee = min(me.lowest_knee, lowest)
        me.slip = max(me.slip, me.foot_slip[i])


@inlined
def is_healthy(me, settings):
    """Height and tilt of the trunk are in their ranges, neither trunk nor knees in the ground."""
    upright = settings.lowest <= me.height <= settings.highest and me.normal[2] >= settings.least_upright
    return upright and me.lowest_corner > 0.0 and me.lowest_knee > 0.0


@inlined
def begin(me):
    """Begin an episode."""
    for i in range(4):
        me.peak[i], me.slid[i], me.foot_lift[i], me.foot_slide[i] = 0.0, 0.0, 0.0, 0.0
    for k in range(12):
        me.last_action[k] = 0.0


@inlined
def follow(me, elapsed, settings):
    """Follow the feet over a control step: how high they should be, how high they were, how far they slid."""
    dt, period = settings.dt, settings.gait_period
    clock = (dt / period) * elapsed
    ended = np.floor(clock) > np.floor((dt / period) * (elapsed - 1))
    for i in range(4):
        me.wanted[i] = settings.foot_lift * max(np.sin(TURN * (clock + SHIFT[i])), 0.0)
        me.peak[i] = max(me.peak[i], me.foot_clearance[i])
        me.slid[i] += dt * me.foot_slip[i]
        if ended:
            me.foot_lift[i], me.foot_slide[i] = me.peak[i], me.slid[i]
            me.peak[i], me.slid[i] = 0.0, 0.0


@inlined
def observe(out, me, physics, elapsed, action, settings):
    """Write the observation."""
    if settings.observes_maximal:
        k = write_maximal(out, physics)
    else:
        k = write(out, 0, physics.x[0, : int(settings.kept)])
        k = write(out, k, (me.height, me.up[0], me.up[1], me.up[2]))
        k = write(out, k, physics.joints)
        k = write(out, k, me.velocity)
        k = write(out, k, physics.w[0])
        k = write(out, k, physics.rates)
    clock = settings.clock_rate * elapsed
    k = write(out, k, me.command)
    k = write(out, k, (np.cos(clock), np.sin(clock)))
    write(out, k, action)


@inlined
def reward_velocity(me, settings):
    ahead, aside = me.velocity[0] - me.command[0], me.velocity[1] - me.command[1]
    return settings.velocity_reward_weight * np.exp(-(ahead * ahead + aside * aside) / WIDTH**2)


@inlined
def reward_yaw(me, settings):
    error = me.yaw_rate - me.command[2]
    return settings.yaw_reward_weight * np.exp(-(error * error) / YAW_WIDTH**2)


@inlined
def reward_feet(me, settings):
    walks = max(abs(me.command[0]), abs(me.command[1]), abs(me.command[2])) >= STANDS
    miss = 0.0
    for i in range(4):
        miss += (me.foot_clearance[i] - (me.wanted[i] if walks else 0.0)) ** 2
    return settings.feet_reward_weight * np.exp(-miss / FEET_WIDTH**2)


@inlined
def reward_survive(me, settings):
    return settings.healthy_reward if me.healthy else 0.0


@inlined
def reward_vertical(me, settings):
    return -settings.vertical_cost_weight * me.velocity[2] * me.velocity[2]


@inlined
def reward_tilt(me, w, settings):
    tilt = w[0] * w[0] + w[1] * w[1] + TILT * (me.normal[0] * me.normal[0] + me.normal[1] * me.normal[1])
    return -settings.tilt_cost_weight * tilt


@inlined
def reward_ctrl(physics, aims, gains, settings):
    """aims: (12,) targets of drives, rad, or without gains torques, N m. gains: (3, 12) kp, kd, effort limit."""
    effort = 0.0
    for k in range(12):
        kp, kd, most = gains[0, k], gains[1, k], gains[2, k]
        torque = kp * (aims[k] - physics.joints[k]) - kd * physics.rates[k] if kp > 0.0 else aims[k]
        effort += min(torque * torque, most * most)
    return -settings.ctrl_cost_weight * effort


@inlined
def reward_rate(me, action, settings):
    jerk = 0.0
    for k in range(12):
        jerk += (action[k] - me.last_action[k]) ** 2
    return -settings.rate_cost_weight * jerk


@inlined
def reward_limits(joints, limits, settings):
    """limits: (2, 12) of the joints, rad."""
    close = 0.0
    for k in range(12):
        close += max(limits[0, k] + MARGIN - joints[k], joints[k] - limits[1, k] + MARGIN, 0.0)
    return -settings.limit_cost_weight * close


@inlined
def reward_slip(me, settings):
    return -settings.slip_cost_weight * sum_of_squares(me.foot_slip)


@compiled
def judge(every, settings, terrain, ground, feet, knees, limits, elapsed, actions, aims, gains, observations, now, env):
    """Sense and judge the environments `env`; see `CompiledTask.judge`.

    terrain: see `Quadruped.terrain`. ground: (3,) normal of the ground, the world's z on stairs and fields. feet,
    knees, limits: see `sense_feet_on`, `sense_legs`, `reward_limits`. aims, gains: (n, ...), see `reward_ctrl`.
    """
    given = settings[0]
    for n in env:
        physics, me, action = physics_of(every, n), now[n], actions[n]
        sense_solver(me, physics)
        if given.on_plane:
            sense_feet(me, physics)
        else:
            sense_feet_on(terrain, me, physics, feet)
        sense_trunk(me, physics, ground)
        sense_legs(me, physics, ground, knees)
        me.healthy = is_healthy(me, given)
        if elapsed[n] == 0:
            begin(me)
        else:
            follow(me, elapsed[n], given)
        observe(observations[n], me, physics, elapsed[n], action, given)
        me.reward_velocity = reward_velocity(me, given)
        me.reward_yaw = reward_yaw(me, given)
        me.reward_feet = reward_feet(me, given)
        me.reward_survive = reward_survive(me, given)
        me.reward_vertical = reward_vertical(me, given)
        me.reward_tilt = reward_tilt(me, physics.w[0], given)
        me.reward_ctrl = reward_ctrl(physics, aims[n], gains[n], given)
        me.reward_rate = reward_rate(me, action, given)
        me.reward_limits = reward_limits(physics.joints, limits, given)
        me.reward_slip = reward_slip(me, given)
        me.reward = me.reward_velocity + me.reward_yaw + me.reward_feet + me.reward_survive + me.reward_vertical
        me.reward = me.reward + me.reward_tilt + me.reward_ctrl + me.reward_rate + me.reward_limits + me.reward_slip
        me.terminated = me.solver_failed or (given.terminate_when_unhealthy and not me.healthy)
        for k in range(12):
            me.last_action[k] = action[k]
