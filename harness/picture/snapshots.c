#include "harness/picture/snapshots.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/exec/arena.h"
#include "harness/files/paths.h"
#include "harness/picture/ply.h"
#include "harness/picture/sheet.h"
#include "harness/picture/vtk.h"

enum { PICTURE_WIDTH = 800, SHEET_PANELS = 12 };

typedef struct kept_state {
    long step;
    double time;
    double *position, *velocity;           /* particles x 3; velocity NULL: the method has none */
    double *gradient, *pressure;           /* particles x 9, particles; NULL likewise, and if no colour needs them */
    double *node_position, *node_velocity; /* the same of the mesh's nodes; NULL: there is no mesh */
} kept_state;

/* The method's own elements if they have nodes besides the particles; .vtu files show these. */
typedef struct kept_mesh {
    pbd_body body;
    uint32_t *node;
    double *rest;
} kept_mesh;

struct pbd_snapshots {
    pbd_snapshot_plan plan;
    const pbd_scene *scene;
    const pbd_method *method;
    kept_mesh mesh;
    kept_state *state;
    size_t states;
    long stride; /* steps between kept states if the number of steps is unknown */
    long step;   /* recorded last, and its time */
    double time;
};

static void free_state(kept_state *state) {
    free(state->position);
    free(state->velocity);
    free(state->gradient);
    free(state->pressure);
    free(state->node_position);
    free(state->node_velocity);
    *state = (kept_state){0};
}

void pbd_snapshots_close(pbd_snapshots *s) {
    if (!s) return;
    for (size_t i = 0; i < s->states; i++) free_state(&s->state[i]);
    free(s->state);
    free(s->mesh.node);
    free(s->mesh.rest);
    free(s);
}

static pbd_status make_folder(const char *folder) {
    PBD_TRY(pbd_make_folders(folder));
    if (access(folder, W_OK | X_OK) == 0) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "cannot write to the folder '%.200s': %s; choose another with --out", folder,
                     strerror(errno));
}

pbd_status pbd_snapshots_open(const pbd_snapshot_plan *plan, const pbd_scene *scene, const pbd_method *method,
                              pbd_snapshots **out) {
    *out = NULL;
    PBD_TRY(make_folder(plan->folder));
    pbd_snapshots *s = calloc(1, sizeof *s);
    if (!s) return pbd_no_memory();
    *s = (pbd_snapshots){.plan = *plan, .scene = scene, .method = method, .stride = 1};
    if (s->plan.formats == 0) s->plan.formats = PBD_STATES_VTU;
    if (s->plan.album.width == 0) s->plan.album.width = PICTURE_WIDTH;
    s->state = calloc(2 * (size_t)plan->count + 3, sizeof *s->state);
    if (s->state) {
        *out = s;
        return pbd_ok();
    }
    free(s);
    return pbd_no_memory();
}

/* ---- Keeping states ---------------------------------------------------------------------------------------------- */

/* Whether `step` is one of `count` steps spread evenly over 0 .. end; a single one is the end. */
static bool is_place(long step, long end, int count) {
    if (count == 1) return step == end;
    const long place = lround((double)step * (count - 1) / (double)end);
    return lround((double)place * (double)end / (count - 1)) == step;
}

static bool is_wanted(const pbd_snapshots *s, long step, long steps) {
    return steps > 0 ? is_place(step, steps, s->plan.count) : step % s->stride == 0;
}

/* Makes room: drops every second state. */
static void thin_out(pbd_snapshots *s) {
    size_t kept = 0;
    s->stride *= 2;
    for (size_t i = 0; i < s->states; i++)
        if (s->state[i].step % s->stride == 0)
            s->state[kept++] = s->state[i];
        else
            free_state(&s->state[i]);
    s->states = kept;
}

/* Copies the elements at the first state; they do not change. */
static pbd_status keep_elements(const pbd_mesh *mesh, kept_mesh *out) {
    if (out->node) return pbd_ok();
    PBD_TRY_NEW(out->node, mesh->elements * (size_t)mesh->corners);
    PBD_TRY_NEW(out->rest, 3 * mesh->nodes);
    memcpy(out->node, mesh->node, mesh->elements * (size_t)mesh->corners * sizeof *out->node);
    memcpy(out->rest, mesh->rest, 3 * mesh->nodes * sizeof *out->rest);
    out->body = (pbd_body){mesh->nodes, mesh->elements, out->node, mesh->corners, NULL};
    return pbd_ok();
}

static pbd_status read_mesh(pbd_snapshots *s, const void *state, kept_state *out) {
    pbd_mesh mesh = {0};
    if (s->method->mesh) s->method->mesh(state, &mesh);
    if (mesh.nodes == 0) return pbd_ok();
    PBD_TRY(keep_elements(&mesh, &s->mesh));
    PBD_TRY_NEW(out->node_position, 3 * mesh.nodes);
    PBD_TRY_NEW(out->node_velocity, 3 * mesh.nodes);
    for (size_t i = 0; i < 3 * mesh.nodes; i++) out->node_position[i] = mesh.rest[i] + mesh.displacement[i];
    memcpy(out->node_velocity, mesh.velocity, 3 * mesh.nodes * sizeof *out->node_velocity);
    return pbd_ok();
}

static pbd_seen_state seen(const kept_state *state) {
    return (pbd_seen_state){state->time, state->position, state->velocity, state->gradient, state->pressure};
}

/* *out stays NULL where the method has no such field. */
static pbd_status read_field(const pbd_snapshots *s, const void *state, pbd_field field, size_t width, double **out) {
    PBD_TRY_NEW(*out, width * s->scene->particles.count);
    const pbd_status status = s->method->read(state, field, *out);
    if (status.code != PBD_NOT_SUPPORTED) return status;
    free(*out);
    *out = NULL;
    return pbd_ok();
}

static pbd_status read_state(pbd_snapshots *s, const void *state, kept_state *out) {
    const unsigned fields = pbd_colour_fields(s->plan.album.colour);
    PBD_TRY_NEW(out->position, 3 * s->scene->particles.count);
    PBD_TRY(s->method->read(state, PBD_POSITIONS, out->position));
    PBD_TRY(read_field(s, state, PBD_VELOCITIES, 3, &out->velocity));
    if (fields & 1u << PBD_DEFORMATION_GRADIENTS)
        PBD_TRY(read_field(s, state, PBD_DEFORMATION_GRADIENTS, 9, &out->gradient));
    if (fields & 1u << PBD_PRESSURES) PBD_TRY(read_field(s, state, PBD_PRESSURES, 1, &out->pressure));
    return pbd_ok();
}

/* Refuses a colour that is not available at the first state, not at the end of the run. */
static pbd_status check_colour(const pbd_snapshots *s, const kept_state *first) {
    const pbd_body body = pbd_body_of(s->scene, s->method);
    const pbd_seen_state state = seen(first);
    pbd_colour colour;
    return pbd_colour_choose(s->scene, &body, s->plan.album.colour, &state, &colour);
}

bool pbd_snapshots_want(pbd_snapshots *s, double time, long step, long steps) {
    s->step = step;
    s->time = time;
    if (!is_wanted(s, step, steps)) return false;
    if (steps <= 0 && s->states >= 2 * (size_t)s->plan.count + 1) thin_out(s);
    return is_wanted(s, step, steps);
}

pbd_status pbd_snapshots_keep(pbd_snapshots *s, const void *state) {
    kept_state kept = {.step = s->step, .time = s->time};
    pbd_status status = read_state(s, state, &kept);
    if (status.code == PBD_OK) status = read_mesh(s, state, &kept);
    if (status.code == PBD_OK && s->states == 0) status = check_colour(s, &kept);
    if (status.code == PBD_OK)
        s->state[s->states++] = kept;
    else
        free_state(&kept);
    return status;
}

/* The last step may have been kept already: it is read again, since a solver may do something at its end. */
pbd_status pbd_snapshots_end(pbd_snapshots *s, const void *state) {
    if (s->step == 0) s->step = 1; /* a solve without steps */
    if (s->states > 0 && s->state[s->states - 1].step == s->step) free_state(&s->state[--s->states]);
    return pbd_snapshots_keep(s, state);
}

/* Keeps as many as requested, spread evenly over the steps, the last among them. */
static void choose(pbd_snapshots *s) {
    const size_t wanted = (size_t)s->plan.count;
    if (s->states <= wanted) return;
    const double end = (double)s->state[s->states - 1].step;
    size_t from = 0;
    for (size_t place = 0; place < wanted; place++) {
        const double at = wanted == 1 ? end : end * (double)place / (double)(wanted - 1);
        const size_t left = wanted - place; /* at least this many states must remain */
        size_t best = from;
        for (size_t i = from; i + left <= s->states; i++)
            if (fabs((double)s->state[i].step - at) <= fabs((double)s->state[best].step - at)) best = i;
        for (size_t i = from; i < best; i++) free_state(&s->state[i]);
        kept_state chosen = s->state[best];
        s->state[best] = (kept_state){0};
        s->state[place] = chosen;
        from = best + 1;
    }
    for (size_t i = from; i < s->states; i++) free_state(&s->state[i]);
    s->states = wanted;
}

/* ---- What is written --------------------------------------------------------------------------------------------- */

/* Writes the method's own elements; the strain of each is that of its corners. */
static pbd_status write_mesh(const pbd_snapshots *s, const kept_state *state, const pbd_album *a, const char *path) {
    const pbd_scene *scene = s->scene;
    const pbd_body *body = &s->mesh.body;
    const pbd_body corners = {scene->particles.count, body->elements,
                              body->corners == 10 ? scene->tets.corner : scene->hexes.corner,
                              body->corners == 10 ? 4 : 8, NULL};
    pbd_arena arena PBD_ARENA;
    double *strain = pbd_new(&arena, double, body->elements);
    PBD_TRY(pbd_arena_check(&arena));
    pbd_strain(&corners, scene->particles.positions, state->position, strain);
    const vtk_state vtk = {state->node_position, state->node_velocity, s->mesh.rest, strain, a->number};
    return vtk_write(path, body, &vtk);
}

static pbd_status write_vtk(const pbd_snapshots *s, const kept_state *state, const pbd_album *a, size_t index) {
    char path[4096];
    const vtk_state vtk = {state->position, state->velocity, s->scene->particles.positions, a->strain, a->number};
    snprintf(path, sizeof path, "%s/state_%03zu.vtu", s->plan.folder, index);
    return state->node_position ? write_mesh(s, state, a, path) : vtk_write(path, &a->body, &vtk);
}

static pbd_status write_ply(const pbd_snapshots *s, const kept_state *state, const pbd_album *a, size_t index) {
    char path[4096];
    const ply_state ply = {.particles = s->scene->particles.count,
                           .triangles = a->matter.outside.triangles,
                           .position = state->position,
                           .velocity = state->velocity,
                           .strain = a->at_particle,
                           .body = a->number,
                           .triangle = a->matter.outside.triangle};
    snprintf(path, sizeof path, "%s/state_%03zu.ply", s->plan.folder, index);
    return ply_write(path, &ply);
}

/* `strain`: states x elements. */
static pbd_status write_npz(const pbd_snapshots *s, const pbd_album *a, const double *time, const float *strain) {
    char path[4096];
    pbd_arena arena PBD_ARENA;
    const double **position = pbd_new(&arena, const double *, s->states);
    const double **velocity = pbd_new(&arena, const double *, s->states);
    PBD_TRY(pbd_arena_check(&arena));
    for (size_t i = 0; i < s->states; i++) {
        position[i] = s->state[i].position;
        velocity[i] = s->state[i].velocity;
    }
    const pbd_state_table table = {.states = s->states,
                                   .time = time,
                                   .position = position,
                                   .velocity = *velocity ? velocity : NULL,
                                   .strain = strain,
                                   .rest = s->scene->particles.positions,
                                   .number = a->number,
                                   .body = &a->body};
    snprintf(path, sizeof path, "%s/states.npz", s->plan.folder);
    return pbd_states_npz(path, &table);
}

static pbd_status write_state(const pbd_snapshots *s, size_t index, pbd_album *a) {
    const kept_state *state = &s->state[index];
    char path[4096];
    PBD_TRY(pbd_album_strain(a, state->position));
    if (s->plan.formats & PBD_STATES_VTU) PBD_TRY(write_vtk(s, state, a, index));
    if (s->plan.formats & PBD_STATES_PLY) PBD_TRY(write_ply(s, state, a, index));
    pbd_image image PBD_CLEANUP(pbd_image_free) = {0};
    const pbd_seen_state now = seen(state);
    PBD_TRY(pbd_album_draw(a, &now, &image));
    snprintf(path, sizeof path, "%s/state_%03zu.png", s->plan.folder, index);
    return pbd_png_write(path, &image);
}

/* ---- The sheet --------------------------------------------------------------------------------------------------- */

/* The caption under the picture of a state. */
static void caption(const pbd_snapshots *s, size_t index, pbd_sheet_panel *out) {
    const double end = s->state[s->states - 1].time;
    if (end > 0)
        snprintf(out->caption, sizeof out->caption, "t = %.4g s", s->state[index].time);
    else
        snprintf(out->caption, sizeof out->caption, "%s", s->state[index].step == 0 ? "at the start" : "at the end");
}

/* All pictures, or as many as a sheet holds, evenly spread. */
static pbd_status draw_sheet(const pbd_snapshots *s, const pbd_album *a) {
    pbd_sheet_panel panel[SHEET_PANELS];
    const size_t panels = s->states < SHEET_PANELS ? s->states : SHEET_PANELS;
    for (size_t i = 0; i < panels; i++) {
        const size_t index =
            panels < 2 ? 0 : (size_t)lround((double)i * (double)(s->states - 1) / (double)(panels - 1));
        snprintf(panel[i].picture, sizeof panel[i].picture, "state_%03zu.png", index);
        caption(s, index, &panel[i]);
    }
    return pbd_sheet_draw(s->plan.folder, "sheet.png", panel, panels, 0, a);
}

static pbd_status write_all(const pbd_snapshots *s, pbd_album *a) {
    char path[4096];
    double times[PBD_MOST_SNAPSHOTS + 1];
    const pbd_seen_state first = seen(&s->state[0]);
    PBD_TRY(pbd_album_open(s->scene, s->method, &s->plan.album, &first, a));
    for (size_t i = 0; i < s->states; i++) {
        const pbd_seen_state state = seen(&s->state[i]);
        PBD_TRY(pbd_album_see(a, &state));
    }
    pbd_album_look(a, 0);
    pbd_arena arena PBD_ARENA;
    float *strain = pbd_new(&arena, float, s->plan.formats &PBD_STATES_NPZ ? s->states * a->body.elements : 0);
    PBD_TRY(pbd_arena_check(&arena));
    for (size_t i = 0; i < s->states; i++) {
        times[i] = s->state[s->states - 1].time > 0 ? s->state[i].time : (double)i;
        PBD_TRY(write_state(s, i, a));
        for (size_t e = 0; e < a->body.elements && s->plan.formats & PBD_STATES_NPZ; e++)
            strain[i * a->body.elements + e] = (float)a->strain[e];
    }
    snprintf(path, sizeof path, "%s/states.pvd", s->plan.folder);
    if (s->plan.formats & PBD_STATES_VTU) PBD_TRY(vtk_write_series(path, times, s->states));
    if (s->plan.formats & PBD_STATES_NPZ) PBD_TRY(write_npz(s, a, times, strain));
    return draw_sheet(s, a);
}

/* Removes files of an earlier run in the same folder, which would look like this run's. */
static void remove_old(const pbd_snapshots *s) {
    char path[4096];
    for (size_t i = 0; i < PBD_MOST_SNAPSHOTS; i++) {
        static const char *const endings[] = {"png", "vtu", "ply"};
        bool any = i < s->states;
        for (size_t k = 0; k < 3; k++) {
            snprintf(path, sizeof path, "%s/state_%03zu.%s", s->plan.folder, i, endings[k]);
            any |= remove(path) == 0;
        }
        if (!any) break;
    }
    static const char *const lists[] = {"states.pvd", "states.npz"};
    for (size_t k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "%s/%s", s->plan.folder, lists[k]);
        remove(path);
    }
}

pbd_status pbd_snapshots_write(pbd_snapshots *s) {
    pbd_album a PBD_CLEANUP(pbd_album_close) = {0};
    if (s->states == 0) return pbd_ok();
    choose(s);
    remove_old(s);
    return write_all(s, &a);
}
