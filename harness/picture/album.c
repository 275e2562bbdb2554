#include "harness/picture/album.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/files/numbers.h"
#include "harness/picture/collider_lines.h"
#include "harness/picture/sample_strain.h"
#include "methods/physics/matter/flow_table.h"

int pbd_colour_named(const char *name) {
    static const char *const names[] = {"auto", "strain", "matter", "body"};
    for (int i = 0; i < 4; i++)
        if (strcmp(name, names[i]) == 0) return i;
    return -1;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

/* Particles that fill a body: their positions tell how much it is strained. */
static bool is_sampled(const pbd_album *a) { return !a->body.node && a->scene->particles.spacing > 0; }

bool pbd_has_matter(const pbd_scene *scene) {
    for (size_t m = 0; m < (scene->materials ? scene->materials : 1); m++)
        if (scene->material[m].flow || scene->material[m].matter != PBD_CONTINUUM) return true;
    return false;
}

static pbd_colour choose_colour(const pbd_album *a, pbd_colour wanted) {
    if (wanted == PBD_COLOUR_AUTO && pbd_has_matter(a->scene)) return PBD_COLOUR_MATTER;
    if (wanted == PBD_COLOUR_AUTO || wanted == PBD_COLOUR_STRAIN)
        return a->body.node || is_sampled(a) ? PBD_COLOUR_STRAIN : PBD_COLOUR_BODY;
    return wanted;
}

/* Half the distance of particles that fill the body. */
static double radius_of(const pbd_scene *scene) {
    double volume = 1, mass = 0;
    if (scene->particles.spacing > 0) return 0.5 * scene->particles.spacing;
    if (scene->material->density > 0) {
        for (size_t i = 0; i < scene->particles.count; i++) mass += scene->particles.masses[i];
        volume = mass / scene->material->density;
    } else {
        for (size_t d = 0; d < 3; d++) {
            double low = INFINITY, high = -INFINITY;
            for (size_t i = 0; i < scene->particles.count; i++) {
                low = fmin(low, scene->particles.positions[3 * i + d]);
                high = fmax(high, scene->particles.positions[3 * i + d]);
            }
            volume *= fmax(high - low, 1e-3 * scene->extent);
        }
    }
    return 0.5 * cbrt(volume / (double)scene->particles.count);
}

/* Of a square face, which is two triangles, the diagonal is no edge of the body. */
static void find_edges(pbd_album *a) {
    for (size_t t = 0; t < a->outside.triangles; t++)
        a->edges[t] = a->body.corners == 8 ? (t % 2 ? 6 /* 1-2, 2-0 */ : 3 /* 0-1, 1-2 */) : 7;
}

uint32_t pbd_colour_of_material(const pbd_material *m) {
    static const uint32_t LIQUID = 0x5b9bd5, CLOTH = 0xb56576, ELASTIC = 0xe58f65;
    const int rule = flow_number(m->flow);
    return m->matter == PBD_FLUID   ? LIQUID
           : m->matter == PBD_CLOTH ? CLOTH
           : rule >= 0              ? flow_table[rule].colour
                                    : ELASTIC;
}

/* Bare particles, and cloth beside them as triangles. */
static pbd_status open_bare(pbd_album *a) {
    pbd_scene cloth = *a->scene;
    a->radius = radius_of(a->scene);
    if (cloth.triangles.count == 0) return pbd_ok();
    cloth.hexes.count = cloth.tets.count = 0;
    a->is_vertex = pbd_new(&a->owned, unsigned char, cloth.particles.count);
    PBD_TRY(pbd_arena_check(&a->owned));
    for (size_t k = 0; k < 3 * cloth.triangles.count; k++) a->is_vertex[cloth.triangles.corner[k]] = 1;
    return surface_of(&cloth, &a->outside);
}

static pbd_status open_body(pbd_album *a, const pbd_method *method) {
    const pbd_scene *scene = a->scene;
    const size_t particles = scene->particles.count;
    a->body = method ? pbd_body_of(scene, method) : (pbd_body){particles, particles, NULL, 1, scene->particles.body};
    const pbd_scene only = pbd_body_scene(scene, &a->body);
    a->strain = pbd_new(&a->owned, double, a->body.elements);
    a->at_particle = pbd_new(&a->owned, double, particles);
    a->value = pbd_new(&a->owned, float, particles);
    a->number = pbd_new(&a->owned, uint32_t, particles);
    PBD_TRY(pbd_arena_check(&a->owned));
    PBD_TRY(pbd_number_bodies(&a->body, a->number));
    if (a->body.node)
        PBD_TRY(surface_of(&only, &a->outside));
    else
        PBD_TRY(open_bare(a));
    a->edges = pbd_new(&a->owned, unsigned char, a->outside.triangles);
    PBD_TRY(pbd_arena_check(&a->owned));
    find_edges(a);
    return pbd_ok();
}

pbd_status pbd_album_open(const pbd_scene *scene, const pbd_method *method, pbd_colour colour, double strain_scale,
                          int width, pbd_album *out) {
    *out = (pbd_album){.scene = scene, .width = width, .scale = strain_scale, .scale_is_given = strain_scale > 0};
    PBD_TRY(open_body(out, method));
    out->colour = choose_colour(out, colour);
    for (size_t i = 0; i < scene->particles.count; i++)
        out->value[i] = out->colour == PBD_COLOUR_MATTER ? (float)pbd_colour_of_material(pbd_material_of(scene, i))
                                                         : (float)out->number[i];
    for (int d = 0; d < 3; d++) out->low[d] = INFINITY, out->high[d] = -INFINITY;
    return pbd_ok();
}

void pbd_album_close(pbd_album *a) {
    pbd_arena_free(&a->owned);
    surface_free(&a->outside);
    free(a->point);
}

/* ---- Seeing ------------------------------------------------------------------------------------------------------ */

/* At most so many particles are looked at for the view; the outermost of them on either side of an axis may leave it,
 * so that one that flew off does not shrink the picture of the others. Together less than 1 % of the particles. */
enum { LOOKED_AT = 4000, FRAMED = 1000 };
static const double OUTSIDE = 0.001;

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
        const size_t outside = (size_t)(OUTSIDE * (double)n);
        a->low[d] = fmin(a->low[d], at[outside] - a->radius);
        a->high[d] = fmax(a->high[d], at[n - 1 - outside] + a->radius);
    }
    return pbd_ok();
}

/* Particles of this state within the view. */
static pbd_status keep_points(pbd_album *a, const double *x) {
    const size_t particles = a->scene->particles.count, stride = particles / FRAMED + 1;
    if (a->room < a->points + particles / stride + 1) {
        const size_t room = 2 * a->points + particles / stride + 1;
        float *point = realloc(a->point, 3 * room * sizeof *point);
        if (!point) return pbd_no_memory();
        a->point = point;
        a->room = room;
    }
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

/* 1, 2 or 5 times a power of ten, not below x: states that differ little have one scale. */
static double round_up(double x) {
    const double ten = pow(10, floor(log10(x)));
    const double first = x / ten;
    return (first <= 1 ? 1 : first <= 2 ? 2 : first <= 5 ? 5 : 10) * ten;
}

/* The largest at a particle; of bare particles the 99th percentile, since the strain about a detached particle is
 * unbounded. Values that are not finite are left out. Reorders at_particle. */
static double high_strain(pbd_album *a) {
    size_t count = 0;
    for (size_t p = 0; p < a->scene->particles.count; p++)
        if (isfinite(a->at_particle[p])) a->at_particle[count++] = a->at_particle[p];
    if (count == 0) return 0;
    qsort(a->at_particle, count, sizeof *a->at_particle, pbd_ascending);
    return a->at_particle[is_sampled(a) ? (count - 1) - (count - 1) / 100 : count - 1];
}

pbd_status pbd_album_see(pbd_album *a, const double *x) {
    PBD_TRY(widen_view(a, x));
    PBD_TRY(keep_points(a, x));
    if (a->colour != PBD_COLOUR_STRAIN || a->scale_is_given) return pbd_ok();
    PBD_TRY(pbd_album_strain(a, x));
    a->scale = fmax(a->scale, high_strain(a));
    return pbd_ok();
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

/* The box of colliders other than the ground; with walls, which are drawn as large as the view, the view's. */
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

/* Of the camera's box, which is seen from an angle, the middle alone is full: what was seen fills the picture. */
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
        half[k] = MARGIN * (0.5 * (f.high[k] - f.low[k]) + a->radius);
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

void pbd_album_look(pbd_album *a, int height) {
    double aspect, size = 0;
    for (int d = 0; d < 3; d++)
        if (!(a->low[d] <= a->high[d])) a->low[d] = a->high[d] = 0; /* nothing that is finite */
    for (int d = 0; d < 3; d++) size = fmax(size, a->high[d] - a->low[d]);
    for (int d = 0; d < 3; d++) { /* a sheet, and what moves along one axis, have a surrounding too */
        const double more = d < 2 ? 0.05 * size : 0.02 * size;
        a->low[d] -= more;
        a->high[d] += more;
    }
    pbd_grow_by_colliders(a->scene, a->low, a->high);
    if (!a->scale_is_given) a->scale = a->scale > 1e-12 ? round_up(a->scale) : 1;
    a->camera = render_look_at(a->low, a->high, &aspect);
    tighten(a, &aspect);
    a->height = height > 0 ? height : (int)lround(a->width * aspect);
    const double wide = a->camera.half_height * a->width / a->height;
    if (wide > a->camera.half_width)
        a->camera.half_width = wide;
    else
        a->camera.half_height = a->camera.half_width * a->height / a->width;
}

/* ---- Drawing ----------------------------------------------------------------------------------------------------- */

static void free_lines(pbd_lines *lines) { free(lines->end); }

pbd_status pbd_album_draw(pbd_album *a, const double *x, double time, pbd_image *out) {
    static const render_palette palettes[] = {RENDER_BODIES, RENDER_SCALE, RENDER_COLOURS, RENDER_BODIES};
    pbd_lines lines PBD_CLEANUP(free_lines) = {0};
    if (a->colour == PBD_COLOUR_STRAIN) PBD_TRY(pbd_album_strain(a, x));
    for (size_t p = 0; p < a->scene->particles.count && a->colour == PBD_COLOUR_STRAIN; p++)
        a->value[p] = (float)(a->at_particle[p] / a->scale);
    PBD_TRY(pbd_collider_lines(a->scene, time, a->low, a->high, &lines));
    const render_body body = {.points = a->scene->particles.count,
                              .position = x,
                              .value = a->value,
                              .triangles = a->outside.triangles,
                              .triangle = a->outside.triangle,
                              .edges = a->edges,
                              .radius = a->radius,
                              .is_vertex = a->is_vertex,
                              .lines = lines.count,
                              .line = lines.end,
                              .palette = palettes[a->colour]};
    return render_draw(&body, &a->camera, a->width, a->height, out);
}
