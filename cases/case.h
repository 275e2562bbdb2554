/* The contract between the harness and a case: a standard problem that builds a scene and says what is measured on it.
 *
 * A case is a folder cases/NAME with NAME.c and one line CASE(NAME) in cases.def. NAME.c defines `const pbd_case
 * pbd_case_NAME`. References come from outside the method under test: each case's README or doc says from where.
 */
#ifndef PBD_CASE_H
#define PBD_CASE_H

#include <stdio.h>

#include "methods/method.h"

/* When a scene that moves until it is at rest has come to it: the watched particles' mean has moved by less than
 * `tolerance` times its distance from its place at rest, over `window` steps. */
typedef struct pbd_settle {
    double tolerance;
    long window, most_steps;
    size_t watched;
    uint32_t *watch;
} pbd_settle;

enum { PBD_SETUP_WARNINGS = 4 };
typedef struct pbd_setup_warning {
    const char *name; /* a literal */
    char says[240];
} pbd_setup_warning;

/* What a case builds: the scene, which the method sees, and what is between case and harness. */
typedef struct pbd_setup {
    pbd_scene scene;
    pbd_settle settle;    /* scene.duration 0, and window > 0: by moving until rest, not by `solve` */
    double observe_every; /* s: how often `observe` is called in a scene that moves; 0: never */
    void *detail;         /* the case's own: detail_bytes */
    double dt;            /* s: time step of a scene that moves; set by the harness before the first step */
    size_t warnings;      /* about the scene: the run's, when it begins */
    pbd_setup_warning warning[PBD_SETUP_WARNINGS];
} pbd_setup;

/* Adds a warning; the first of a name is kept, and an empty sentence is none. */
__attribute__((format(printf, 3, 4))) void pbd_setup_warn(pbd_setup *setup, const char *name, const char *format, ...);

typedef struct pbd_case {
    const char *name, *summary, *source;
    unsigned provides; /* PBD_NEEDS_* that its scenes hold */
    const pbd_param *params;
    const pbd_param *(*shared)(void); /* rows that follow params: of flow rules (flow_table.h), say. A name that comes a
                                         second time is left out. NULL: none */
    const char *presets;              /* the case's own defaults for shared rows: "flow=snow xi=10"; NULL: theirs */
    size_t detail_bytes;              /* of what the case keeps in setup->detail; 0: nothing */
    /* Fills a zeroed scene and its zeroed detail: also the reference that it is judged against. What it allocates, the
     * scene and `free_detail` free, also after an error. */
    pbd_status (*build)(const pbd_values *, pbd_setup *setup);
    /* Reads the solver's state and records metrics and series against the reference. `method` may lack fields. */
    pbd_status (*measure)(const pbd_setup *, const pbd_method *, const void *state, pbd_recorder *);
    /* Looks at a moving scene at its start and every setup->observe_every seconds, for series over time; may keep what
     * it sees in setup->detail. Its time is not the solver's. NULL: the end alone counts. */
    pbd_status (*observe)(const pbd_setup *, const pbd_method *, const void *state, double time, pbd_recorder *);
    /* Looks at the positions after each iteration of a step (particles x 3, m), of methods that report them
     * (pbd_iterate). NULL: it does not. */
    void (*iterate)(const pbd_setup *, long iteration, const double *positions, pbd_recorder *);
    /* Frees what the detail points to, not the detail itself; safe on a zeroed one. NULL: it points to nothing. */
    void (*free_detail)(void *detail);
    /* The last so many bytes of the detail are numbers, without pointers. All that a run changes in it is among them,
     * or in what `keep` writes to a file and reads back (NULL: nothing); a run that is paused keeps both. 0, with a
     * detail: it is not paused. */
    size_t numbers;
    pbd_status (*keep)(void *detail, FILE *file, bool writes);
} pbd_case;

/* Builds the scene of a case, and keeps its particles clear of its colliders (clearance.h). After an error *setup is
 * zeroed and needs no pbd_case_free. */
pbd_status pbd_case_build(const pbd_case *, const pbd_values *, pbd_setup *setup);
/* Frees what pbd_case_build made, and zeroes it; safe on a zeroed one. */
void pbd_case_free(const pbd_case *, pbd_setup *setup);
/* Frees the arrays of a scene, each from malloc, and zeroes it: the only place that lists them. */
void pbd_scene_free(pbd_scene *scene);

#endif
