#include "harness/picture/album.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/files/numbers.h"
#include "harness/picture/collider_lines.h"
#include "harness/picture/sample_strain.h"

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

/* Whether particles sample a body; its strain is then computed from their positions. */
static bool is_sampled(const pbd_album *a) { return !a->body.node && a->scene->particles.spacing > 0; }

static pbd_status open_body(pbd_album *a, const pbd_method *method) {
    const size_t particles = a->scene->particles.count;
    a->body =
        method ? pbd_body_of(a->scene, method) : (pbd_body){particles, particles, NULL, 1, a->scene->particles.body};
    a->strain = pbd_new(&a->owned, double, a->body.elements);
    a->at_particle = pbd_new(&a->owned, double, particles);
    a->value = pbd_new(&a->owned, float, particles);
    a->number = pbd_new(&a->owned, uint32_t, particles);
    PBD_TRY(pbd_arena_check(&a->owned));
    return pbd_number_bodies(&a->body, a->number);
}

pbd_status pbd_album_open(const pbd_scene *scene, const pbd_method *method, const pbd_album_plan *plan,
                          const pbd_seen_state *first, pbd_album *out) {
    *out = (pbd_album){.scene = scene,
                       .width = plan->width,
                       .scale_high = plan->strain_scale,
                       .scale_is_given = plan->strain_scale > 0};
    PBD_TRY(open_body(out, method));
    PBD_TRY(pbd_colour_choose(scene, &out->body, plan->colour, first, &out->colour));
    PBD_TRY(drawn_matter_open(scene, &out->body, plan->draw, out->colour == PBD_COLOUR_BODY, &out->matter));
    PBD_TRY(collider_meshes_make(scene, &out->colliders));
    for (size_t i = 0; i < scene->particles.count; i++)
        out->value[i] = out->colour == PBD_COLOUR_MATTER ? (float)pbd_colour_of_material(pbd_material_of(scene, i))
                                                         : (float)out->number[i];
    for (int d = 0; d < 3; d++) out->low[d] = INFINITY, out->high[d] = -INFINITY;
    return pbd_ok();
}

void pbd_album_close(pbd_album *a) {
    drawn_matter_close(&a->matter);
    collider_meshes_free(&a->colliders);
    pbd_arena_free(&a->owned);
    free(a->point);
    free(a->sample);
    *a = (pbd_album){0};
}

/* ---- Seeing ------------------------------------------------------------------------------------------------------ */

/* At most LOOKED_AT particles determine the view. Of these, the outermost on either side of an axis may lie outside it,
 * so that a particle that flew off (most often a drop, upward) does not shrink the picture of the others. Together less
 * than 1 % of the particles. */
enum { LOOKED_AT = 4000, FRAMED = 1000 };
static const double OUTSIDE = 0.001, ABOVE = 0.004;

static pbd_status widen_view(pbd_album *a, const double *x) {
    const size_t particles = a->scene->particles.count, stride = particles / LOOKED_AT + 1;
    pbd_arena arena PBD_ARENA;
    double *at = pbd_new(&arena, double, particles / stride + 1);
    PBD_TRY(pbd_arena_check(&arena));
    for (size_t d = 0; d < 3; d++) {
        size_t n = 0;
        for (size_t i = 0; i < particles; i += stride)
            if (isfinite(x[3 * i + d])) at[n++] = x[3 * i + d];
        if (n == 0) continue;
        qsort(at, n, sizeof *at, pbd_ascending);
        const size_t below = (size_t)(OUTSIDE * (double)n), above = (size_t)((d == 2 ? ABOVE : OUTSIDE) * (double)n);
        a->low[d] = fmin(a->low[d], at[below] - a->matter.radius);
        a->high[d] = fmax(a->high[d], at[n - 1 - above] + a->matter.radius);
    }
    return pbd_ok();
}

/* Makes room for at least `more` more points. */
static pbd_status make_room_for_points(pbd_album *a, size_t more) {
    if (a->points + more <= a->room) return pbd_ok();
    const size_t room = 2 * (a->points + more);
    float *point = realloc(a->point, 3 * room * sizeof *point);
    if (!point) return pbd_no_memory();
    a->point = point;
    a->room = room;
    return pbd_ok();
}

static pbd_status make_room_for_values(pbd_album *a, size_t more) {
    if (a->samples + more <= a->sample_room) return pbd_ok();
    const size_t room = 2 * (a->samples + more);
    double *sample = realloc(a->sample, room * sizeof *sample);
    if (!sample) return pbd_no_memory();
    a->sample = sample;
    a->sample_room = room;
    return pbd_ok();
}

/* Keeps some particles of this state that lie within the view. */
static pbd_status keep_points(pbd_album *a, const double *x) {
    const size_t particles = a->scene->particles.count, stride = particles / FRAMED + 1;
    PBD_TRY(make_room_for_points(a, particles / stride + 1));
    for (size_t i = 0; i < particles; i += stride) {
        bool seen = true;
        for (size_t d = 0; d < 3; d++) seen = seen && x[3 * i + d] >= a->low[d] && x[3 * i + d] <= a->high[d];
        for (size_t d = 0; d < 3; d++) a->point[3 * a->points + d] = (float)x[3 * i + d];
        a->points += seen;
    }
    return pbd_ok();
}

pbd_status pbd_album_strain(pbd_album *a, const double *x) {
    if (is_sampled(a))
        PBD_TRY(pbd_sample_strain(a->scene, x, a->strain));
    else
        pbd_strain(&a->body, a->scene->particles.positions, x, a->strain);
    return pbd_to_particles(&a->body, a->strain, a->at_particle);
}

/* Rounds up to 1, 2 or 5 times a power of ten, so that states that differ little have the same scale. */
static double round_up(double x) {
    const double ten = pow(10, floor(log10(x)));
    const double first = x / ten;
    return (first <= 1 ? 1 : first <= 2 ? 2 : first <= 5 ? 5 : 10) * ten;
}

/* The largest strain at a particle; for sampled bodies the 95th percentile, since the strain around a detached particle
 * is unbounded. Skips values that are not finite. Reorders at_particle. */
static double high_strain(pbd_album *a) {
    size_t count = 0;
    for (size_t p = 0; p < a->scene->particles.count; p++)
        if (isfinite(a->at_particle[p])) a->at_particle[count++] = a->at_particle[p];
    if (count == 0) return 0;
    qsort(a->at_particle, count, sizeof *a->at_particle, pbd_ascending);
    return a->at_particle[is_sampled(a) ? (count - 1) - (count - 1) / 20 : count - 1];
}

/* Keeps some of the values in at_particle, for their percentiles over all states. */
static pbd_status keep_values(pbd_album *a) {
    const size_t particles = a->scene->particles.count, stride = particles / LOOKED_AT + 1;
    PBD_TRY(make_room_for_values(a, particles / stride + 1));
    for (size_t i = 0; i < particles; i += stride)
        if (isfinite(a->at_particle[i])) a->sample[a->samples++] = a->at_particle[i];
    return pbd_ok();
}

static pbd_status see_values(pbd_album *a, const pbd_seen_state *state) {
    if (a->colour == PBD_COLOUR_STRAIN) {
        if (a->scale_is_given) return pbd_ok();
        PBD_TRY(pbd_album_strain(a, state->position));
        a->scale_high = fmax(a->scale_high, high_strain(a));
        return pbd_ok();
    }
    if (!pbd_colour_has_scale(a->colour)) return pbd_ok();
    PBD_TRY(pbd_colour_values(a->scene, &a->body, a->colour, state, a->at_particle));
    return keep_values(a);
}

pbd_status pbd_album_see(pbd_album *a, const pbd_seen_state *state) {
    PBD_TRY(widen_view(a, state->position));
    PBD_TRY(keep_points(a, state->position));
    return see_values(a, state);
}

/* From the 1st to the 99th percentile of the values seen, rounded outward to a fifth of a power of ten. */
static void find_scale(pbd_album *a) {
    if (a->colour == PBD_COLOUR_STRAIN || !pbd_colour_has_scale(a->colour)) {
        if (!a->scale_is_given) a->scale_high = a->scale_high > 1e-12 ? round_up(a->scale_high) : 1;
        return;
    }
    a->scale_low = 0, a->scale_high = 1;
    if (a->samples == 0 || a->colour == PBD_COLOUR_DAMAGE) return;
    qsort(a->sample, a->samples, sizeof *a->sample, pbd_ascending);
    double low = a->sample[(a->samples - 1) / 100], high = a->sample[(a->samples - 1) - (a->samples - 1) / 100];
    if (pbd_colour_from_zero(a->colour)) low = 0;
    const double least = fmax(1e-6 * fmax(fabs(low), fabs(high)), 1e-300); /* a constant field needs a scale too */
    if (high - low < least) high = low + least;
    const double step = 0.2 * pow(10, floor(log10(high - low)));
    a->scale_low = step * floor(low / step + 1e-9);
    a->scale_high = step * ceil(high / step - 1e-9);
}

typedef struct frame {
    double low[2], high[2]; /* m, along the camera's right and up, from its centre */
} frame;

static void frame_point(const render_camera *c, const double p[3], frame *f) {
    const double *axes[] = {c->right, c->up};
    for (int k = 0; k < 2; k++) {
        double at = 0;
        for (int d = 0; d < 3; d++) at += (p[d] - c->centre[d]) * axes[k][d];
        f->low[k] = fmin(f->low[k], at);
        f->high[k] = fmax(f->high[k], at);
    }
}

static bool has_wall(const pbd_scene *scene) {
    for (size_t i = 0; i < scene->colliders.count; i++)
        if (scene->colliders.item[i].shape == PBD_PLANE && &scene->colliders.item[i] != pbd_ground_of(scene))
            return true;
    return false;
}

/* Adds the box of the colliders other than the ground; the view's box if there are walls, which fill the view. */
static void frame_colliders(const pbd_album *a, frame *f) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    pbd_grow_by_colliders(a->scene, low, high);
    const bool wall = has_wall(a->scene);
    if (!wall && !(high[0] >= low[0])) return;
    for (int corner = 0; corner < 8; corner++) {
        double p[3];
        for (int d = 0; d < 3; d++) p[d] = corner >> d & 1 ? (wall ? a->high[d] : high[d]) : wall ? a->low[d] : low[d];
        frame_point(&a->camera, p, f);
    }
}

/* Shrinks the camera's frame to the points seen: a box seen at an angle fills only the middle of the picture. */
static void tighten(pbd_album *a, double *aspect) {
    static const double MARGIN = 1.12;
    frame f = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
    double half[2], middle[2];
    for (size_t i = 0; i < a->points; i++) {
        const double p[3] = {(double)a->point[3 * i], (double)a->point[3 * i + 1], (double)a->point[3 * i + 2]};
        frame_point(&a->camera, p, &f);
    }
    frame_colliders(a, &f);
    for (int k = 0; k < 2; k++) {
        half[k] = MARGIN * (0.5 * (f.high[k] - f.low[k]) + a->matter.radius);
        middle[k] = 0.5 * (f.high[k] + f.low[k]);
        if (!(half[k] > 0) || !isfinite(half[k])) return;
    }
    half[0] = fmax(half[0], 0.5 * half[1]);
    half[1] = fmax(half[1], 0.25 * half[0]);
    for (int d = 0; d < 3; d++) a->camera.centre[d] += middle[0] * a->camera.right[d] + middle[1] * a->camera.up[d];
    a->camera.half_width = half[0];
    a->camera.half_height = half[1];
    *aspect = fmin(fmax(half[1] / half[0], 0.5), 1);
}

/* Adds a margin and the colliders to the box of what was seen. */
static void close_box(pbd_album *a) {
    double size = 0;
    for (int d = 0; d < 3; d++)
        if (!(a->low[d] <= a->high[d])) a->low[d] = a->high[d] = 0; /* no finite position */
    for (int d = 0; d < 3; d++) size = fmax(size, a->high[d] - a->low[d]);
    for (int d = 0; d < 3; d++) { /* a sheet, and motion along one axis, get a margin too */
        const double more = d < 2 ? 0.05 * size : 0.02 * size;
        a->low[d] -= more;
        a->high[d] += more;
    }
    pbd_grow_by_colliders(a->scene, a->low, a->high);
}

/* Widens the camera's frame to the picture's aspect ratio. */
static void fit_picture(pbd_album *a, int height) {
    a->height = height;
    const double wide = a->camera.half_height * a->width / a->height;
    if (wide > a->camera.half_width)
        a->camera.half_width = wide;
    else
        a->camera.half_height = a->camera.half_width * a->height / a->width;
}

void pbd_album_look(pbd_album *a, int height) {
    double aspect;
    close_box(a);
    find_scale(a);
    a->camera = render_look_at(a->low, a->high, &aspect);
    tighten(a, &aspect);
    fit_picture(a, height > 0 ? height : (int)lround(a->width * aspect));
}

/* Adds what another album has seen to this one. */
static pbd_status take_over(pbd_album *a, pbd_album *from) {
    close_box(from);
    for (int d = 0; d < 3; d++) a->low[d] = fmin(a->low[d], from->low[d]), a->high[d] = fmax(a->high[d], from->high[d]);
    PBD_TRY(make_room_for_points(a, from->points));
    if (from->points > 0) memcpy(a->point + 3 * a->points, from->point, 3 * from->points * sizeof *a->point);
    a->points += from->points;
    a->scale_high = fmax(a->scale_high, from->scale_high);
    PBD_TRY(make_room_for_values(a, from->samples));
    if (from->samples > 0) memcpy(a->sample + a->samples, from->sample, from->samples * sizeof *a->sample);
    a->samples += from->samples;
    return pbd_ok();
}

pbd_status pbd_album_share(pbd_album *const *album, size_t albums, int height) {
    for (size_t i = 1; i < albums; i++) PBD_TRY(take_over(album[0], album[i]));
    pbd_album_look(album[0], height);
    for (size_t i = 1; i < albums; i++) {
        pbd_album *a = album[i];
        memcpy(a->low, album[0]->low, sizeof a->low);
        memcpy(a->high, album[0]->high, sizeof a->high);
        a->camera = album[0]->camera;
        a->height = album[0]->height;
        a->scale_low = album[0]->scale_low;
        a->scale_high = album[0]->scale_high;
    }
    return pbd_ok();
}

/* ---- Drawing ----------------------------------------------------------------------------------------------------- */

static void free_lines(pbd_lines *lines) { free(lines->end); }

static pbd_status tell_values(pbd_album *a, const pbd_seen_state *state) {
    if (!pbd_colour_has_scale(a->colour)) return pbd_ok();
    if (a->colour == PBD_COLOUR_STRAIN)
        PBD_TRY(pbd_album_strain(a, state->position));
    else
        PBD_TRY(pbd_colour_values(a->scene, &a->body, a->colour, state, a->at_particle));
    for (size_t p = 0; p < a->scene->particles.count; p++)
        a->value[p] = (float)((a->at_particle[p] - a->scale_low) / (a->scale_high - a->scale_low));
    return pbd_ok();
}

static pbd_status draw_colliders(const pbd_album *a, double time, pbd_arena *arena, render_body *out, size_t *bodies) {
    static const float GREY = 0xc9ccd1;
    const collider_meshes *c = &a->colliders;
    if (c->triangles == 0) return pbd_ok();
    double *vertex = pbd_new(arena, double, 3 * c->vertices);
    float *value = pbd_new(arena, float, c->vertices);
    uint32_t *triangle = pbd_new(arena, uint32_t, 3 * c->triangles);
    PBD_TRY(pbd_arena_check(arena));
    collider_meshes_place(c, a->scene, time, vertex);
    collider_meshes_join(c, triangle);
    for (size_t v = 0; v < c->vertices; v++) value[v] = GREY;
    out[(*bodies)++] = (render_body){.points = c->vertices,
                                     .position = vertex,
                                     .value = value,
                                     .triangles = c->triangles,
                                     .triangle = triangle,
                                     .palette = RENDER_COLOURS};
    return pbd_ok();
}

pbd_status pbd_album_draw(pbd_album *a, const pbd_seen_state *state, pbd_image *out) {
    pbd_lines lines PBD_CLEANUP(free_lines) = {0};
    pbd_arena arena PBD_ARENA;
    render_body body[RENDER_MOST_BODIES];
    size_t bodies = 0;
    const render_palette palette = pbd_colour_has_scale(a->colour)  ? RENDER_SCALE
                                   : a->colour == PBD_COLOUR_MATTER ? RENDER_COLOURS
                                                                    : RENDER_BODIES;
    PBD_TRY(tell_values(a, state));
    PBD_TRY(drawn_matter_at(&a->matter, state->position, a->value, palette, a->low, a->high, body, &bodies));
    PBD_TRY(draw_colliders(a, state->time, &arena, body, &bodies));
    PBD_TRY(pbd_collider_lines(a->scene, state->time, a->low, a->high, false, &lines));
    body[bodies++] = (render_body){.lines = lines.count, .line = lines.end};
    return render_draw(body, bodies, &a->camera, a->width, a->height, out);
}

void pbd_album_spell_palette(char *out, size_t size) {
    size_t used = 0;
    for (int i = 0; i <= 8; i++) {
        float rgb[3];
        render_colour(i / 8.0, rgb);
        used += (size_t)snprintf(out + used, size - used, "%s%g '#%02lx%02lx%02lx'", i ? ", " : "", i / 8.0,
                                 lrintf(255 * rgb[0]), lrintf(255 * rgb[1]), lrintf(255 * rgb[2]));
    }
}
