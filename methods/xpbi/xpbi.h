/* The state of xpbi and its parts (yu2024, Algorithm 1). A step runs the parts in the order of xpbi.c
 * (stepper.h):
 *
 *     inelastic   sort and neighbours, gradients, loads; the constraints; XSPH; F, the rule's state and positions
 *     hourglass   springs, or a penalty, against zero-energy motions
 *     fluid       liquid (parts/fluid.h)
 *     separation  position correction
 *     walls       colliders
 *     cloth       cloth and its contact with particles
 *     acceleration  of the iteration, if requested
 *
 * Particles are sorted by cells in each step; all parts except cloth work on the rows `now`. */
#ifndef PBD_XPBI_H
#define PBD_XPBI_H

#include "methods/params.h"
#include "methods/physics/parts/acceleration.h"
#include "methods/physics/parts/fluid.h"
#include "methods/physics/parts/stepper.h"
#include "methods/xpbi/xpbi_cloth.h"
#include "methods/xpbi/xpbi_layout.h"

PBD_PRECISE(xpbi_is_penalty, xpbi_allocate_particles, xpbi_start, xpbi_watch_residual, xpbi_blocks_of, xpbi_slots_of,
            xpbi_find_rest_density, xpbi_has_springs, xpbi_make_springs, xpbi_springs_energy, xpbi_collide_rows,
            xpbi_acceleration_check, xpbi_acceleration_allocate, xpbi_inelastic_part, xpbi_hourglass_part,
            xpbi_penalty_part, xpbi_separation_part, xpbi_walls_part, xpbi_acceleration_part)

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

#define XPBI_PARAMS(REAL, INTEGER, CHOICE)                                                                           \
    REAL(dt, "s", "auto", 0, 1e3, PBD_OPEN_MIN, "time step")                                                         \
    INTEGER(iterations, "10", 1, 100000, "of a step; with a tolerance: the largest number")                          \
    REAL(tolerance, "", "0", 0, 1, PBD_OPEN_MAX,                                                                     \
         "iterate until |C + alpha~ lambda| is below this times that before the first; 0: all iterations")           \
    CHOICE(solver, "coloured_gs", (coloured_gs, jacobi), "order of the constraints")                                 \
    CHOICE(colours, "27", (27, 8), "27: of cells of 2r, 8: of cells of 4r (Y-3)")                                    \
    CHOICE(averaging, "relaxation", (relaxation, per_particle),                                                      \
           "solver=jacobi: one factor for all, or the mean of a particle's moves, which loses momentum")             \
    REAL(relaxation, "", "0.2", 0, 2, PBD_OPEN_MIN, "solver=jacobi, averaging=relaxation: that factor")              \
    CHOICE(plasticity, "implicit", (implicit, semi_implicit, none),                                                  \
           "flow!=none: within the iterations, at the end of a step only, or never")                                 \
    CHOICE(constraint, "energy", (energy, pair, stress),                                                             \
           "C = sqrt(2 psi) (Eq. 6); one for shear and one for volume (Eq. 4, 5); or all of the stress at once")     \
    CHOICE(multipliers, "zero", (zero, stress),                                                                      \
           "at the start of a step: 0 (Algorithm 1), or those of the stress at its start")                           \
    CHOICE(gradient, "elastic", (elastic, printed), "of C under flow: tau B^-T/C, or Eq. 12 (Y-4)")                  \
    CHOICE(gradient_correction, "on", (on, off), "L_p of Eq. 10, or off: 1 in its place")                            \
    CHOICE(kernel, "auto", (current, rest),                                                                          \
           "neighbours and gradients at x^n (Eq. 10), or of the shape at rest (total Lagrangian; elastic matter of " \
           "one body); auto: at rest where it can be")                                                               \
    REAL(radius, "", "1", 0.5, 10, PBD_OPEN_MIN, "r of the kernel, whose support is 2r, in spacings")                \
    REAL(cutoff, "", "0.03", 0, 1, PBD_OPEN_MIN | PBD_OPEN_MAX,                                                      \
         "singular values of L^-1 below this times the largest count as 0")                                          \
    CHOICE(volume, "tracked", (tracked, elastic), "V^n by the whole motion, or V^0 det F as printed")                \
    REAL(xsph, "", "auto", 0, 1, 0,                                                                                  \
         "c of Eq. 20: how much velocities are smoothed each step; auto: 0.01 with a flow rule, else 0")             \
    CHOICE(xsph_form, "symmetric", (symmetric, printed), "keeps momentum, or as printed (Y-5)")                      \
    CHOICE(deformation, "same", (same, before_xsph),                                                                 \
           "F goes by the velocities that x goes by (Eq. 22), or by those before XSPH")                              \
    REAL(damping, "1/s", "0", 0, 1e6, 0, "of velocities: exp(-damping dt) each step")                                \
    CHOICE(residual, "off", (off, first, last, every), "steps of which residuals are recorded")
PBD_SETTINGS(xpbi_settings, XPBI_PARAMS)

#define XPBI_SEPARATION_PARAMS(REAL, INTEGER, CHOICE)                                                           \
    CHOICE(position_correction, "distance", (distance, density, off, shift),                                    \
           "pairs are kept apart (Eq. 21), or density below its largest at the start (Figure 15), or pairs by " \
           "shifts after each step that do not enter F")                                                        \
    REAL(correction_gap, "", "0.25", 0, 1, PBD_OPEN_MAX, "epsilon: pairs nearer than r (1 - gap) part")         \
    REAL(correction_time, "s", "0.01", 0, 1e6, 0,                                                               \
         "pairs that are nearer when a step begins gain dt over this of what they lack; 0: all at once, as printed")
PBD_SETTINGS(xpbi_separation_settings, XPBI_SEPARATION_PARAMS)

#define XPBI_HOURGLASS_PARAMS(REAL, INTEGER, CHOICE)                                                            \
    REAL(hourglass_control, "", "auto", 0, 100, 0,                                                              \
         "elastic matter: springs against zero-energy motions, in units of E; auto: 3, and 0 with a flow rule") \
    CHOICE(hourglass_form, "springs", (springs, penalty),                                                       \
           "hourglass_control>0: springs of positions, or a penalty on velocities in units of G (arXiv "        \
           "2409.11474; kernel=current)")
PBD_SETTINGS(xpbi_hourglass_settings, XPBI_HOURGLASS_PARAMS)

#define XPBI_FLUID_PARAMS(REAL, INTEGER, CHOICE)                                                 \
    INTEGER(fluid_passes, "1", 1, 1000, "of the liquid's constraints in an iteration")           \
    REAL(fluid_support, "", "2.2", 1.1, 6, 0, "where the liquid's kernel ends, in its spacings") \
    REAL(fluid_settling, "s", "0.02", 0, 1e6, 0,                                                 \
         "time in which the excess density at the start falls to 1/e; 0: at once")               \
    REAL(fluid_store_smoothed, "", "1", 0, 1, 0, "of the liquid's multipliers, a step begins with")
PBD_SETTINGS(xpbi_fluid_settings, XPBI_FLUID_PARAMS)

/* ---- State ------------------------------------------------------------------------------------------------------- */

typedef struct xpbi {
    stepper run;
    size_t particles, continuum; /* rows of the continuum come first and are sorted; rows of other matter are not */
    xpbi_settings set;
    xpbi_separation_settings separation;
    xpbi_hourglass_settings hourglass;
    fluid fluid;
    xpbi_cloth cloth; /* its vertices are separate from the particles */
    pbd_material material;
    double unit, mu, lambda; /* unit: Pa; mu, lambda: in multiples of it */
    double gravity[3];
    double radius, spacing, gap;                           /* m */
    double rest_density;                                   /* largest V^0 sum W at rest */
    double duration, forces_end;                           /* s */
    int form;                                              /* XPBI_ENERGY, XPBI_SHEAR (constraint=pair), XPBI_STRESS */
    bool loaded, forced;                                   /* loaded: forces or radii, in now.load; forced: forces */
    bool free;                                             /* no particle is fixed: total momentum is defined */
    bool poured;                                           /* held particles move and are released later (pbd_pour) */
    double fastest;                                        /* m/s, at the end of the last step; initially unbounded */
    double deficient, idle, alone, looked, momentum_error; /* accumulated over all steps */
    struct { /* residuals of the current step, relative to the one before its first iteration */
        bool asked, recorded;
        double first, last;
        double spent, since; /* s: time spent in iterations; start of the current one */
    } residual;
    /* Device memory. */
    xpbi_layout layout;
    xpbi_particles now;
    /* Rows of 4 with several uses in a step: the grid's sorted positions during a search; the target of the sort of
     * now.v; impulses; smoothed velocities. */
    real *spare;
    real *stray;        /* target of the sort of now.stray */
    uint32_t *id, *was; /* target of the sort of now.id; by row: the row before the sort (other matter: the same) */
    bool shuffled;      /* now.body is in the order before the sort */
    real *gradient;     /* hourglass_form=penalty (xpbi_penalty_kernels.h); otherwise NULL */
    real *rest;    /* kernel=rest: rows of positions at rest and V^0, in the order of `now`; NULL: kernel=current */
    real *until;   /* of xpbi_let_go; NULL: no held particle moves */
    real *plastic; /* by scene index: energy dissipated by the flow rule, in `unit` m^3; NULL: elastic */
    real *push;    /* solver=jacobi (xpbi_jacobi_kernels.h); otherwise NULL */
    real *block;
    uint32_t *note;
    real *clearance; /* by particle: clearance to colliders, m; NULL: no colliders */
    real *squares;   /* h^2 by slot */
    size_t squares_room;
    acceleration faster;
    real *packed; /* acceleration: the multipliers of all slots */
} xpbi;

/* Their `self` is the xpbi. */
extern const step_part xpbi_inelastic_part, xpbi_hourglass_part, xpbi_penalty_part, xpbi_separation_part,
    xpbi_walls_part, xpbi_acceleration_part;

bool xpbi_is_penalty(const xpbi *s);
size_t xpbi_blocks_of(size_t count);
size_t xpbi_slots_of(const xpbi *s);

pbd_status xpbi_allocate_particles(xpbi *s);
/* stepper.watch: measures |C + alpha~ lambda| if it is recorded or a tolerance is set. */
pbd_status xpbi_watch_residual(void *self, stepper *run, bool *stop);
/* Moves particles to the scene's start and sets velocities; F is the gradient of the displacement from rest. */
pbd_status xpbi_start(xpbi *s, const pbd_scene *scene);
/* Springs of hourglass control: whether there are any; builds them for the current gradients; measures their energy
 * between steps, J. */
bool xpbi_has_springs(const xpbi *s);
pbd_status xpbi_make_springs(const xpbi *s, const stepper *run);
pbd_status xpbi_springs_energy(const xpbi *s, double *out);
/* Applies colliders to the velocities v. */
pbd_status xpbi_collide_rows(const xpbi *s, stepper *run, real *v, collider_sums sums);
/* PBD_NOT_SUPPORTED: acceleration is set, and the scene or the settings have something that it does not include. */
pbd_status xpbi_acceleration_check(const xpbi *s, const pbd_scene *scene);
/* Call after xpbi_start. */
pbd_status xpbi_acceleration_allocate(xpbi *s);
/* Sets rest_density. */
pbd_status xpbi_find_rest_density(xpbi *s);

#endif
