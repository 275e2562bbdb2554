#include "harness/run/balance.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "cases/scenes/particle_watch.h"
#include "harness/exec/arena.h"
#include "harness/run/sample_stride.h"
#include "harness/run/scene_energy.h"

/* Position changes up to this many units of the precision times the scene's size are rounding. */
static const double ROUNDINGS = 64;

typedef struct balance_sample {
    double time, kinetic, elastic, potential, work; /* s, J; work: of forces, colliders and pouring */
    double pushed, dissipated;                      /* J: work of colliders; its part dissipated in contact */
    double plastic;                                 /* J: dissipated by flow rules */
} balance_sample;

/* PBD_COLLIDER_SUMS. */
typedef struct collider_totals {
    double work, dissipated, impulse[3];
} collider_totals;

struct pbd_balance {
    const pbd_scene *scene;
    const pbd_method *method;
    bool gradients;            /* the method reports deformation gradients */
    bool free;                 /* no held particle, no unknown impulse of colliders, no damping: momentum is balanced */
    bool walled, driven;       /* has colliders; some of them, or held particles, move */
    bool summed;               /* the method sums the work of colliders */
    bool flows;                /* the method sums the dissipation of flow rules */
    bool forced;               /* forces other than gravity act */
    bool damped;               /* velocities are damped, by an unknown impulse */
    double dt, resolved, mass; /* s; m: what the precision resolves of a position; kg */
    long stride, step, sampled; /* steps; of the last pbd_balance_wants; last sampled */
    bool known;                 /* the elastic energy at the start of the balance is known */
    bool absent;                /* the method reports no velocities */
    balance_sample *sample;
    size_t samples, room;
    collider_totals first; /* at the first sample */
    /* Energy. If the work of colliders is not summed, since the last motion of one. */
    double start, start_work, start_potential; /* J */
    double most_gain, most;                    /* J: the numerator and the denominator of energy_gain */
    double worked;                             /* J: by forces, so far */
    double poured;                             /* J: work that moves held particles, so far */
    bool unknown;                              /* `poured` is, because an impulse is unknown: energies are not judged */
    bool force_ended;
    bool judged; /* some sample could show a gain */
    /* Momentum. */
    double linear[3], angular[3];       /* kg m/s, kg m^2/s: at the start */
    double most_linear, most_angular;   /* largest sums of the particles' magnitudes */
    double linear_drift, angular_drift; /* largest */
};

/* Whether a collider moved at any time in (from, to]. */
static bool walls_moved(const pbd_scene *scene, double from, double to) {
    for (size_t k = 0; k < scene->colliders.count; k++) {
        const pbd_collider *c = &scene->colliders.item[k];
        if (pbd_collider_moves(c) && c->begin < to && (c->end == 0 || c->end > from)) return true;
    }
    return false;
}

pbd_status pbd_balance_create(const pbd_scene *scene, const pbd_method *method, const pbd_values *values,
                              pbd_precision precision, double dt, long steps, pbd_balance **out) {
    pbd_balance *b = *out = calloc(1, sizeof *b);
    if (!b) return pbd_no_memory();
    const double epsilon = precision == PBD_PRECISION_F32 ? FLT_EPSILON : DBL_EPSILON;
    *b = (pbd_balance){.scene = scene, .method = method, .dt = dt, .resolved = ROUNDINGS * epsilon * scene->extent};
    const pbd_value *damping = pbd_value_named(values, "damping");
    b->damped = damping && damping->number > 0;
    b->free = scene->particles.fixed == 0 && !b->damped;
    b->walled = scene->colliders.count > 0;
    b->driven = scene->pour.until != NULL;
    for (size_t k = 0; k < scene->colliders.count; k++) b->driven |= pbd_collider_moves(&scene->colliders.item[k]);
    for (size_t i = 0; scene->loads.forces && i < 3 * scene->particles.count; i++)
        b->forced |= scene->loads.forces[i] != 0;
    for (size_t i = 0; i < scene->particles.count; i++) b->mass += scene->particles.masses[i];
    b->stride = pbd_sample_stride(steps); /* a sample costs about as much as a step of ten iterations */
    b->sampled = -1;
    return pbd_ok();
}

void pbd_balance_free(pbd_balance *b) {
    if (!b) return;
    free(b->sample);
    free(b);
}

/* Whether the next step is the first without forces. It begins at most half a step before their end. */
static bool forces_end_with(const pbd_balance *b, long step) {
    const double limit = b->scene->loads.forces_end - 0.5 * b->dt, time = (double)step * b->dt;
    return b->scene->loads.forces_end > 0 && time > limit && time - b->dt <= limit;
}

bool pbd_balance_wants(pbd_balance *b, long step) {
    b->step = step;
    return !b->absent && (step % b->stride == 0 || forces_end_with(b, step));
}

/* ---- A sample ---------------------------------------------------------------------------------------------------- */

typedef struct motion {
    double kinetic, potential, forced; /* J; forced: force times displacement from rest */
    double linear[3], angular[3];      /* about the centre of mass */
    double linear_sum, angular_sum;    /* of magnitudes */
    bool finite;
} motion;

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const double *a, const double *b, double *out) {
    for (int d = 0; d < 3; d++) out[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

static motion motion_of(const pbd_scene *scene, const double *x, const double *v) {
    const pbd_particles *p = &scene->particles;
    motion m = {0};
    double centre[3];
    particle_centre_of_mass(scene, x, centre);
    for (size_t i = 0; i < p->count; i++) {
        const double *at = x + 3 * i, *speed = v + 3 * i, *rest = p->positions + 3 * i, w = p->masses[i];
        const double arm[3] = {at[0] - centre[0], at[1] - centre[1], at[2] - centre[2]};
        const double moved[3] = {at[0] - rest[0], at[1] - rest[1], at[2] - rest[2]};
        double turn[3];
        cross(arm, speed, turn);
        m.kinetic += 0.5 * w * dot(speed, speed);
        m.potential -= w * dot(scene->loads.gravity, moved);
        if (scene->loads.forces) m.forced += dot(scene->loads.forces + 3 * i, moved);
        for (int d = 0; d < 3; d++) {
            m.linear[d] += w * speed[d];
            m.angular[d] += w * turn[d];
        }
        m.linear_sum += w * sqrt(dot(speed, speed));
        m.angular_sum += w * sqrt(dot(turn, turn));
    }
    m.finite = isfinite(m.kinetic) && isfinite(m.potential);
    return m;
}

static pbd_status keep(pbd_balance *b, balance_sample sample) {
    if (b->samples == b->room) {
        const size_t room = b->room ? 2 * b->room : 16;
        balance_sample *more = realloc(b->sample, room * sizeof *more);
        if (!more) return pbd_no_memory();
        b->sample = more;
        b->room = room;
    }
    b->sample[b->samples++] = sample;
    return pbd_ok();
}

/* The length of now - s start for the best s in [0, 1]. */
static double beyond(const double *start, const double *now) {
    const double square = dot(start, start), along = square > 0 ? dot(start, now) / square : 0;
    const double share = fmin(fmax(along, 0), 1);
    const double rest[3] = {now[0] - share * start[0], now[1] - share * start[1], now[2] - share * start[2]};
    return sqrt(dot(rest, rest));
}

/* The change of linear momentum since the start that gravity, forces and colliders do not explain. */
static void unexplained(const pbd_balance *b, const motion *m, const double impulse[3], double time, double change[3]) {
    const pbd_scene *scene = b->scene;
    const double end = scene->loads.forces_end, acted = end > 0 && end < time ? end : time;
    for (int d = 0; d < 3; d++)
        change[d] = m->linear[d] - b->linear[d] - time * b->mass * scene->loads.gravity[d] - impulse[d];
    for (size_t i = 0; b->forced && i < 3 * scene->particles.count; i++)
        change[i % 3] -= acted * scene->loads.forces[i];
}

/* Held particles that move have one velocity u. They are driven by the otherwise unexplained impulse j, whose work is
 * u.j, J. */
static double work_of_pouring(const pbd_balance *b, const motion *m, const double impulse[3], double time) {
    double change[3];
    if (!b->scene->pour.until) return 0;
    unexplained(b, m, impulse, time, change);
    return dot(b->scene->pour.velocity, change);
}

/* The torque of forces varies and is unknown between samples, so that the balance of angular momentum is restarted
 * while they act. The torque of colliders is not summed. */
static void balance_momentum(pbd_balance *b, const motion *m, const double impulse[3], double time) {
    const double end = b->scene->loads.forces_end;
    const bool acting = b->forced && (end == 0 || time - b->dt < end);
    double change[3];
    if (!b->free) return;
    unexplained(b, m, impulse, time, change);
    for (int d = 0; d < 3 && acting; d++) b->angular[d] = m->angular[d];
    b->most_linear = fmax(b->most_linear, m->linear_sum);
    b->linear_drift = fmax(b->linear_drift, sqrt(dot(change, change)));
    if (b->walled) return;
    b->most_angular = fmax(b->most_angular, m->angular_sum);
    b->angular_drift = fmax(b->angular_drift, beyond(b->angular, m->angular));
}

/* Starts or restarts the energy balance. `elastic`: upper bound of the elastic energy, J; NaN: unknown. */
static void start_energy(pbd_balance *b, const balance_sample *now, double elastic) {
    b->known = isfinite(elastic);
    b->start = now->kinetic + elastic + now->potential;
    b->start_work = now->work;
    b->start_potential = now->potential;
}

/* restarted: the balance starts with this sample. */
static void balance_energy(pbd_balance *b, const balance_sample *now, bool restarted) {
    const double work = now->work - b->start_work;
    const double gain = now->kinetic + now->elastic + now->potential - b->start - work;
    b->most = fmax(b->most, now->kinetic + now->elastic + fabs(now->potential - b->start_potential) + fabs(work));
    if (!b->known) return;
    b->most_gain = fmax(b->most_gain, gain);
    b->judged |= !restarted;
}

/* Elastic energy at the start, J. Where it is unknown: 0 for a body that starts in its rest shape, else NaN. */
static double start_elastic(const pbd_scene *scene, const scene_energy *e) {
    if (isfinite(e->high)) return e->high;
    return scene->particles.start ? NAN : 0;
}

/* The first sample finds out whether the method reports deformation gradients. */
static pbd_status energy_of(pbd_balance *b, const void *state, const double *x, scene_energy *out) {
    if (b->samples == 0) {
        b->gradients = (b->method->needs & PBD_NEEDS_SAMPLES) != 0;
        const pbd_status status = scene_elastic_energy(b->scene, b->method, state, b->gradients, x, out);
        if (status.code != PBD_NOT_SUPPORTED) return status;
        b->gradients = false;
    }
    return scene_elastic_energy(b->scene, b->method, state, b->gradients, x, out);
}

/* Work and impulse of moving colliders since the first sample, which finds out whether the method sums them. */
static pbd_status read_colliders(pbd_balance *b, const void *state, collider_totals *out) {
    double sums[5] = {0};
    *out = (collider_totals){0};
    if (!b->driven || (b->samples > 0 && !b->summed)) return pbd_ok();
    const pbd_status status = b->method->read(state, PBD_COLLIDER_SUMS, sums);
    b->summed = status.code != PBD_NOT_SUPPORTED;
    if (!b->summed) return pbd_ok();
    PBD_TRY(status);
    const collider_totals now = {sums[0], sums[1], {sums[2], sums[3], sums[4]}};
    if (b->samples == 0) b->first = now;
    *out = (collider_totals){now.work - b->first.work, now.dissipated - b->first.dissipated, {0}};
    for (int d = 0; d < 3; d++) out->impulse[d] = now.impulse[d] - b->first.impulse[d];
    return pbd_ok();
}

/* Adds the angular momentum that the method keeps in addition to that of the particles' velocities. */
static pbd_status add_spin(const pbd_balance *b, const void *state, motion *m) {
    double spin[3];
    if (!b->free || b->walled) return pbd_ok();
    const pbd_status status = b->method->read(state, PBD_SPIN, spin);
    if (status.code == PBD_NOT_SUPPORTED) return pbd_ok();
    for (int d = 0; d < 3; d++) m->angular[d] += spin[d];
    return status;
}

/* Energy that flow rules have dissipated, J. The first sample finds out whether the method sums it. */
static pbd_status read_plastic(pbd_balance *b, const void *state, double *out) {
    *out = 0;
    if (b->samples > 0 && !b->flows) return pbd_ok();
    const pbd_status status = b->method->read(state, PBD_PLASTIC_DISSIPATION, out);
    b->flows = status.code != PBD_NOT_SUPPORTED;
    return b->flows ? status : pbd_ok();
}

pbd_status pbd_balance_sample(pbd_balance *b, const void *state) {
    const size_t n = 3 * b->scene->particles.count;
    const double time = (double)b->step * b->dt, before = (double)b->sampled * b->dt;
    pbd_arena a PBD_ARENA;
    double *x = pbd_new(&a, double, n), *v = pbd_new(&a, double, n);
    scene_energy elastic;
    collider_totals walls;
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(b->method->read(state, PBD_POSITIONS, x));
    const pbd_status status = b->method->read(state, PBD_VELOCITIES, v);
    b->absent = status.code == PBD_NOT_SUPPORTED;
    if (b->absent) return pbd_ok();
    PBD_TRY(status);
    motion m = motion_of(b->scene, x, v);
    if (!m.finite) return pbd_ok();
    PBD_TRY(add_spin(b, state, &m));
    PBD_TRY(energy_of(b, state, x, &elastic));
    if (!b->force_ended) b->worked = m.forced;
    b->force_ended |= forces_end_with(b, b->step);
    PBD_TRY(read_colliders(b, state, &walls));
    double plastic;
    PBD_TRY(read_plastic(b, state, &plastic));
    const bool first = b->samples == 0, pours = b->scene->pour.until != NULL;
    b->unknown = pours && (b->damped || (b->walled && !b->summed));
    const bool restarted = first || b->unknown || (!b->summed && walls_moved(b->scene, before, time));
    b->free &= !b->walled || b->summed;
    for (int d = 0; d < 3 && first; d++) {
        b->linear[d] = m.linear[d];
        b->angular[d] = m.angular[d];
    }
    b->poured = work_of_pouring(b, &m, walls.impulse, time);
    const balance_sample now = {.time = time,
                                .kinetic = m.kinetic,
                                .elastic = elastic.low,
                                .potential = m.potential,
                                .work = b->worked + walls.work + b->poured,
                                .pushed = walls.work,
                                .dissipated = walls.dissipated,
                                .plastic = plastic};
    if (restarted) start_energy(b, &now, first ? start_elastic(b->scene, &elastic) : elastic.high);
    b->sampled = b->step;
    balance_energy(b, &now, restarted);
    balance_momentum(b, &m, walls.impulse, time);
    return keep(b, now);
}

double pbd_balance_energy(const pbd_balance *b) {
    const balance_sample *last = b->samples > 0 ? &b->sample[b->samples - 1] : NULL;
    return last ? last->kinetic + last->elastic + last->potential : NAN;
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

/* A body at rest may have a speed of 0.01 sqrt(g L) at the start (cases/README.md). A gain below that energy is never
 * unphysical. */
static const double START_SPEED = 0.01;

/* Lower bound of the energy that a gain is compared with, J: rounding of positions creates potential and kinetic
 * energy. Forces count as weight. */
static double energy_floor(const pbd_balance *b) {
    const pbd_scene *s = b->scene;
    const double speed = b->resolved / b->dt;
    double weight = b->mass * sqrt(dot(s->loads.gravity, s->loads.gravity));
    for (size_t i = 0; b->forced && i < s->particles.count; i++)
        weight += sqrt(dot(s->loads.forces + 3 * i, s->loads.forces + 3 * i));
    const double start = 0.5 * START_SPEED * START_SPEED * s->extent / PBD_BALANCE_UNPHYSICAL;
    return weight * (start + b->resolved) + 0.5 * b->mass * speed * speed;
}

static double momentum_drift(const pbd_balance *b) {
    const double floor = b->mass * b->resolved / b->dt;
    const double linear = b->linear_drift / fmax(b->most_linear, floor);
    const double angular = b->angular_drift / fmax(b->most_angular, floor * b->scene->extent);
    return fmax(linear, angular);
}

static void record_energies(const pbd_balance *b, pbd_recorder *recorder) {
    const size_t stride = sizeof(balance_sample) / sizeof(double);
    pbd_series(recorder, "energy_balance", "time", "s", &b->sample->time, b->samples, stride);
    pbd_series(recorder, "energy_balance", "kinetic", "J", &b->sample->kinetic, b->samples, stride);
    pbd_series(recorder, "energy_balance", "elastic", "J", &b->sample->elastic, b->samples, stride);
    pbd_series(recorder, "energy_balance", "potential", "J", &b->sample->potential, b->samples, stride);
    pbd_series(recorder, "energy_balance", "work", "J", &b->sample->work, b->samples, stride);
    if (b->flows) {
        pbd_series(recorder, "energy_balance", "plastic_dissipation", "J", &b->sample->plastic, b->samples, stride);
        pbd_metric(recorder, "plastic_dissipation", "J", PBD_STATE, b->sample[b->samples - 1].plastic);
    }
    if (b->scene->pour.until && !b->unknown) pbd_metric(recorder, "pour_work", "J", PBD_STATE, b->poured);
    if (!b->summed) return;
    pbd_series(recorder, "energy_balance", "collider_work", "J", &b->sample->pushed, b->samples, stride);
    pbd_series(recorder, "energy_balance", "contact_dissipation", "J", &b->sample->dissipated, b->samples, stride);
    pbd_metric(recorder, "collider_work", "J", PBD_STATE, b->sample[b->samples - 1].pushed);
    pbd_metric(recorder, "contact_dissipation", "J", PBD_STATE, b->sample[b->samples - 1].dissipated);
}

pbd_status pbd_balance_end(pbd_balance *b, const void *state, pbd_recorder *recorder) {
    if (b->step > b->sampled && !b->absent) PBD_TRY(pbd_balance_sample(b, state));
    if (b->samples == 0) return pbd_ok();
    record_energies(b, recorder);
    pbd_status status = pbd_ok();
    const double floor = energy_floor(b), gain = b->most > 0 ? b->most_gain / fmax(b->most, floor) : 0;
    const double drift = momentum_drift(b);
    if (b->judged) pbd_metric(recorder, "energy_gain", "1", PBD_STATE, gain);
    if (b->free) pbd_metric(recorder, "momentum_drift", "1", PBD_STATE, drift);
    if (b->judged && gain > PBD_BALANCE_WARNS)
        pbd_warning(recorder, "energy_gain",
                    "the energy increased by %.3g J, %.3g of the largest energy in play, without a source",
                    b->most_gain, gain);
    if (b->free && drift > PBD_BALANCE_WARNS)
        pbd_warning(recorder, "momentum_drift", "momentum changed by %.3g of itself without a force", drift);
    if (b->judged && gain > PBD_BALANCE_UNPHYSICAL)
        status =
            pbd_error(PBD_UNPHYSICAL,
                      "energy_gain %.3g: the energy increased by %.3g J without a source; %g of the largest energy in "
                      "play is the limit",
                      gain, b->most_gain, PBD_BALANCE_UNPHYSICAL);
    else if (b->free && drift > PBD_BALANCE_UNPHYSICAL)
        status = pbd_error(PBD_UNPHYSICAL, "momentum_drift %.3g: momentum changed without a force; %g is the limit",
                           drift, PBD_BALANCE_UNPHYSICAL);
    return status;
}

/* ---- A pause ----------------------------------------------------------------------------------------------------- */

pbd_status pbd_balance_save(const pbd_balance *b, const void *state, FILE *file) {
    pbd_balance kept = *b;
    double sums[5] = {0};
    if (b->driven && b->summed) PBD_TRY(b->method->read(state, PBD_COLLIDER_SUMS, sums));
    kept.first.work -= sums[0];
    kept.first.dissipated -= sums[1];
    for (int d = 0; d < 3; d++) kept.first.impulse[d] -= sums[2 + d];
    fwrite(&kept, sizeof kept, 1, file);
    fwrite(b->sample, sizeof *b->sample, b->samples, file);
    return pbd_ok();
}

pbd_status pbd_balance_load(pbd_balance *b, FILE *file) {
    pbd_balance kept;
    if (fread(&kept, sizeof kept, 1, file) != 1) return pbd_error(PBD_FAILED, "the balance is cut short");
    kept.scene = b->scene;
    kept.method = b->method;
    kept.room = kept.samples + 1;
    kept.sample = malloc(kept.room * sizeof *kept.sample);
    if (!kept.sample) return pbd_no_memory();
    const bool whole = fread(kept.sample, sizeof *kept.sample, kept.samples, file) == kept.samples;
    free(b->sample);
    *b = kept;
    return whole ? pbd_ok() : pbd_error(PBD_FAILED, "the balance is cut short");
}
