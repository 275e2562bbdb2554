#include "harness/picture/state_files.h"

#include "harness/files/npz_file.h"

pbd_status pbd_state_formats(const char *list, unsigned *out) {
    static const char *const names[] = {"vtu", "ply", "npz"};
    *out = 0;
    for (const char *at = list;; at++) {
        const size_t length = strcspn(at, ",");
        unsigned bit = 0;
        for (unsigned k = 0; k < 3; k++)
            if (length == strlen(names[k]) && strncmp(at, names[k], length) == 0) bit = 1u << k;
        if (bit == 0)
            return pbd_error(PBD_BAD_INPUT, "--states %.100s: '%.*s' is not one of vtu, ply, npz", list,
                             (int)(length < 40 ? length : 40), at);
        *out |= bit;
        at += length;
        if (*at == '\0') return pbd_ok();
    }
}

static void write_rows(npz_file *npz, const char *name, const pbd_state_table *t, const double *const *rows) {
    npz_array(npz, name, "<f8", (const size_t[]){t->states, t->body->particles, 3}, 3);
    for (size_t s = 0; s < t->states; s++) npz_write(npz, rows[s], 3 * t->body->particles * sizeof **rows);
}

pbd_status pbd_states_npz(const char *path, const pbd_state_table *t) {
    const pbd_body *b = t->body;
    npz_file npz;
    PBD_TRY(npz_begin(path, &npz));
    npz_array(&npz, "time", "<f8", &t->states, 1);
    npz_write(&npz, t->time, t->states * sizeof *t->time);
    write_rows(&npz, "position", t, t->position);
    if (t->velocity) write_rows(&npz, "velocity", t, t->velocity);
    npz_array(&npz, "strain", "<f4", (const size_t[]){t->states, b->elements}, 2);
    npz_write(&npz, t->strain, t->states * b->elements * sizeof *t->strain);
    npz_array(&npz, "rest", "<f8", (const size_t[]){b->particles, 3}, 2);
    npz_write(&npz, t->rest, 3 * b->particles * sizeof *t->rest);
    npz_array(&npz, "body", "<u4", &b->particles, 1);
    npz_write(&npz, t->number, b->particles * sizeof *t->number);
    if (b->node) {
        npz_array(&npz, "cell", "<u4", (const size_t[]){b->elements, (size_t)b->corners}, 2);
        npz_write(&npz, b->node, b->elements * (size_t)b->corners * sizeof *b->node);
    }
    return npz_end(&npz);
}
