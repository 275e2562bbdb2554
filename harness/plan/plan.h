/* Which runs to make.
 *
 * A request holds the words of a command line or of a YAML file. A plan is the request expanded over its axes and
 * repeats: a list of items, each a complete cell (case, method, parameters, backend, precision, threads) that has been
 * checked against the registry and the parameter tables. Nothing is run or stored here; run_plan.h executes a plan,
 * sweep/manifest.h freezes one. */
#ifndef PBD_PLAN_H
#define PBD_PLAN_H

#include "harness/catalog/built_scene.h"
#include "harness/catalog/values.h"
#include "harness/picture/film.h"
#include "harness/picture/snapshots.h"
#include "harness/plan/result.h"
#include "harness/process/progress.h"

/* The request of a run, in words: what -s, -a, -b, -p, -t and a YAML file say. Strings are not owned. */
typedef struct pbd_request {
    const char *case_name, *method_name;
    const char *backend, *precision; /* NULL: cpu, f64 */
    bool elsewhere;                  /* the backend need not be available: the store may have the runs of a machine
                                        where it is; others are refused when they begin */
    int threads;                     /* 0: all cores */
    int repeats;                     /* 0: 1 */
    int warmups;
    double seconds; /* s: repeated timings of the solve, after the run itself; 0: none. Such a run is always made */
    bool turns;     /* another process says when to take each timing (solve_times.h) */
    uint64_t seed;
    pbd_snapshot_plan snapshots; /* folder: in which each run makes its own folder */
    pbd_film_plan film;          /* of a single run; a plan of several is refused */
    pbd_spool_plan spool;        /* likewise */
    const pbd_setting *setting;
    size_t settings;
    const pbd_axis *axis;
    size_t axes;
    bool all_read; /* a setting or axis that no cell of the request reads is refused, unless it is at its default or
                      every parameter is set, as in the command of a stored run; of points of axes that differ only
                      in parameters that are not read there (conditions.h), only the first is kept */
} pbd_request;

/* The warning of a run whose snapshots could not be written. */
#define PBD_SNAPSHOTS_MISSING "snapshots_missing"

/* A run that was stopped at its limit, pbd_plan_item.limit, or because it would take far longer (pbd_is_too_slow),
 * is `interrupted` and has the limit as this metric, s. */
#define PBD_WALL_LIMIT "wall_limit"

/* A run that takes longer leaves its state in the folder, and is continued when it is made again (pause.h). */
typedef struct pbd_pausing {
    const char *folder; /* NULL: the run is not paused */
    double seconds;     /* s: limit of each process */
} pbd_pausing;

/* A list of runs to make, in order, all checked. */
typedef struct pbd_plan_item {
    pbd_cell cell;
    char cell_id[33];
    char *label; /* "cube_shear pbd_distance nu=0.2": case, method and what varies */
    int repeat, warmups;
    double seconds; /* see pbd_request; likewise turns */
    bool turns;
    const char *law_instead;     /* in place of the case's default: the only law that the method supports. NULL: none */
    char *chosen;                /* what the method chose for `auto`: " dt=0.0017 kernel=rest"; "": nothing */
    double limit;                /* s: the most that the run may take; 0: any time. Not part of the cell */
    pbd_pausing pause;           /* likewise; not owned */
    bool alone;                  /* its times matter: this program makes no other run at the same time */
    bool progress;               /* reports progress on standard error (step_progress.h) */
    bool begin_only;             /* build the scene and create the state, and end before the first step (pairs.h) */
    pbd_built_scene *built;      /* of begin_only: scene to reuse if it is the same; NULL: it is built */
    pbd_snapshot_plan snapshots; /* of the first repeat; such a run is always made */
    char *snapshot_folder;       /* snapshots.folder */
    pbd_film_plan film;          /* likewise */
    pbd_spool_plan spool;        /* likewise */
    uint64_t seed;
    size_t group;       /* which request it came from */
    char run_id[33];    /* "" until there is a run */
    pbd_status refusal; /* why the case or the method refused it when it was to begin; else PBD_OK */
} pbd_plan_item;

typedef struct pbd_plan {
    pbd_plan_item *item;
    size_t count, capacity;
    size_t folded; /* points of axes without a run, because they differ from an earlier one only in parameters that
                      neither reads */
    pbd_built_scene *built; /* for planning; not owned. NULL: each request has its own */
} pbd_plan;

/* Expands a request over its axes and repeats and checks every cell; adds to the plan or returns PBD_BAD_INPUT with
 * nothing added. `group` is kept with each item. */
pbd_status pbd_plan_add(pbd_plan *plan, const pbd_request *request, size_t group);
void pbd_plan_free(pbd_plan *plan); /* safe on a zeroed plan */
/* Removes the items from `count` on. */
void pbd_plan_cut(pbd_plan *plan, size_t count);

/* Begins the record of a run: cell, parameters and time of day, no results yet. */
pbd_status pbd_describe_run(const pbd_plan_item *item, pbd_result *out);

/* Prints on standard error which run was refused and why; names it only if there are several. */
void pbd_tell_refusal(const pbd_progress *progress, const pbd_plan_item *item, size_t total);

#endif
