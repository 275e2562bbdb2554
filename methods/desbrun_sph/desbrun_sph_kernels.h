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

/* grad_i W_ij for d = x_i - x_j. Two coincident particles repel each other along x, the one of higher index in the
 * positive direction, so that both compute the same direction. */
PBD_FN vec3 sph_gradient(const sph_law *law, vec3 d, real square, size_t i, size_t j) {
    const real slope = sph_kernel_scaled(law->kernel, law->sigma, law->per_square, square).slope;
    if (square > 0) return vec3_scale(slope, d);
    const real at_zero = law->kernel == SPH_SPIKY ? -3 * law->sigma / law->support : 0;
    return vec3_make(i > j ? at_zero : -at_zero, 0, 0);
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
PBD_ITEM_OVER(sph_density, sph_pair_args, item, 6 * sizeof(real) + 8, 5, 4 * sizeof(real) + 4, 15) {
    const size_t i = sph_particle(&a->lists, item);
    const vec3 x = load3(a->p.x, i);
    real sum = a->p.x[4 * i + 3] * a->p.law.sigma;
    for (uint32_t at = a->lists.first[i]; at < a->lists.first[i + 1]; at++) {
        const size_t j = a->lists.list[at];
        const vec3 d = vec3_sub(x, load3(a->p.x, j));
        sum += a->p.x[4 * j + 3] *
               sph_kernel_scaled(a->p.law.kernel, a->p.law.sigma, a->p.law.per_square, vec3_dot(d, d)).w;
    }
    a->p.density_now[i] = sum;
    a->p.u[4 * i + 3] = sph_pressure_term(&a->p.law, sum);
}

/* Accelerations by Eqs. 5 and 7. Terms are antisymmetric, so momentum is conserved. */
PBD_ITEM_OVER(sph_force, sph_pair_args, item, 15 * sizeof(real) + 8, 10, 9 * sizeof(real) + 4, 50) {
    const size_t i = sph_particle(&a->lists, item);
    const sph_law law = a->p.law;
    const vec3 x = load3(a->p.x, i), u = load3(a->p.u, i);
    const real term = a->p.u[4 * i + 3], density = a->p.density_now[i], soft = law.h * law.h / 100;
    const real reach = law.support * law.support;
    vec3 sum = vec3_make(law.external[0], law.external[1], law.external[2]);
    if (a->p.load) sum = vec3_add(sum, load3(a->p.load, i));
    real rate = 0, closing = 0, largest = law.printed ? (real)-1e30 : 0;
    for (uint32_t at = a->lists.first[i]; at < a->lists.first[i + 1]; at++) {
        const size_t j = a->lists.list[at];
        const vec3 d = vec3_sub(x, load3(a->p.x, j));
        const real square = vec3_dot(d, d), mass = a->p.x[4 * j + 3];
        if (!(square < reach)) continue;
        const vec3 w = vec3_sub(u, load3(a->p.u, j));
        const vec3 gradient = sph_gradient(&law, d, square, i, j);
        const real mu = law.h * vec3_dot(w, d) / (square + soft);
        const real near = mu < 0 ? mu : 0;
        const real damping = near * (law.quadratic * near - law.linear) / ((density + a->p.density_now[j]) / 2);
        sum = vec3_sub(sum, vec3_scale(mass * (term + a->p.u[4 * j + 3] + damping), gradient));
        rate += mass * vec3_dot(w, gradient);
        closing = -near > closing ? -near : closing;
        largest = mu > largest ? mu : largest;
    }
    const real held = a->p.v[4 * i + 3];
    sph_store3(a->p.b, i, vec3_scale(held, sum));
    a->p.b[4 * i + 3] = !law.printed ? closing : largest > (real)-1e30 ? largest : 0;
    a->p.rate[i] = rate;
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
