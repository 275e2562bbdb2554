#include "methods/physics/parts/fluid.h"
#include "harness/exec/arena.h"
#include "methods/physics/device/device_state.h"
#include "methods/physics/device/phase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/physics/parts/fluid_kernels.h"

/* List radius over the kernel's support, to allow for motion during iterations. */
static const double FARTHER = 1.05;

static const double PI = 3.14159265358979323846;

/* ---- A lattice at rest ------------------------------------------------------------------------------------------- */

/* W and (dW/dr)/r with support 1, as on the device but in double. */
static void kernel_at(int kernel, double q, double *w, double *slope) {
    const double left = 1 - q, round = 1 - q * q;
    *w = *slope = 0;
    if (!(q < 1)) return;
    if (kernel == FLUID_CUBIC_SPLINE) {
        *w = 8 / PI * (q < 0.5 ? 1 - 6 * q * q * left : 2 * left * left * left);
        *slope = 8 / PI * (q < 0.5 ? 18 * q - 12 : -6 * left * left / q);
    } else if (kernel == FLUID_WENDLAND_C2) {
        *w = 21 / (2 * PI) * pow(left, 4) * (1 + 4 * q);
        *slope = -20 * 21 / (2 * PI) * pow(left, 3);
    } else {
        *w = kernel == FLUID_SPIKY ? 15 / PI * pow(left, 3) : 315 / (64 * PI) * pow(round, 3);
        *slope = q > 0 ? -3 * 15 / PI * left * left / q : 0;
    }
}

static fluid_shape shape_of(const fluid *f) {
    const double h = f->support, cube = 1 / (h * h * h);
    static const double w[] = {8 / 3.14159265358979323846, 21 / (2 * 3.14159265358979323846),
                               15 / 3.14159265358979323846, 315 / (64 * 3.14159265358979323846)};
    static const double gradient[] = {8 / 3.14159265358979323846, 21 / (2 * 3.14159265358979323846),
                                      15 / 3.14159265358979323846, 15 / 3.14159265358979323846};
    const int k = f->settings.kernel;
    return (fluid_shape){.kernel = k,
                         .support = (real)h,
                         .per_square = (real)(1 / (h * h)),
                         .density = (real)(w[k] * cube),
                         .slope = (real)(gradient[k] * cube / (h * h))};
}

/* Sums over a cubic lattice with spacing and volumes 1, and support `reach`. */
typedef struct lattice_sums {
    double sum, square, moment; /* of W, |grad W|^2, -x dW/dx */
} lattice_sums;

static lattice_sums sum_lattice(int kernel, double reach) {
    lattice_sums out = {0};
    const int n = (int)ceil(reach);
    for (int z = -n; z <= n; z++)
        for (int y = -n; y <= n; y++)
            for (int x = -n; x <= n; x++) {
                double w, slope;
                const double square = x * x + y * y + z * z;
                kernel_at(kernel, sqrt(square) / reach, &w, &slope);
                w /= pow(reach, 3);
                slope /= pow(reach, 5);
                out.sum += w;
                out.square += slope * slope * square;
                out.moment -= slope * square / 3;
            }
    return out;
}

/* The largest eigenvalue of the Jacobi iteration, D^-1 A, on an infinite lattice: the maximum over plane waves of
 * multipliers along the three kinds of axes, with eigenvalues |sum grad W exp(i k x)|^2/sum |grad W|^2. */
static double largest_eigenvalue(int kernel, double reach, double square) {
    static const double axis[3][3] = {{1, 0, 0},
                                      {0.70710678118654752, 0.70710678118654752, 0},
                                      {0.57735026918962576, 0.57735026918962576, 0.57735026918962576}};
    const int n = (int)ceil(reach);
    double most = 0;
    for (int a = 0; a < 3; a++)
        for (int step = 1; step <= 200; step++) {
            const double k = step * 0.025;
            double wave[3] = {0};
            for (int z = -n; z <= n; z++)
                for (int y = -n; y <= n; y++)
                    for (int x = -n; x <= n; x++) {
                        const double d[3] = {x, y, z}, length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
                        double w, slope;
                        kernel_at(kernel, length / reach, &w, &slope);
                        const double phase = k * (axis[a][0] * d[0] + axis[a][1] * d[1] + axis[a][2] * d[2]);
                        for (int e = 0; e < 3; e++) wave[e] += slope / pow(reach, 5) * d[e] * sin(phase);
                    }
            most = fmax(most, (wave[0] * wave[0] + wave[1] * wave[1] + wave[2] * wave[2]) / square);
        }
    return most;
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static size_t arrays_of(const void *self, device_array *row) {
    const fluid *f = self;
    const size_t n = f->rows, walls = f->walls > 0 ? (size_t)(f->walls + 1) * (n + 1) : 0;
    const device_array rows[] = {HOST_SAVED(f->dt),
                                 HOST_SAVED(f->began),
                                 HOST_SAVED(f->most_compressed),
                                 HOST_SAVED(f->largest),
                                 DEVICE_SAVED(f->multiplier, n + 1),
                                 DEVICE_SAVED(f->allowed, n + 1),
                                 DEVICE_SAVED(f->exchange, f->mixed ? 3 * n : 0),
                                 DEVICE_ARRAY(f->matter, n),
                                 DEVICE_ARRAY(f->p, 4 * (n + 1)),
                                 DEVICE_ARRAY(f->smooth, 4 * (n + 1)),
                                 DEVICE_ARRAY(f->distance, walls),
                                 DEVICE_ARRAY(f->normal, 4 * walls),
                                 DEVICE_ARRAY(f->corner, f->walls > 0 ? FLUID_CORNER * (n + 1) : 0),
                                 DEVICE_ARRAY(f->curl, f->settings.vorticity > 0 ? 4 * (n + 1) : 0),
                                 DEVICE_ARRAY(f->role, n + 1),
                                 DEVICE_ARRAY(f->gain, n + 1),
                                 DEVICE_ARRAY(f->change, n + 1),
                                 DEVICE_ARRAY(f->excess, n + 1),
                                 DEVICE_ARRAY(f->images, n + 1),
                                 DEVICE_ARRAY(f->block, FLUID_MEASURED * (n / FLUID_BLOCK + 1)),
                                 DEVICE_ARRAY(f->length, n),
                                 DEVICE_ARRAY(f->key, n),
                                 DEVICE_ARRAY(f->from, n),
                                 DEVICE_ARRAY(f->own, n),
                                 DEVICE_ARRAY(f->mirrored, n),
                                 DEVICE_ARRAY(f->kept, FLUID_KEPT * n),
                                 DEVICE_ARRAY(f->slice, n / FLUID_LANES + 2),
                                 DEVICE_ARRAY(f->list, 0)}; /* grows */
    return f->liquid > 0 ? DEVICE_ROWS(row, rows) : 0;
}

void fluid_free(fluid *f) {
    device_array row[DEVICE_MOST_ARRAYS];
    const size_t count = arrays_of(f, row);
    device_arrays_free(f->exec, row, count);
    grid_free(&f->grid);
    *f = (fluid){0};
}

static bool is_liquid(const pbd_scene *scene, size_t i) { return pbd_matter_of(scene, i) == PBD_FLUID; }

static double volume_of(const pbd_scene *scene, size_t i) {
    return scene->particles.volumes ? scene->particles.volumes[i]
                                    : scene->particles.masses[i] / pbd_material_of(scene, i)->density;
}

/* Counts the liquid's particles; writes their mean volume, m^3, and mean inverse mass, 1/kg. */
static pbd_status measure_liquid(fluid *f, const pbd_scene *scene, double *volume, double *weight) {
    *volume = *weight = 0;
    for (size_t i = 0; i < scene->particles.count; i++) {
        f->mixed = f->mixed || pbd_matter_of(scene, i) == PBD_CONTINUUM;
        if (!is_liquid(scene, i)) continue;
        const double v = volume_of(scene, i);
        if (!(v > 0 && isfinite(v) && scene->particles.masses[i] > 0 && isfinite(scene->particles.masses[i])))
            return pbd_error(PBD_BAD_INPUT,
                             "particle %zu of liquid has a mass of %g kg and a volume of %g m^3: must be above 0", i,
                             scene->particles.masses[i], v);
        f->liquid++;
        *volume += v;
        *weight += 1 / scene->particles.masses[i];
    }
    if (f->liquid == 0) return pbd_ok();
    *volume /= (double)f->liquid;
    *weight /= (double)f->liquid;
    return pbd_ok();
}

static void measure_lattice(fluid *f, double volume, double weight) {
    const fluid_settings *s = &f->settings;
    const lattice_sums lattice = sum_lattice(s->kernel, s->support);
    const double edge = cbrt(volume);
    f->support = s->support * edge;
    f->sum = lattice.sum;
    f->stiffness = lattice.moment / lattice.sum;
    f->weight = weight * lattice.square / (lattice.sum * lattice.sum * edge * edge);
    f->eigenvalue = largest_eigenvalue(s->kernel, s->support, lattice.square);
    f->relaxation = s->relaxation > 0 ? s->relaxation : 1 / f->eigenvalue;
    f->softening = s->softening * f->weight + s->printed_softening * weight;
}

static pbd_status upload_matter(fluid *f, const pbd_scene *scene) {
    pbd_arena a PBD_ARENA;
    uint8_t *matter = pbd_new(&a, uint8_t, f->rows);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < f->rows; i++) matter[i] = (uint8_t)pbd_matter_of(scene, i);
    return pbd_upload(f->exec, f->matter, matter, f->rows * sizeof *f->matter);
}

pbd_status fluid_create(fluid *f, const pbd_scene *scene, const fluid_settings *settings, pbd_exec *exec,
                        pbd_recorder *recorder) {
    double volume, weight;
    *f = (fluid){.exec = exec,
                 .recorder = recorder,
                 .settings = *settings,
                 .rows = scene->particles.count,
                 .filled = 1,
                 .largest = -1};
    PBD_TRY(measure_liquid(f, scene, &volume, &weight));
    if (f->liquid == 0) return pbd_ok();
    measure_lattice(f, volume, weight);
    if (settings->walls) f->walls = scene->colliders.count < FLUID_WALLS ? (int)scene->colliders.count : FLUID_WALLS;
    device_array row[DEVICE_MOST_ARRAYS];
    const size_t count = arrays_of(f, row);
    PBD_TRY(device_arrays_allocate(exec, row, count));
    PBD_TRY(upload_matter(f, scene));
    pbd_metric(recorder, "jacobi_eigenvalue", "1", PBD_STATE, f->eigenvalue);
    pbd_count(recorder, "liquid_particles", f->liquid);
    return grid_create(&f->grid, exec, f->rows, NULL, FARTHER * f->support, false);
}

/* ---- A pass ------------------------------------------------------------------------------------------------------ */

static fluid_lists lists_of(const fluid *f) { return (fluid_lists){f->own, f->slice, f->mirrored, f->list}; }

static real reach_of(const fluid *f) { return (real)(FARTHER * f->support); }

static fluid_walls walls_of(const fluid *f) {
    return (fluid_walls){f->walls, f->rows + 1, f->distance, f->normal, f->corner, reach_of(f)};
}

/* The work of a launch over the lists. The host reads the fraction of entries that are neighbours, and the images, at
 * the end of a step, where it waits anyway; the values are those of the previous step, 1 and 0 in the first. */
static pbd_work work_of(const fluid *f, int image_flops) {
    return (pbd_work){f->rows, (size_t)(f->filled * (double)f->entries), image_flops * f->imaged};
}

static pbd_status place(fluid *f, const real *x, const real *v, const collider_poses *walls, double dt) {
    const fluid_place_args args = {.x = x,
                                   .v = v,
                                   .id = f->id,
                                   .matter = f->matter,
                                   .p = f->p,
                                   .role = f->role,
                                   .gain = f->gain,
                                   .rows = f->rows,
                                   .dt = (real)dt};
    PBD_TRY(PBD_RUN(f->exec, fluid_place, f->rows + 1, &args));
    if (f->walls == 0) return pbd_ok();
    const fluid_measure_args measure = {walls->device, f->p, f->role, walls_of(f), walls->sums != NULL};
    const pbd_work work = {.items = f->rows, .entries = f->rows * (size_t)f->walls};
    return PBD_RUN(f->exec, fluid_measure_walls, f->rows, work, &measure);
}

static pbd_status solve(fluid *f, const real *v, double dt, int task) {
    const fluid_settings *s = &f->settings;
    const double ratio = f->dt > 0 ? dt / f->dt : 0;
    const fluid_solve_args args = {.lists = lists_of(f),
                                   .shape = shape_of(f),
                                   .id = f->id,
                                   .p = f->p,
                                   .v = v,
                                   .role = f->role,
                                   .gain = f->gain,
                                   .walls = walls_of(f),
                                   .multiplier = f->multiplier,
                                   .allowed = f->allowed,
                                   .change = f->change,
                                   .excess = f->excess,
                                   .images = f->images,
                                   .inverse_sum = (real)(1 / f->sum),
                                   .relaxation = (real)f->relaxation,
                                   .softening = (real)f->softening,
                                   .compliance = (real)(s->compliance / (dt * dt)),
                                   .keep = (real)(s->keep * ratio * ratio),
                                   .both = s->both,
                                   .printed = s->printed,
                                   .task = task};
    return PBD_RUN(f->exec, fluid_solve, f->rows, work_of(f, FLUID_SOLVE_IMAGE), &args);
}

static pbd_status move(fluid *f, real *v, const collider_poses *walls, double dt, bool crowding) {
    const fluid_settings *s = &f->settings;
    fluid_move_args args = {.lists = lists_of(f),
                            .shape = shape_of(f),
                            .id = f->id,
                            .p = f->p,
                            .role = f->role,
                            .change = f->change,
                            .walls = walls_of(f),
                            .v = v,
                            .exchange = f->exchange,
                            .sums = collider_sums_of(walls),
                            .inverse_sum = (real)(1 / f->sum),
                            .inverse_dt = (real)(1 / dt),
                            .crowd = (real)(crowding ? s->crowding / f->weight : 0),
                            .crowd_power = s->crowding_power};
    double w, slope;
    kernel_at(s->kernel, s->crowding_at, &w, &slope);
    args.crowd_w = (real)(f->support * f->support * f->support / w);
    return PBD_RUN(f->exec, fluid_move, f->rows, work_of(f, FLUID_MOVE_IMAGE), &args);
}

/* ---- A step ------------------------------------------------------------------------------------------------------ */

static pbd_status search(fluid *f) {
    grid *g = &f->grid;
    PBD_TRY(grid_build(g, f->p, f->role));
    const real reach = reach_of(f);
    fluid_search_args args = {.grid = grid_view_of(g),
                              .p = f->p,
                              .walls = walls_of(f),
                              .square = reach * reach,
                              .rows = f->rows,
                              .length = f->length,
                              .key = f->key,
                              .kept = f->kept,
                              .from = f->from,
                              .own = f->own,
                              .mirrored = f->mirrored,
                              .slice = f->slice};
    const size_t slices = (f->rows + FLUID_LANES - 1) / FLUID_LANES;
    uint64_t rows = 0;
    PBD_TRY(PBD_RUN(f->exec, fluid_count, f->rows, grid_search_work(g, work_of(f, 0).entries), &args));
    PBD_TRY(PBD_RUN(f->exec, fluid_order, f->rows, &args));
    PBD_TRY(PBD_RUN(f->exec, fluid_measure_slices, slices, &args));
    PBD_TRY(pbd_scan(f->exec, f->slice, slices, &rows));
    f->entries = rows * FLUID_LANES;
    PBD_TRY(neighbours_room(f->exec, f->rows, f->entries, &f->list, &f->capacity));
    args.list = f->list;
    return PBD_RUN(f->exec, fluid_fill, slices * FLUID_LANES, work_of(f, 0), &args);
}

/* Stores the initial excess density in the first step; lets it decay in later steps. */
static pbd_status settle(fluid *f, const real *x, real *v, const collider_poses *walls, double dt) {
    const double time = f->settings.settling;
    const fluid_allowed_args args = {f->id, f->excess, f->allowed,
                                     (real)(f->began ? time > 0 ? exp(-dt / time) : 0 : -1)};
    if (!f->began) {
        PBD_TRY(place(f, x, v, walls, 0));
        PBD_TRY(search(f));
        PBD_TRY(solve(f, v, dt, FLUID_EVALUATE));
    }
    f->began = true;
    return PBD_RUN(f->exec, fluid_set_allowed, f->rows, &args);
}

/* Writes the mean compression at the present velocities. Uses the existing neighbour lists. */
static pbd_status measure(fluid *f, const real *v, double dt, double *out) {
    fluid_state now;
    PBD_TRY(solve(f, v, dt, FLUID_EVALUATE));
    PBD_TRY(fluid_state_of(f, &now));
    *out = now.compressed;
    return pbd_ok();
}

/* Measures before the warm start, which is part of the solution. This work is not the method's, so the totals are
 * restored. */
static pbd_status measure_start(fluid *f, const real *v, double dt) {
    const pbd_exec_totals before = pbd_exec_read_totals(f->exec);
    const pbd_status status = PBD_PHASE(f->recorder, "residual", measure(f, v, dt, &f->before));
    pbd_exec_restore_totals(f->exec, &before);
    return status;
}

static pbd_status begin(fluid *f, const real *x, real *v, const collider_poses *walls, double dt) {
    PBD_TRY(place(f, x, v, walls, dt));
    PBD_TRY(PBD_PHASE(f->recorder, "fluid_search", search(f)));
    if (f->measured) PBD_TRY(measure_start(f, v, dt));
    if (!(f->settings.keep > 0 && f->dt > 0)) return pbd_ok();
    PBD_TRY(solve(f, v, dt, FLUID_REPEAT));
    return move(f, v, walls, dt, false);
}

pbd_status fluid_begin(fluid *f, const uint32_t *id, const real *x, real *v, const collider_poses *walls, double dt) {
    if (f->liquid == 0) return pbd_ok();
    f->id = id;
    const fluid_forget_args forget = {f->multiplier};
    if (!(f->settings.keep > 0)) PBD_TRY(PBD_RUN(f->exec, fluid_clear_multipliers, f->rows, &forget));
    if (f->settings.settling > 0) PBD_TRY(settle(f, x, v, walls, dt));
    return begin(f, x, v, walls, dt);
}

static pbd_status pass(fluid *f, const real *x, real *v, const collider_poses *walls, double dt) {
    PBD_TRY(place(f, x, v, walls, dt));
    PBD_TRY(solve(f, v, dt, FLUID_SOLVE));
    return move(f, v, walls, dt, f->settings.crowding > 0);
}

pbd_status fluid_iterate(fluid *f, const real *x, real *v, const collider_poses *walls, double dt) {
    if (f->liquid == 0) return pbd_ok();
    pbd_phase_begin(f->recorder, "fluid");
    const pbd_status status = pass(f, x, v, walls, dt);
    pbd_phase_end(f->recorder);
    return status;
}

static pbd_status smooth(fluid *f, real *v, double dt) {
    const fluid_smooth_args args = {.lists = lists_of(f),
                                    .shape = shape_of(f),
                                    .p = f->p,
                                    .role = f->role,
                                    .v = v,
                                    .smooth = f->smooth,
                                    .curl = f->curl,
                                    .share = (real)f->settings.xsph};
    const fluid_confine_args confine = {.lists = lists_of(f),
                                        .shape = shape_of(f),
                                        .p = f->p,
                                        .role = f->role,
                                        .curl = f->curl,
                                        .smooth = f->smooth,
                                        .speed = (real)(f->settings.vorticity * dt)};
    const fluid_store_args keep = {.role = f->role, .smooth = f->smooth, .v = v};
    PBD_TRY(PBD_RUN(f->exec, fluid_smooth, f->rows, work_of(f, 0), &args));
    if (f->curl) PBD_TRY(PBD_RUN(f->exec, fluid_confine, f->rows, work_of(f, 0), &confine));
    return PBD_RUN(f->exec, fluid_store_smoothed, f->rows, &keep);
}

static pbd_status end(fluid *f, const real *x, real *v, const collider_poses *walls, double dt) {
    fluid_state now;
    PBD_TRY(place(f, x, v, walls, dt));
    PBD_TRY(solve(f, v, dt, FLUID_EVALUATE));
    PBD_TRY(fluid_state_of(f, &now));
    f->dt = dt;
    f->imaged = now.images;
    f->filled = f->entries > 0 ? now.neighbours / (double)f->entries : 1;
    f->largest = now.largest > f->largest || isnan(now.largest) ? now.largest : f->largest;
    f->most_compressed = fmax(f->most_compressed, now.compressed);
    return f->settings.xsph > 0 || f->curl ? smooth(f, v, dt) : pbd_ok();
}

pbd_status fluid_end(fluid *f, const real *x, real *v, const collider_poses *walls, double dt) {
    if (f->liquid == 0) return pbd_ok();
    pbd_phase_begin(f->recorder, "fluid");
    const pbd_status status = end(f, x, v, walls, dt);
    pbd_phase_end(f->recorder);
    return status;
}

/* ---- Measures ---------------------------------------------------------------------------------------------------- */

pbd_status fluid_state_of(const fluid *f, fluid_state *out) {
    const size_t blocks = (f->rows + FLUID_BLOCK - 1) / FLUID_BLOCK;
    const fluid_reduce_args args = {.id = f->id,
                                    .role = f->role,
                                    .excess = f->excess,
                                    .exchange = f->exchange,
                                    .images = f->images,
                                    .length = f->length,
                                    .rows = f->rows,
                                    .out = f->block};
    double sum[FLUID_MEASURED] = {-1};
    *out = (fluid_state){.largest = -1};
    if (f->liquid == 0) return pbd_ok();
    PBD_TRY(PBD_RUN(f->exec, fluid_reduce, blocks, &args));
    PBD_TRY(device_blocks_take(f->exec, f->block, blocks, FLUID_MEASURED, 1, sum));
    const double per = sum[3] > 0 ? 1 / sum[3] : 0;
    *out = (fluid_state){.largest = sum[0],
                         .compressed = sum[1] * per,
                         .mean = sum[2] * per,
                         .exchanged = sum[10],
                         .neighbours = sum[11],
                         .images = sum[12]};
    memcpy(out->exchange, sum + 4, sizeof out->exchange);
    return pbd_ok();
}

pbd_status fluid_record(fluid *f) {
    fluid_state now;
    if (f->liquid == 0) return pbd_ok();
    PBD_TRY(fluid_state_of(f, &now));
    pbd_metric(f->recorder, "mean_compression", "1", PBD_FLAW, now.compressed);
    pbd_metric(f->recorder, "most_mean_compression", "1", PBD_FLAW, f->most_compressed);
    pbd_metric(f->recorder, "largest_compression", "1", PBD_FLAW, f->largest);
    if (!f->mixed) return pbd_ok();
    double lost = 0;
    for (int d = 0; d < 3; d++) lost = fmax(lost, fabs(now.exchange[0][d] + now.exchange[1][d]));
    pbd_metric(f->recorder, "exchanged_impulse", "N s", PBD_STATE, now.exchanged);
    if (now.exchanged > 0) pbd_metric(f->recorder, "exchange_error", "1", PBD_FLAW, lost / now.exchanged);
    return pbd_ok();
}

pbd_status fluid_read_pressures(const fluid *f, const real *x, const uint32_t *id, double *out) {
    static const size_t volume = 3;
    const size_t n = f->rows;
    pbd_arena a PBD_ARENA;
    double *volumes = pbd_new(&a, double, n);
    uint32_t *number = id ? pbd_new(&a, uint32_t, n) : NULL;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < n; i++) out[i] = 0;
    if (f->liquid == 0 || !(f->dt > 0)) return pbd_ok();
    if (id) PBD_TRY(pbd_download(f->exec, number, id, n * sizeof *number));
    PBD_TRY(device_rows_read(f->exec, f->multiplier, n, 1, 1, NULL, NULL, out));
    PBD_TRY(device_rows_read(f->exec, x, n, 4, 1, &volume, number, volumes));
    for (size_t i = 0; i < n; i++) out[i] *= f->stiffness / (volumes[i] * f->dt * f->dt);
    return pbd_ok();
}

pbd_status fluid_read_exchange(const fluid *f, double *out) {
    for (size_t i = 0; i < 3 * f->rows; i++) out[i] = 0;
    return f->exchange ? device_rows_read(f->exec, f->exchange, 3 * f->rows, 1, 1, NULL, NULL, out) : pbd_ok();
}

/* ---- As a part --------------------------------------------------------------------------------------------------- */

static pbd_status part_begin(void *self, stepper *run) {
    ((fluid *)self)->measured = run->watched != NULL;
    return fluid_begin(self, run->id, run->x, run->v, &run->colliders, run->dt);
}

static pbd_status part_iterate(void *self, stepper *run) {
    fluid *f = self;
    for (long k = 0; k < f->settings.passes; k++) PBD_TRY(fluid_iterate(f, run->x, run->v, &run->colliders, run->dt));
    return pbd_ok();
}

static pbd_status part_end(void *self, stepper *run) {
    return fluid_end(self, run->x, run->v, &run->colliders, run->dt);
}

static pbd_status part_residual(void *self, stepper *run, step_residual *out) {
    fluid *f = self;
    *out = (step_residual){f->before, 64 * REAL_EPSILON};
    if (run->done == 0) return pbd_ok();
    PBD_TRY(place(f, run->x, run->v, &run->colliders, run->dt));
    return measure(f, run->v, run->dt, &out->norm);
}

static pbd_status part_record(void *self, stepper *run) {
    (void)run;
    return fluid_record(self);
}

/* After a load, results must depend only on saved arrays, so the grid's size is chosen anew. */
static void part_loaded(void *self) { ((fluid *)self)->grid.builds = 0; }

static void part_free(void *self) { fluid_free(self); }

const step_part fluid_part = {
    .begin = part_begin,
    .iterate = part_iterate,
    .end = part_end,
    .record = part_record,
    .residual = part_residual,
    .arrays = arrays_of,
    .loaded = part_loaded,
    .free = part_free,
};
