"""The arithmetic of VIQuadrupedRough-v0, compiled: the ground below, and what a step is worth."""

import numpy as np

from vigym.engine.compiled import compiled, inlined
from vigym.engine.vectors import dot, matvec, matvec_t, rotation_matrix
from vigym.envs.compiled_task import physics_of, sense_solver, write
from vigym.envs.quadruped_motion import reward_ctrl, reward_limits, reward_rate
from vigym.envs.robot import sense_base
from vigym.envs.terrain.field import height_at

FOOT_RADIUS = 0.02  # m
NEAR = 0.01  # m: a foot that is as close to the ground is what a pushed calf stands on
PRESSED = 1.0  # N: a foot, or the trunk, that touches; of a knee, a tenth is enough
LINEAR, ANGULAR, RATE, HEIGHT = 2.0, 0.25, 0.05, 5.0  # factors on observations
BELOW, MOST = 0.5, 1.0  # m: heights are seen from so far below the trunk, and cut to +-MOST
STILL = 0.1  # m/s: slower commands ask for no steps
WIDTH = 0.25  # (m/s)^2, (rad/s)^2: squared errors at which a reward is down to 1/e
SWING = 0.5  # s: longer swings pay, shorter ones cost
HEADING_GAIN = 0.5  # 1/s: commanded yaw rate by the error of the heading
N_COLUMNS, N_ROWS, STRIDE = 17, 11, 0.1  # points of the height scan along and across, and m between them


@inlined
def yaw_of(q):
    """Heading of a body, rad."""
    return np.arctan2(2.0 * (q[0] * q[3] + q[1] * q[2]), 1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]))


@inlined
def command_now(me, q, elapsed, commands, settings):
    """Take the command of this time: commands (k, 3) have vx, vy and heading, or yaw rate."""
    row = commands[int(elapsed * settings.dt / settings.resampling_time) % len(commands)]
    me.command[0], me.command[1], me.command[2] = row[0], row[1], row[2]
    if me.follows_heading:
        error = row[2] - yaw_of(q)
        error -= 2.0 * np.pi * np.floor((error + np.pi) / (2.0 * np.pi))
        me.command[2] = min(max(HEADING_GAIN * error, -1.0), 1.0)


@inlined
def sense_trunk(me, physics, heights, spacing):
    """Position and motion of the trunk, in its own frame where it is observed."""
    x, R = physics.x[0], rotation_matrix(physics.q[0])
    sense_base(me, x, physics.v[0])
    me.up[0], me.up[1], me.up[2] = R[2]
    me.velocity[0], me.velocity[1], me.velocity[2] = matvec_t(R, physics.v[0])
    floor, _, _ = height_at(heights, spacing, x[0], x[1])
    me.height = x[2] - floor


@inlined
def sense_feet(me, physics, pushed, feet, heights, spacing, at_start, settings):
    """Gaps of the feet, whether they touch, how long they have been in the air; other parts that touch."""
    me.collisions, me.air_reward, least = 0.0, 0.0, PRESSED * settings.step
    asked = np.sqrt(me.command[0] * me.command[0] + me.command[1] * me.command[1])
    me.fallen = dot(pushed[0], pushed[0]) > least * least
    for i in range(4):
        hip, thigh, calf = pushed[1 + 3 * i], pushed[2 + 3 * i], pushed[3 + 3 * i]
        x, R = physics.x[3 + 3 * i], rotation_matrix(physics.q[3 + 3 * i])
        p = matvec(R, feet[i])
        floor, by_x, by_y = height_at(heights, spacing, x[0] + p[0], x[1] + p[1])
        me.foot_gap[i] = (x[2] + p[2] - floor) / np.sqrt(1.0 + by_x * by_x + by_y * by_y) - FOOT_RADIUS
        me.fallen = me.fallen or dot(hip, hip) > least * least
        force = dot(calf, calf)
        stands = me.foot_gap[i] < NEAR
        if dot(thigh, thigh) > 0.01 * least * least:
            me.collisions += 1.0
        if force > 0.01 * least * least and not stands:
            me.collisions += 1.0
        touches = stands and calf[2] > least
        if at_start:
            me.air_time[i], me.touched[i] = 0.0, 0.0
            continue
        me.air_time[i] += settings.dt
        if touches or me.touched[i] > 0.0:
            if asked > STILL and me.air_time[i] > settings.dt:
                me.air_reward += me.air_time[i] - SWING
            me.air_time[i] = 0.0
        me.touched[i] = 1.0 if touches else 0.0


@inlined
def observe(out, me, physics, neutral, heights, spacing, action):
    """Write the observation."""
    k = write(out, 0, (LINEAR * me.velocity[0], LINEAR * me.velocity[1], LINEAR * me.velocity[2]))
    w = physics.w[0]
    k = write(out, k, (ANGULAR * w[0], ANGULAR * w[1], ANGULAR * w[2], -me.up[0], -me.up[1], -me.up[2]))
    k = write(out, k, (LINEAR * me.command[0], LINEAR * me.command[1], ANGULAR * me.command[2]))
    for i in range(12):
        out[k + i], out[k + 12 + i] = physics.joints[i] - neutral[i], RATE * physics.rates[i]
    k = write(out, k + 24, action)
    x, yaw = physics.x[0], yaw_of(physics.q[0])
    c, s = np.cos(yaw), np.sin(yaw)
    for column in range(N_COLUMNS):
        for row in range(N_ROWS):
            ahead, aside = STRIDE * (column - N_COLUMNS // 2), STRIDE * (row - N_ROWS // 2)
            floor, _, _ = height_at(heights, spacing, x[0] + c * ahead - s * aside, x[1] + s * ahead + c * aside)
            out[k] = HEIGHT * min(max(x[2] - BELOW - floor, -MOST), MOST)
            k += 1


@inlined
def reward_velocity(me, settings):
    ahead, aside = me.command[0] - me.velocity[0], me.command[1] - me.velocity[1]
    return settings.velocity_reward_weight * np.exp(-(ahead * ahead + aside * aside) / WIDTH)


@inlined
def reward_yaw(me, w, settings):
    error = me.command[2] - w[2]
    return settings.yaw_reward_weight * np.exp(-(error * error) / WIDTH)


@inlined
def reward_acceleration(me, rates, settings):
    total = 0.0
    for k in range(12):
        total += ((me.last_rates[k] - rates[k]) / settings.dt) ** 2
    return -settings.acceleration_cost_weight * total


@compiled
def judge(
    every, pushes, settings, given, ground, feet, neutral, limits, elapsed, actions, aims, gains, observations, now, env
):
    """Sense and judge the environments `env`; see `CompiledTask.judge`.

    pushes: impulses of the last step on all bodies, by group and lane. given: commands (n, k, 3) of the episodes, see
    `command_now`. ground: heights and their spacing. feet: (4, 3) in the frames of the calves, m. neutral: (12,) joint
    positions that are observed as 0. limits: see `reward_limits`. aims, gains: see `reward_ctrl`.
    """
    own, (heights, spacing) = settings[0], ground
    lanes = every.x.shape[1]
    for n in env:
        physics, me, at_start = physics_of(every, n), now[n], elapsed[n] == 0
        pushed = pushes[n // lanes, n % lanes]
        sense_solver(me, physics)
        command_now(me, physics.q[0], elapsed[n], given[n], own)
        sense_trunk(me, physics, heights, spacing)
        sense_feet(me, physics, pushed, feet, heights, spacing, at_start, own)
        me.steps = elapsed[n]
        if at_start:
            me.fallen = False
            me.collisions = 0.0
            for k in range(12):
                me.last_action[k], me.last_rates[k] = 0.0, physics.rates[k]
        observe(observations[n], me, physics, neutral, heights, spacing, actions[n])
        w, dt = physics.w[0], own.dt
        me.reward_velocity = dt * reward_velocity(me, own)
        me.reward_yaw = dt * reward_yaw(me, w, own)
        me.reward_air = dt * own.air_reward_weight * me.air_reward
        me.reward_vertical = -dt * own.vertical_cost_weight * me.velocity[2] * me.velocity[2]
        me.reward_turn = -dt * own.turn_cost_weight * (w[0] * w[0] + w[1] * w[1])
        me.reward_ctrl = dt * reward_ctrl(physics, aims[n], gains[n], own)
        me.reward_acceleration = dt * reward_acceleration(me, physics.rates, own)
        me.reward_rate = dt * reward_rate(me, actions[n], own)
        me.reward_collision = -dt * own.collision_cost_weight * me.collisions
        me.reward_limits = dt * reward_limits(physics.joints, limits, own)
        total = me.reward_velocity + me.reward_yaw + me.reward_air + me.reward_vertical + me.reward_turn
        total = total + me.reward_ctrl + me.reward_acceleration + me.reward_rate + me.reward_collision
        total = total + me.reward_limits
        me.reward_floor = max(-total, 0.0) if own.only_positive_rewards else 0.0
        me.reward = total + me.reward_floor
        me.terminated = me.solver_failed or me.fallen
        for k in range(12):
            me.last_action[k], me.last_rates[k] = actions[n, k], physics.rates[k]
