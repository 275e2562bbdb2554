/* Bodies of smoothed particles (desbrun1996) on a square or cubic lattice, and measurements over time from positions
 * alone: isosurface of density, pieces, spacing. */
#ifndef PBD_SMOOTHED_BODY_H
#define PBD_SMOOTHED_BODY_H

#include "cases/geometry/density_surface.h"
#include "cases/geometry/near_pairs.h"
#include "cases/scenes/particle_scene.h"

/* Parameters that case and method share by name: the method uses the case's values. */
#define PBD_SMOOTHED_PARAMS(dimensions_, h_, k_, c_)                                                              \
    {"dimensions", "", PBD_CHOICE, dimensions_, 0, 0, 0, smoothed_dimensions, "2: a plane, the same z for all"},  \
        {"h", "", PBD_REAL, h_, 0, 100, PBD_OPEN_MIN, NULL, "smoothing length, in spacings; the support is 2h"},  \
        {"kernel", "", PBD_CHOICE, "spiky", 0, 0, 0, smoothed_kernels, "the paper's, or the spline it replaces"}, \
        {"k", "m^2/s^2", PBD_REAL, k_, 0, 1e12, 0, NULL, "stiffness: P = k (density - rest_density)"},            \
        {"c", "m/s", PBD_REAL, c_, 0, 1e6, 0, NULL, "speed of sound in viscosity and in Eq. 8"},                  \
        {"spacing", "m", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "of the lattice that the body starts on"},    \
        {"density", "kg/m^3", PBD_REAL, "1", 0, 1e9, PBD_OPEN_MIN, NULL, "mass over spacing^dimensions"}, {       \
        "jitter", "", PBD_REAL, "0", 0, 1, 0, NULL, "random offset of lattice positions, in spacings"             \
    }

/* For cases that draw states. */
#define PBD_SMOOTHED_FILES_PARAM                                                              \
    {                                                                                         \
        "surface_files", "", PBD_TEXT, "none", 0, 0, 0, smoothed_none,                        \
            "PATH: surfaces of the states that are drawn, at 2 m W_h(h), as PATH_000.ply ..." \
    }

extern const char *const smoothed_dimensions[]; /* 2, 3 */
extern const char *const smoothed_none[];
extern const char *const smoothed_kernels[]; /* spiky, cubic_spline */

/* ---- Building ---------------------------------------------------------------------------------------------------- */

typedef enum smoothed_shape { SMOOTHED_BLOCK, SMOOTHED_BALL } smoothed_shape;

/* Exactly `particles` sites of the lattice: a block filled row by row, `columns` wide (and in 3D as deep), or a ball
 * of the sites nearest to a point. */
typedef struct smoothed_lump {
    smoothed_shape shape;
    size_t particles, columns;
    double at[3];       /* m: the middle of a block's lowest row, or of the ball */
    double velocity[3]; /* m/s */
    double squeeze;     /* factor on the spacing at the start; 0: 1 */
} smoothed_lump;

pbd_status smoothed_make(const pbd_values *values, const smoothed_lump *lump, size_t lumps, pbd_scene *scene);

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

enum {
    SMOOTHED_LEVELS = 12,
    SMOOTHED_FRAMES = 6,
    SMOOTHED_SEEN = 20000 /* particles: larger bodies are not measured */
};

/* Measures the isosurfaces of density at 0.25, 0.5 ... 3 times m W_h(h). */
typedef struct smoothed_watch {
    smoothed_matter matter; /* its x is set during each look only */
    double mass;            /* kg: m of the unit m W_h(h), that of the first particle */
    double cell, from;      /* m, of the density grid; s, when `first` is taken */
    char files[240];        /* path of the surfaces; "none": not written */
    double first[SMOOTHED_LEVELS],
        change[SMOOTHED_LEVELS];      /* volume (2D: area) at `from`; its largest relative change */
    double frame_at[SMOOTHED_FRAMES]; /* s: times of the frames that are drawn */
    int frames;
    size_t pieces, most_pieces, second; /* now; the most so far; particles of the second largest now */
} smoothed_watch;

smoothed_watch smoothed_watch_start(const pbd_values *values, const pbd_scene *scene, double from);
/* Appends to the series time, pieces, second_piece, volume (sum of m/rho), volume_at_LEVEL, area_at_LEVEL,
 * surface_pieces (of the surface at 2 m W_h(h)). When a frame is due, also to frame_time, particle (x, y, z, density,
 * frame) and, in 2D only, field (x, y, density, frame) and contour (x, y, dx, dy, frame). */
pbd_status smoothed_watch_look(smoothed_watch *w, const pbd_scene *scene, const pbd_method *method, const void *state,
                               double time, pbd_recorder *recorder);
/* Records pieces, most_pieces, second_piece, volume_change_at_1 and _2, best_level, volume_change_at_best, and the
 * metrics of smoothed_record_spread. */
pbd_status smoothed_watch_record(const smoothed_watch *w, const pbd_scene *scene, const pbd_method *method,
                                 const void *state, pbd_recorder *recorder);
/* Records the distances to the nearest other particle over the spacing: nearest_mean, nearest_deviation, clustered (the
 * share below half a spacing) and the series nearest. Also neighbours_within_2h, the mean number of others. */
pbd_status smoothed_record_spread(const smoothed_matter *matter, double spacing, pbd_recorder *recorder);

/* Writes the distance between two unit vectors over all particles: the momenta m v after a start from rest, and the
 * steepest descent of the energy sum m k (ln(rho/rho0) + rho0/rho - 1) at the scene's positions, by central differences
 * of second order. Takes O(n^3) kernel evaluations. NaN if either vector is 0. */
pbd_status smoothed_direction_error(const smoothed_watch *w, const pbd_scene *scene, double rest_density,
                                    const double *velocity, double *out);

#endif
