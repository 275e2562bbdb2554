#include "harness/picture/take.h"

#include <stdlib.h>

#include "harness/exec/arena.h"

enum { SEEN = 50 /* states whose colours set the scale */ };

static const struct {
    pbd_field field;
    size_t width;
} kept[4] = {{PBD_POSITIONS, 3}, {PBD_VELOCITIES, 3}, {PBD_DEFORMATION_GRADIENTS, 9}, {PBD_PRESSURES, 1}};

/* If other fields are kept, velocities are too, so that a refusal can name speed among the available colours. */
unsigned pbd_take_fields(pbd_colour colour) {
    const unsigned fields = pbd_colour_fields(colour);
    return fields ? fields | 1u << PBD_VELOCITIES : 0;
}

void pbd_take_close(pbd_take *t) {
    pbd_album_close(&t->album);
    pbd_image_free(&t->image);
    for (int k = 0; k < 4; k++) free(t->field[k]);
    *t = (pbd_take){0};
}

static pbd_status read_back(pbd_take *t, size_t index, pbd_seen_state *out) {
    for (int k = 0; k < 4; k++)
        if (t->field[k]) PBD_TRY(pbd_spool_read(t->of.spool, index, kept[k].field, t->field[k]));
    *out = (pbd_seen_state){pbd_spool_time(t->of.spool, index), t->field[0], t->field[1], t->field[2], t->field[3]};
    return pbd_ok();
}

pbd_status pbd_take_open(const pbd_take_of *of, const pbd_album_plan *plan, pbd_take *t) {
    pbd_seen_state state;
    const unsigned fields = pbd_take_fields(plan->colour) | 1u << PBD_POSITIONS;
    *t = (pbd_take){.of = *of, .drawn = SIZE_MAX};
    for (int k = 0; k < 4; k++)
        if (fields >> kept[k].field & 1 && (k == 0 || pbd_spool_has(of->spool, kept[k].field)))
            PBD_TRY_NEW(t->field[k], kept[k].width * of->scene->particles.count);
    PBD_TRY(read_back(t, 0, &state));
    return pbd_album_open(of->scene, of->method, plan, &state, &t->album);
}

pbd_status pbd_take_see(pbd_take *t) {
    const size_t states = pbd_spool_states(t->of.spool);
    const size_t stride = pbd_colour_has_scale(t->album.colour) ? states / SEEN + 1 : 1;
    for (size_t i = 0; i < states; i++) {
        pbd_seen_state state;
        if (i % stride != 0 && i + 1 != states) continue;
        PBD_TRY(read_back(t, i, &state));
        PBD_TRY(pbd_album_see(&t->album, &state));
    }
    return pbd_ok();
}

pbd_status pbd_take_draw(pbd_take *t, double time) {
    size_t at = t->drawn == SIZE_MAX ? 0 : t->drawn;
    pbd_seen_state state;
    while (at + 1 < pbd_spool_states(t->of.spool) && pbd_spool_time(t->of.spool, at + 1) <= time) at++;
    if (at == t->drawn) return pbd_ok();
    t->drawn = at;
    pbd_image_free(&t->image);
    PBD_TRY(read_back(t, at, &state));
    return pbd_album_draw(&t->album, &state, &t->image);
}

double pbd_take_time(const pbd_take *t) { return pbd_spool_time(t->of.spool, t->drawn); }
