/* Kernels of smoothed particles with pressure, cohesion, artificial viscosity and individual time steps (desbrun1996).
 *
 * Time within a step is counted in ticks; `whole` ticks, a power of two, are a step of the scene. A particle of level n
 * has steps of whole/2^n ticks, which begin at multiples of that; its force is evaluated in their middle.
 *
 * All sums are in gather form: a particle sums over its neighbours and writes only its own data. */
#ifndef PBD_DESBRUN_SPH_KERNELS_H
#define PBD_DESBRUN_SPH_KERNELS_H

#include "harness/exec/kernel.h"
#include "methods/physics/space/sph_kernel.h"
#include "methods/physics/surface/collider_pose.h"

enum {
    SPH_BLOCK = 16,     /* particles per item of a reduction */
    SPH_BAD_LEVEL = 255 /* of a particle with a non-finite position */
};

/* ---- The material: interaction of two particles ------------------------------------------------------------------ */

typedef struct sph_law {
    sph_kernel kernel;
    real support, per_square, sigma; /* R = 2h, m; 1/R^2; normalisation of W */
    real h, k, rest;                 /* m; m^2/s^2; rho0 */
    real linear, quadratic;          /* viscosity coefficients: times c, m/s; 1 */
    real courant, sound, shear;      /* Eq. 8: alpha; c_s and c, m/s */
    int printed;                     /* Eq. 8 as printed */
    real external[3];                /* m/s^2 */
} sph_law;

/* Device arrays by particle, and constants of a run. */
typedef struct sph_particles {
    real *x, *v, *a; /* rows of 4: position and mass; velocity, and 1 or (held) 0; acceleration, and mu of Eq. 8 */
    real *u, *b;     /* rows: velocity extrapolated to now, P/rho^2; the next acceleration, its mu */
    real *load;      /* rows: acceleration by the scene's forces; NULL: none */
    real *density, *rate, *density_now, *bound;
    uint32_t *tick, *density_tick; /* the times of velocity and density */
    uint32_t *level;               /* level of the current step */
    uint32_t *required;            /* level that the criteria require now */
    uint32_t *next;                /* level of the next step */
    uint32_t *later;               /* `next` after one more pass over neighbours */
    sph_law law;
    uint32_t whole; /* ticks per step of the scene */
} sph_particles;

typedef struct sph_lists {
    const uint32_t *first, *list; /* neighbours by particle */
    const uint32_t *active;       /* the particles to work on; NULL: all */
} sph_lists;

PBD_FN size_t sph_particle(const sph_lists *l, size_t item) { return l->active ? l->active[item] : item; }

/* Particles side by side, a lane for each, with their lists. Lanes beyond the last particle repeat it. */
typedef struct sph_lanes {
    uint32_t own[PBD_BATCH];                               /* the particles */
    uint32_t begin[PBD_BATCH], length[PBD_BATCH], longest; /* of their lists */
    vreal lengths;
} sph_lanes;

PBD_FN sph_lanes sph_lanes_of(const sph_lists *l, size_t first, int count) {
    sph_lanes out;
    real lengths[PBD_BATCH];
    out.longest = 0;
    for (int k = 0; k < PBD_BATCH; k++) {
        out.own[k] = (uint32_t)sph_particle(l, first + (size_t)(k < count ? k : count - 1));
        out.begin[k] = l->first[out.own[k]];
        out.length[k] = l->first[out.own[k] + 1] - out.begin[k];
        out.longest = out.length[k] > out.longest ? out.length[k] : out.longest;
        lengths[k] = (real)out.length[k];
    }
    out.lengths = batch_load(lengths, 0, PBD_BATCH);
    return out;
}

/* The neighbour at `at` in the list of each lane. A lane whose list has ended gets its own particle, and is not in the
 * mask. */
PBD_FN vmask sph_partners(const sph_lists *l, const sph_lanes *lanes, uint32_t at, uint32_t partner[PBD_BATCH]) {
    for (int k = 0; k < PBD_BATCH; k++)
        partner[k] = at < lanes->length[k] ? l->list[lanes->begin[k] + at] : lanes->own[k];
    return lanes->lengths > (real)at;
}

/* v in the lanes of the mask, 0 in the others. */
PBD_FN vvec3 sph_only(vmask lanes, vvec3 v) {
    const vreal zero = vreal_set(0);
    return vvec3_make(vreal_where(lanes, v.x, zero), vreal_where(lanes, v.y, zero), vreal_where(lanes, v.z, zero));
}

/* grad_i W_ij for d = x_i - x_j. Two coincident particles repel each other along x, the one of higher index in the
 * positive direction, so that both compute the same direction. */
PBD_FN vvec3 sph_gradient(const sph_law *law, vvec3 d, vreal square, vmask near, const uint32_t *i, const uint32_t *j) {
    vvec3 out = vvec3_scale(vsph_kernel_scaled(law->kernel, law->sigma, law->per_square, square).slope, d);
    if (law->kernel != SPH_SPIKY || !vmask_any(near & (square <= 0))) return out;
    real away[PBD_BATCH]; /* dW/dr at 0 is -3 sigma/R */
    for (int k = 0; k < PBD_BATCH; k++) away[k] = (i[k] > j[k] ? -3 : 3) * law->sigma / law->support;
    out.x = vreal_where(near & (square <= 0), batch_load(away, 0, PBD_BATCH), out.x);
    return out;
}

/* P/rho^2 of Eq. 7. */
PBD_FN real sph_pressure_term(const sph_law *law, real density) {
    return law->k * (density - law->rest) / (density * density);
}

/* The density `age` seconds later: first order in the rate, and always positive. */
PBD_FN real sph_later_density(real density, real rate, real age) {
    const real grown = rate * age / density;
    return grown >= 0 ? density * (1 + grown) : density / (1 - grown);
}

/* ---- Motion ------------------------------------------------------------------------------------------------------ */

typedef struct sph_drift_args {
    sph_particles p;
    const collider_pose *pose;
    size_t colliders;
    real dt;
    int plane; /* dimensions=2: nothing moves along z */
} sph_drift_args;

/* Moves a particle out of a collider along its normal, removes velocity and acceleration into it, and applies Coulomb
 * friction to the tangential motion. */
PBD_FN void sph_push_out(const collider_pose *pose, size_t i, real inverse_dt, int plane, vec3 start, vec3 *x, vec3 *v,
                         vec3 *a) {
    real room;
    collider_gap gap = collider_gap_after(pose, i, start, *x, 0, &room);
    if (!(gap.distance < 0)) return;
    if (plane) gap.normal.z = 0;
    const vec3 surface = vec3_scale(inverse_dt, collider_carried(pose, *x)), n = gap.normal;
    *x = vec3_sub(*x, vec3_scale(gap.distance, n));
    const vec3 slip = vec3_sub(*v, surface);
    const real into = vec3_dot(slip, n), pressed = vec3_dot(*a, n);
    if (into < 0) {
        const vec3 rubbed = friction_of(slip, n, -pose->friction * into);
        *v = vec3_sub(*v, vec3_add(vec3_scale(into, n), rubbed));
    }
    if (pressed < 0) *a = vec3_sub(*a, vec3_scale(pressed, n));
}

PBD_FN void sph_store3(real *rows, size_t i, vec3 x) {
    rows[4 * i] = x.x;
    rows[4 * i + 1] = x.y;
    rows[4 * i + 2] = x.z;
}

PBD_ITEM(sph_drift, sph_drift_args, i, 12 * sizeof(real), 6) {
    if (!(a->p.v[4 * i + 3] > 0)) return;
    const vec3 start = load3(a->p.x, i);
    vec3 v = load3(a->p.v, i), x = vec3_add(start, vec3_scale(a->dt, v)), force = load3(a->p.a, i);
    for (size_t c = 0; c < a->colliders; c++) sph_push_out(&a->pose[c], i, 1 / a->dt, a->plane, start, &x, &v, &force);
    sph_store3(a->p.x, i, x);
    if (a->colliders == 0) return;
    sph_store3(a->p.v, i, v);
    sph_store3(a->p.a, i, force);
}

/* ---- Density and forces ------------------------------------------------------------------------------------------ */

typedef struct sph_predict_args {
    sph_particles p;
    uint32_t now;
    real unit;   /* s per tick */
    int predict; /* 0: no extrapolation */
} sph_predict_args;

PBD_FN real sph_age(uint32_t now, uint32_t then, real unit) { return unit * (real)((int64_t)now - (int64_t)then); }

/* Extrapolates velocities and densities to now: those of neighbours of particles whose force is due were updated
 * earlier, or are half a step ahead. */
PBD_ITEM(sph_predict, sph_predict_args, i, 16 * sizeof(real) + 8, 20) {
    const real age = a->predict ? sph_age(a->now, a->p.tick[i], a->unit) : 0;
    sph_store3(a->p.u, i, vec3_add(load3(a->p.v, i), vec3_scale(age, load3(a->p.a, i))));
    const real density =
        sph_later_density(a->p.density[i], a->p.rate[i], sph_age(a->now, a->p.density_tick[i], a->unit));
    a->p.density_now[i] = density;
    a->p.u[4 * i + 3] = sph_pressure_term(&a->p.law, density);
}

typedef struct sph_pair_args {
    sph_lists lists;
    sph_particles p;
} sph_pair_args;

/* Eq. 3; i counts itself. */
PBD_BATCH_OVER(sph_density, sph_pair_args, first, count, 6 * sizeof(real) + 8, 5, 4 * sizeof(real) + 4, 15) {
    const sph_lanes lanes = sph_lanes_of(&a->lists, first, count);
    const sph_law law = a->p.law;
    vreal x[4];
    batch_load_rows(a->p.x, lanes.own, 1, PBD_BATCH, x);
    vreal sum = x[3] * law.sigma;
    for (uint32_t at = 0; at < lanes.longest; at++) {
        uint32_t j[PBD_BATCH];
        vreal b[4];
        const vmask listed = sph_partners(&a->lists, &lanes, at, j);
        batch_load_rows(a->p.x, j, 1, PBD_BATCH, b);
        const vvec3 d = vvec3_make(x[0] - b[0], x[1] - b[1], x[2] - b[2]);
        const vreal w = vsph_kernel_scaled(law.kernel, law.sigma, law.per_square, vvec3_dot(d, d)).w;
        sum += vreal_where(listed, b[3], vreal_set(0)) * w;
    }
    for (int k = 0; k < count; k++) {
        a->p.density_now[lanes.own[k]] = batch_lane(sum, k);
        a->p.u[4 * (size_t)lanes.own[k] + 3] = sph_pressure_term(&law, batch_lane(sum, k));
    }
}

/* Accelerations by Eqs. 5 and 7. Terms are antisymmetric, so momentum is conserved. */
PBD_BATCH_OVER(sph_force, sph_pair_args, first, count, 15 * sizeof(real) + 8, 10, 9 * sizeof(real) + 4, 50) {
    const sph_lanes lanes = sph_lanes_of(&a->lists, first, count);
    const uint32_t *own = lanes.own;
    const sph_law law = a->p.law;
    const real soft = law.h * law.h / 100, reach = law.support * law.support;
    const vreal zero = vreal_set(0), density = batch_gather(a->p.density_now, own, PBD_BATCH);
    vreal x[4], u[4];
    batch_load_rows(a->p.x, own, 1, PBD_BATCH, x);
    batch_load_rows(a->p.u, own, 1, PBD_BATCH, u);
    vvec3 sum = vvec3_make(vreal_set(law.external[0]), vreal_set(law.external[1]), vreal_set(law.external[2]));
    if (a->p.load) {
        vreal load[4];
        batch_load_rows(a->p.load, own, 1, PBD_BATCH, load);
        sum = vvec3_add(sum, vvec3_make(load[0], load[1], load[2]));
    }
    vreal rate = zero, closing = zero, largest = vreal_set(law.printed ? (real)-1e30 : 0);
    for (uint32_t at = 0; at < lanes.longest; at++) {
        uint32_t j[PBD_BATCH];
        vreal b[4], c[4];
        const vmask listed = sph_partners(&a->lists, &lanes, at, j);
        batch_load_rows(a->p.x, j, 1, PBD_BATCH, b);
        const vvec3 apart = vvec3_make(x[0] - b[0], x[1] - b[1], x[2] - b[2]);
        const vreal square = vvec3_dot(apart, apart);
        const vmask near = listed & (square < reach); /* the others contribute 0, also where they are not finite */
        if (!vmask_any(near)) continue;
        batch_load_rows(a->p.u, j, 1, PBD_BATCH, c);
        const vvec3 d = sph_only(near, apart), w = sph_only(near, vvec3_make(u[0] - c[0], u[1] - c[1], u[2] - c[2]));
        const vvec3 gradient = sph_gradient(&law, d, square, near, own, j);
        const vreal mu = law.h * vvec3_dot(w, d) / (square + soft), closes = vreal_where(mu < 0, mu, zero);
        const vreal damping = closes * (law.quadratic * closes - law.linear) /
                              ((density + batch_gather(a->p.density_now, j, PBD_BATCH)) / 2);
        const vreal push = vreal_where(near, b[3] * (u[3] + c[3] + damping), zero);
        sum = vvec3_sub(sum, vvec3_scale(push, gradient));
        rate += b[3] * vvec3_dot(w, gradient);
        closing = vreal_where(near & (-closes > closing), -closes, closing);
        largest = vreal_where(near & (mu > largest), mu, largest);
    }
    for (int k = 0; k < count; k++) {
        const size_t i = own[k];
        const real held = a->p.v[4 * i + 3], most = batch_lane(largest, k);
        a->p.b[4 * i] = held * batch_lane(sum.x, k);
        a->p.b[4 * i + 1] = held * batch_lane(sum.y, k);
        a->p.b[4 * i + 2] = held * batch_lane(sum.z, k);
        a->p.b[4 * i + 3] = !law.printed ? batch_lane(closing, k) : most > (real)-1e30 ? most : 0;
        a->p.rate[i] = batch_lane(rate, k);
    }
}

/* The largest step by waves and by speed, s (Eq. 8). As printed, the bound by waves can be negative (D-3): then it is
 * ignored. */
PBD_FN real sph_step_bound(const sph_law *law, real mu, vec3 v) {
    const real waves = law->sound + (real)0.6 * (law->shear + 2 * mu), speed = real_sqrt(vec3_dot(v, v));
    const real far = (real)1e30, path = law->courant * law->h;
    const real courant = waves > 0 ? path / waves : waves <= 0 ? far : waves, passing = speed > 0 ? path / speed : far;
    return passing < courant ? passing : speed >= 0 ? courant : speed; /* NaN propagates */
}

typedef struct sph_kick_args {
    sph_lists lists;
    sph_particles p;
    uint32_t now;
    real unit;
    int moves; /* 0: at creation, where only forces are evaluated */
} sph_kick_args;

PBD_ITEM(sph_kick, sph_kick_args, item, 22 * sizeof(real) + 12, 20) {
    const size_t i = sph_particle(&a->lists, item);
    const uint32_t step = a->moves ? a->p.whole >> a->p.level[i] : 0;
    for (size_t d = 4 * i; d < 4 * i + 4; d++) a->p.a[d] = a->p.b[d];
    const vec3 v = vec3_add(load3(a->p.v, i), vec3_scale(a->unit * (real)step, load3(a->p.b, i)));
    sph_store3(a->p.v, i, v);
    a->p.tick[i] = a->now + step / 2;
    a->p.density[i] = a->p.density_now[i];
    a->p.density_tick[i] = a->now;
    a->p.bound[i] = sph_step_bound(&a->p.law, a->p.b[4 * i + 3], v);
}

/* ---- Particles whose force is due -------------------------------------------------------------------------------- */

typedef struct sph_due_args {
    const uint32_t *first, *list, *level;
    uint32_t *chosen; /* 1 if chosen; after a scan, index into `active` */
    uint32_t *active;
    uint32_t due;
} sph_due_args;

PBD_ITEM(sph_choose_due, sph_due_args, i, 8, 0) { a->chosen[i] = a->level[i] == a->due; }

/* Particles whose force is due, and their neighbours, whose densities are needed. */
PBD_ITEM_OVER(sph_choose_near_due, sph_due_args, i, 16, 0, 8, 0) {
    uint32_t near = a->level[i] == a->due;
    for (uint32_t at = a->first[i]; at < a->first[i + 1] && !near; at++) near = a->level[a->list[at]] == a->due;
    a->chosen[i] = near;
}

PBD_ITEM(sph_list_chosen, sph_due_args, i, 8, 0) {
    if (a->chosen[i + 1] > a->chosen[i]) a->active[a->chosen[i]] = (uint32_t)i;
}

typedef struct sph_count_args {
    sph_lists lists;
    size_t count;
    uint32_t *out; /* by block: list entries of the chosen particles */
} sph_count_args;

PBD_ITEM(sph_count_pairs, sph_count_args, block, SPH_BLOCK * 12, 0) {
    const size_t end = (block + 1) * SPH_BLOCK < a->count ? (block + 1) * SPH_BLOCK : a->count;
    uint32_t sum = 0;
    for (size_t k = block * SPH_BLOCK; k < end; k++) {
        const size_t i = sph_particle(&a->lists, k);
        sum += a->lists.first[i + 1] - a->lists.first[i];
    }
    a->out[block] = sum;
}

/* ---- Individual time steps --------------------------------------------------------------------------------------- */

typedef struct sph_steps_args {
    const uint32_t *first, *list;
    sph_particles p;
    uint32_t now, most;
    uint32_t limit;  /* levels by which neighbours may differ */
    int common;      /* >= 0: a common level */
    real dt, old_dt; /* s: this step; if now is 0, the previous one (0: none) */
    int correct;     /* correct positions at a change of step */
} sph_steps_args;

PBD_FN uint32_t sph_level_for(real bound, real dt, uint32_t most) {
    uint32_t level = 0;
    for (; level < most && dt > bound; level++) dt /= 2;
    return bound > 0 ? level : (uint32_t)SPH_BAD_LEVEL;
}

/* A step may change at its end: to any shorter one, or to a longer one that may begin now. */
PBD_ITEM(sph_choose_levels, sph_steps_args, i, sizeof(real) + 12, 4) {
    const uint32_t needed = sph_level_for(a->p.bound[i], a->dt, a->most), level = a->p.level[i];
    const uint32_t required = a->common >= 0 ? (uint32_t)a->common : needed == SPH_BAD_LEVEL ? a->most : needed;
    uint32_t next = level;
    if (a->now == 0)
        next = required;
    else if (a->now % (a->p.whole >> level) == 0) {
        if (required > level) next = required;
        while (next > required && a->now % (a->p.whole >> (next - 1)) == 0) next--;
    }
    a->p.required[i] = needed;
    a->p.next[i] = next;
}

/* A neighbour's step may be at most 2^limit times shorter. A particle with too long a step continues, even in the
 * middle of it, with the longest permitted step that may begin now. */
PBD_ITEM_OVER(sph_limit_levels, sph_steps_args, i, 16, 0, 8, 0) {
    uint32_t most = 0, next = a->p.next[i];
    for (uint32_t at = a->first[i]; at < a->first[i + 1]; at++) {
        const uint32_t other = a->p.next[a->list[at]];
        most = other > most ? other : most;
    }
    if (most > next + a->limit) {
        next = most - a->limit;
        while (a->now % (a->p.whole >> next) != 0) next++;
    }
    a->p.later[i] = next;
}

typedef struct sph_check_args {
    const uint32_t *level, *required, *next;
    size_t count;
    uint32_t *out; /* SPH_STEP_NUMBERS by block */
} sph_check_args;

/* Finest level; numbers of particles that become finer, are not finite, need a finer level than they get; finest level
 * required; number of changes. */
enum { SPH_FINEST, SPH_FINER, SPH_NOT_FINITE, SPH_TOO_COARSE, SPH_REQUIRED, SPH_CHANGED, SPH_STEP_NUMBERS };

PBD_ITEM(sph_check_levels, sph_check_args, block, SPH_BLOCK * 12, 0) {
    const size_t end = (block + 1) * SPH_BLOCK < a->count ? (block + 1) * SPH_BLOCK : a->count;
    uint32_t out[SPH_STEP_NUMBERS] = {0, 0, 0, 0, 0, 0};
    for (size_t i = block * SPH_BLOCK; i < end; i++) {
        const uint32_t next = a->next[i], required = a->required[i];
        out[SPH_FINEST] = next > out[SPH_FINEST] ? next : out[SPH_FINEST];
        out[SPH_FINER] += next > a->level[i];
        out[SPH_CHANGED] += next != a->level[i];
        out[SPH_NOT_FINITE] += required == SPH_BAD_LEVEL;
        out[SPH_TOO_COARSE] += required > next;
        out[SPH_REQUIRED] = required > out[SPH_REQUIRED] ? required : out[SPH_REQUIRED];
    }
    for (size_t k = 0; k < SPH_STEP_NUMBERS; k++) a->out[SPH_STEP_NUMBERS * block + k] = out[k];
}

/* Applies the new steps. Stored positions lead the true ones by a dt^2/8 at the start of a step, so that they are
 * correct in its middle, where forces are evaluated. A change of step changes the lead; in the middle of a step
 * velocities are extrapolated to now as well. */
PBD_ITEM(sph_change_levels, sph_steps_args, i, 4 * 4, 0) {
    const int start = a->now == 0;
    const uint32_t level = a->p.level[i], next = a->p.next[i];
    if (start) { /* ticks restart at 0 */
        a->p.density[i] = sph_later_density(a->p.density[i], a->p.rate[i],
                                            sph_age(a->p.whole, a->p.density_tick[i], a->old_dt / (real)a->p.whole));
        a->p.density_tick[i] = 0;
        a->p.tick[i] = 0;
    }
    if (level == next && !(start && a->dt != a->old_dt)) return;
    const real old_step = (start ? a->old_dt : a->dt) / (real)(1u << level), step = a->dt / (real)(1u << next);
    const real since = sph_age(a->now, a->p.tick[i], a->dt / (real)a->p.whole);
    const real ahead = a->correct ? (step * step - old_step * old_step) / 8 + since * since / 2 : 0;
    for (size_t d = 4 * i; d < 4 * i + 3 && a->p.v[4 * i + 3] > 0; d++) {
        a->p.x[d] += ahead * a->p.a[d];
        a->p.v[d] += since * a->p.a[d];
    }
    a->p.tick[i] = a->now;
    a->p.level[i] = next;
}

#endif
