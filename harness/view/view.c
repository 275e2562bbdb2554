#include "harness/view/view.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "harness/files/deflate.h"
#include "harness/files/html.h"
#include "harness/files/json.h"
#include "harness/picture/collider_lines.h"
#include "harness/process/interrupt.h"
#include "harness/view/drawn.h"
#include "methods/physics/matter/flow_table.h"
#include "view_camera_js.h"
#include "view_css.h"
#include "view_data_js.h"
#include "view_draw_js.h"
#include "view_html.h"
#include "view_js.h"
#include "view_shaders_js.h"

/* Upper bound, without deflation: two bytes per coordinate and one per field, and base64 has four digits for three. */
static const double BYTES_EACH = (6 + DRAWN_MOST_FIELDS) * 4 / 3.0;

pbd_spool_plan pbd_view_plan(int file, int frames, double most_mb, size_t runs, pbd_colour colour) {
    return (pbd_spool_plan){.file = file,
                            .frames = frames,
                            .fields = 1u << PBD_VELOCITIES | 1u << PBD_PRESSURES | pbd_colour_fields(colour),
                            .bytes_each = BYTES_EACH,
                            .most_bytes = 1e6 * most_mb / (double)runs};
}

/* ---- Description of a run ---------------------------------------------------------------------------------------- */

static json_t *vector_json(const double x[3]) { return json_pack("[f, f, f]", x[0], x[1], x[2]); }

static json_t *text_json(const char *text) {
    json_t *json = json_string(text);
    return json ? json : json_string("?"); /* not UTF-8 */
}

static json_t *colour_json(const float rgb[3]) { return vector_json((const double[3]){rgb[0], rgb[1], rgb[2]}); }

static json_t *palette_json(void) {
    json_t *list = json_array();
    for (int i = 0; i <= 8; i++) {
        float rgb[3];
        render_colour(i / 8.0, rgb);
        json_array_append_new(list, colour_json(rgb));
    }
    return list;
}

/* A colour's label, such as "speed, m/s", is its title and a unit or a description. */
static json_t *field_json(const drawn_field *f) {
    const char *label = pbd_colour_label(f->colour), *comma = strstr(label, ", ");
    json_t *title = json_stringn(label, comma ? (size_t)(comma - label) : strlen(label));
    return json_pack("{s:s, s:o, s:s, s:f, s:f}", "name", pbd_colour_name(f->colour), "title", title, "unit",
                     comma ? comma + 2 : "", "low", f->low, "high", f->high);
}

static json_t *fields_json(const drawn_run *r) {
    json_t *list = json_array();
    for (size_t k = 0; k < r->fields; k++) json_array_append_new(list, field_json(&r->field[k]));
    return list;
}

static const char *name_of_material(const pbd_material *m) {
    return m->matter == PBD_FLUID ? "liquid" : m->matter == PBD_CLOTH ? "cloth" : m->flow ? m->flow : "elastic";
}

static json_t *word_json(const char *name, const float rgb[3]) {
    return json_pack("{s:s, s:o}", "name", name, "rgb", colour_json(rgb));
}

/* In the order of the scene's materials. */
static json_t *matter_json(const pbd_scene *scene) {
    json_t *list = json_array();
    for (size_t m = 0; m < (scene->materials ? scene->materials : 1); m++) {
        const uint32_t colour = pbd_colour_of_material(&scene->material[m]);
        float rgb[3];
        for (int c = 0; c < 3; c++) rgb[c] = (float)(colour >> (16 - 8 * c) & 255) / 255;
        json_array_append_new(list, word_json(name_of_material(&scene->material[m]), rgb));
    }
    return list;
}

/* Colours repeat after six bodies. */
static json_t *bodies_json(const drawn_run *r) {
    uint32_t most = 0;
    json_t *list = json_array();
    for (size_t i = 0; i < r->points; i++)
        if (r->album.number[r->particle[i]] > most) most = r->album.number[r->particle[i]];
    for (uint32_t k = 0; k <= most && k < 6; k++) {
        char name[40];
        float rgb[3];
        render_body_colour(k, rgb);
        snprintf(name, sizeof name, most < 6 ? "%u" : "%u, %u ...", k + 1, k + 7);
        json_array_append_new(list, word_json(name, rgb));
    }
    return list;
}

static json_t *ground_json(const render_camera *c) {
    if (!c->has_ground) return json_null();
    return json_pack("{s:[f, f, f, f], s:f}", "place", c->ground_centre[0], c->ground_centre[1], c->ground,
                     c->ground_radius, "grid", c->grid);
}

/* Arrays with an entry per state. */
typedef struct run_lists {
    json_t *times, *modes, *hidden, *lines;
} run_lists;

static json_t *run_json(const pbd_view_run *told, const drawn_run *r, run_lists lists) {
    const pbd_result *result = told->result;
    char title[200], says[200];
    snprintf(title, sizeof title, "%.90s \u00b7 %.90s", result->case_name, result->method_name);
    snprintf(says, sizeof says, "%s%.8s%s%s %s, %zu particles", *result->run_id ? "run " : "", result->run_id,
             *result->run_id ? ", " : "", result->backend, result->precision, r->scene->particles.count);
    json_t *params = json_loads(result->params, 0, NULL);
    json_t *run = json_pack("{s:o, s:o, s:s, s:o, s:o?}", "title", text_json(title), "says", text_json(says), "state",
                            result->state, "command", text_json(told->command), "params", params);
    json_t *shape = json_pack(
        "{s:I, s:I, s:I, s:f, s:b, s:b, s:o, s:f, s:[o, o], s:o, s:o}", "points", (json_int_t)r->points, "spheres",
        (json_int_t)r->spheres, "triangles", (json_int_t)r->triangles, "radius", r->album.matter.radius, "closed",
        r->album.body.node && r->album.body.corners > 3, "quads", r->album.body.corners == 8, "low",
        vector_json(r->low), "size", r->size, "bounds", vector_json(r->album.low), vector_json(r->album.high),
        "towards", vector_json(r->album.camera.towards), "ground", ground_json(&r->album.camera));
    json_t *states = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "times", lists.times, "modes", lists.modes,
                               "hidden", lists.hidden, "lines", lists.lines, "fields", fields_json(r), "matter",
                               matter_json(r->scene), "bodies", bodies_json(r));
    json_object_update(run, shape);
    json_object_update(run, states);
    json_decref(shape);
    json_decref(states);
    return run;
}

/* ---- Blocks of data ---------------------------------------------------------------------------------------------- */

static void write_block(pbd_html *h, size_t run, const char *kind, size_t state, const unsigned char *bytes,
                        size_t count) {
    char id[60];
    if (strcmp(kind, "still") == 0)
        snprintf(id, sizeof id, "r%zu-still", run);
    else
        snprintf(id, sizeof id, "r%zu-%s%zu", run, kind, state);
    html_open(h, "script", "type", "text/plain", "id", id, NULL);
    html_base64(h, bytes, count);
    html_close(h, "script");
    fputc('\n', h->out);
}

static pbd_status write_deflated(pbd_html *h, size_t run, const char *kind, size_t state, const void *bytes,
                                 size_t count) {
    unsigned char *packed PBD_CLEANUP(pbd_free_memory) = NULL;
    size_t packed_count;
    PBD_TRY(pbd_deflate(bytes, count, &packed, &packed_count));
    write_block(h, run, kind, state, packed, packed_count);
    return pbd_ok();
}

static pbd_status write_still(pbd_html *h, size_t run, const drawn_run *r) {
    const size_t triangle_bytes = 3 * r->triangles * sizeof(uint32_t);
    const size_t bytes_of_all = 2 * r->points + triangle_bytes + r->corners * sizeof(uint32_t);
    const pbd_scene *scene = r->scene;
    pbd_arena a PBD_ARENA;
    unsigned char *bytes = pbd_new(&a, unsigned char, bytes_of_all);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < r->points; i++) {
        bytes[i] = scene->particles.material ? scene->particles.material[r->particle[i]] : 0;
        bytes[r->points + i] = (unsigned char)(r->album.number[r->particle[i]] % 6);
    }
    memcpy(bytes + 2 * r->points, r->triangle, triangle_bytes);
    memcpy(bytes + 2 * r->points + triangle_bytes, r->corner, r->corners * sizeof *r->corner);
    return write_deflated(h, run, "still", 0, bytes, bytes_of_all);
}

/* The lines of colliders, as floats. A list has their number for each state, or -1 if they have not changed. */
typedef struct kept_lines {
    float *end;
    size_t count;
} kept_lines;

static void free_kept(kept_lines *kept) { free(kept->end); }
static void free_lines(pbd_lines *lines) { free(lines->end); }

static pbd_status write_lines(pbd_html *h, size_t run, const drawn_run *r, size_t state, kept_lines *before,
                              json_t *list) {
    pbd_lines lines PBD_CLEANUP(free_lines) = {0};
    kept_lines now PBD_CLEANUP(free_kept) = {0};
    PBD_TRY(pbd_collider_lines(r->scene, pbd_spool_time(r->spool, state), r->album.low, r->album.high, true, &lines));
    now.count = lines.count;
    PBD_TRY_NEW(now.end, 6 * now.count);
    for (size_t i = 0; i < 6 * now.count; i++) now.end[i] = (float)lines.end[i];
    const bool same =
        state > 0 && now.count == before->count && memcmp(now.end, before->end, 6 * now.count * sizeof *now.end) == 0;
    json_array_append_new(list, json_integer(same ? -1 : (json_int_t)now.count));
    if (!same && now.count > 0) PBD_TRY(write_deflated(h, run, "l", state, now.end, 6 * now.count * sizeof *now.end));
    const kept_lines old = *before;
    *before = now;
    now = old; /* freed here */
    return pbd_ok();
}

static pbd_status write_states(pbd_html *h, size_t run, drawn_run *r, run_lists lists) {
    pbd_packer packer PBD_CLEANUP(pbd_pack_close) = {0};
    kept_lines lines PBD_CLEANUP(free_kept) = {0};
    PBD_TRY(pbd_pack_open(r->points, r->fields, r->low, r->size, &packer));
    for (size_t s = 0; s < pbd_spool_states(r->spool); s++) {
        if (pbd_interrupted()) return pbd_error(PBD_INTERRUPTED, "stopped while the page was written");
        PBD_TRY(pbd_drawn_pack(r, s, &packer));
        write_block(h, run, "s", s, packer.packed, packer.bytes);
        PBD_TRY(write_lines(h, run, r, s, &lines, lists.lines));
        json_array_append_new(lists.times, r->scene->solved ? json_null() : json_real(pbd_spool_time(r->spool, s)));
        json_array_append_new(lists.modes, json_integer(packer.mode));
        json_array_append_new(lists.hidden, json_integer((json_int_t)packer.hidden));
    }
    return pbd_ok();
}

/* Writes the data of a run, and appends its description to the list. */
static pbd_status write_run(pbd_html *h, const pbd_view_run *told, size_t index, drawn_run *r, json_t *list) {
    const run_lists lists = {json_array(), json_array(), json_array(), json_array()};
    pbd_status status = write_still(h, index, r);
    if (status.code == PBD_OK) status = write_states(h, index, r, lists);
    json_array_append_new(list, run_json(told, r, lists));
    return status;
}

/* ---- The page ---------------------------------------------------------------------------------------------------- */

/* PBD_COLOUR_AUTO becomes the matter if any run would choose it. */
static pbd_status choose_colour(const drawn_run *drawn, size_t runs, pbd_colour *colour) {
    pbd_colour own = *colour;
    for (size_t i = 0; i < runs; i++) {
        PBD_TRY(pbd_colour_choose(drawn[i].scene, &drawn[i].album.body, *colour, &drawn[i].state, &own));
        if (own == PBD_COLOUR_MATTER) break;
    }
    *colour = own;
    return pbd_ok();
}

/* Nothing is loaded, and the browser is told to load nothing. */
static const char POLICY[] =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src blob: data:";

static void write_scripts(pbd_html *h) {
    const char *const scripts[] = {pbd_view_data_js, pbd_view_camera_js, pbd_view_shaders_js, pbd_view_draw_js,
                                   pbd_view_js};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) html_asset(h, "script", scripts[i]);
}

static pbd_status write_body(pbd_html *h, const pbd_view_run *run, drawn_run *drawn, size_t runs, pbd_colour colour) {
    json_auto_t *page =
        json_pack("{s:s, s:o, s:[]}", "colour", pbd_colour_name(colour), "palette", palette_json(), "runs");
    html_open(h, "body", NULL);
    html_markup(h, pbd_view_html);
    for (size_t i = 0; i < runs; i++) PBD_TRY(write_run(h, &run[i], i, &drawn[i], json_object_get(page, "runs")));
    PBD_TRY(html_json(h, "runs", page));
    write_scripts(h);
    html_close(h, "body");
    return pbd_ok();
}

static pbd_status write_page(const pbd_view_run *run, drawn_run *drawn, size_t runs, pbd_colour colour, FILE *out) {
    pbd_html html = {.out = out}, *h = &html;
    PBD_TRY(choose_colour(drawn, runs, &colour));
    fputs("<!DOCTYPE html>\n", out);
    html_open(h, "html", "lang", "en", NULL);
    html_head(h, "pbdbench view", POLICY, pbd_view_css);
    PBD_TRY(write_body(h, run, drawn, runs, colour));
    html_close(h, "html");
    fputc('\n', out);
    if (!h->unbalanced && h->depth == 0) return pbd_ok();
    return pbd_error(PBD_FAILED, "the page is not well-formed: an error of pbdbench");
}

pbd_status pbd_view_write(const pbd_view_run *run, size_t runs, pbd_colour colour, FILE *out) {
    drawn_run drawn[VIEW_MOST_RUNS] = {0};
    pbd_status status = pbd_ok();
    for (size_t i = 0; i < runs && status.code == PBD_OK; i++)
        status = pbd_drawn_open(run[i].scene, run[i].method, run[i].spool, colour, &drawn[i]);
    if (status.code == PBD_OK) status = write_page(run, drawn, runs, colour, out);
    for (size_t i = 0; i < runs; i++) pbd_drawn_close(&drawn[i]);
    return status;
}
