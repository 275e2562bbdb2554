#include "harness/picture/spool.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/exec/arena.h"

/* Fields that may be kept, and how many numbers each has per particle; positions come first. */
static const struct {
    pbd_field field;
    size_t width;
} columns[] = {{PBD_POSITIONS, 3}, {PBD_VELOCITIES, 3}, {PBD_DEFORMATION_GRADIENTS, 9}, {PBD_PRESSURES, 1}};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* The file: one head, then states of one size. */
typedef struct spool_head {
    uint64_t particles, fields;
    int64_t frames; /* 0: by an interval */
} spool_head;

/* The head of a state, and its place in the index. */
typedef struct spool_state {
    double time; /* s */
    int64_t step, is_end;
    uint64_t number; /* in the file */
} spool_state;

struct pbd_spool {
    int file;
    spool_head head;
    const pbd_scene *scene; /* set while it is written; likewise method, interval */
    const pbd_method *method;
    const double *moment;
    size_t moments;
    double interval, time; /* time and step: recorded last */
    long step, stride;     /* without an interval every stride-th step is kept */
    spool_state *state;
    size_t states, room, written; /* written: including those dropped from the index */
    double *row;                  /* the widest field of one state */
    float *packed;
};

pbd_status pbd_spool_file(const char *path, int *file) {
    char name[4200];
    snprintf(name, sizeof name, "%s.positions-XXXXXX", path);
    *file = mkstemp(name);
    if (*file >= 0) return unlink(name), pbd_ok();
    *file = 0;
    return pbd_error(PBD_FAILED, "no file for the positions beside '%.200s': %s", path, strerror(errno));
}

void pbd_spool_close(pbd_spool *s) {
    if (!s) return;
    free(s->state);
    free(s->row);
    free(s->packed);
    free(s);
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static bool is_kept(const pbd_spool *s, int column) { return (s->head.fields >> columns[column].field & 1) != 0; }

/* Bytes of a state in the file before a column; for COLUMNS, the size of a state. */
static size_t offset_of(const pbd_spool *s, int column) {
    size_t bytes = sizeof(spool_state);
    for (int k = 0; k < column; k++)
        if (is_kept(s, k)) bytes += columns[k].width * s->head.particles * sizeof(float);
    return bytes;
}

static off_t place_of(const pbd_spool *s, uint64_t number, int column) {
    return (off_t)(sizeof(spool_head) + number * offset_of(s, COLUMNS) + offset_of(s, column));
}

static bool write_at(int file, const void *from, size_t bytes, off_t place) {
    const char *at = from;
    while (bytes > 0) {
        const ssize_t done = pwrite(file, at, bytes, place);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        at += done;
        place += done;
        bytes -= (size_t)done;
    }
    return true;
}

static bool read_at(int file, void *to, size_t bytes, off_t place) {
    char *at = to;
    while (bytes > 0) {
        const ssize_t done = pread(file, at, bytes, place);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        at += done;
        place += done;
        bytes -= (size_t)done;
    }
    return true;
}

static pbd_status take_rows(pbd_spool *s) {
    size_t width = 0;
    for (int k = 0; k < COLUMNS; k++)
        if (is_kept(s, k) && columns[k].width > width) width = columns[k].width;
    PBD_TRY_NEW(s->row, width * s->head.particles + 1);
    PBD_TRY_NEW(s->packed, width * s->head.particles + 1);
    return pbd_ok();
}

/* ---- The index --------------------------------------------------------------------------------------------------- */

/* Without an interval: makes room by dropping every second state. */
static void thin_out(pbd_spool *s) {
    size_t kept = 0;
    s->stride *= 2;
    for (size_t i = 0; i < s->states; i++)
        if (s->state[i].step % s->stride == 0) s->state[kept++] = s->state[i];
    s->states = kept;
}

static pbd_status index_state(pbd_spool *s, const spool_state *state) {
    if (s->states == s->room) {
        const size_t room = s->room ? 2 * s->room : 256;
        spool_state *states = realloc(s->state, room * sizeof *states);
        if (!states) return pbd_no_memory();
        s->state = states;
        s->room = room;
    }
    while (s->head.frames > 0 && !state->is_end && s->states + 1 >= (size_t)s->head.frames) thin_out(s);
    if (s->head.frames > 0 && !state->is_end && state->step % s->stride != 0) return pbd_ok();
    s->state[s->states++] = *state;
    return pbd_ok();
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static pbd_status check_size(const pbd_spool_plan *plan, const pbd_scene *scene) {
    const double each = plan->bytes_each * (double)scene->particles.count, all = each * plan->frames;
    if (!(plan->most_bytes > 0) || all <= plan->most_bytes) return pbd_ok();
    const int fewer = (int)fmax(floor(plan->most_bytes / each), 2);
    return pbd_error(PBD_BAD_INPUT,
                     "%d states of %zu particles take up to %.0f MB; the limit is %.0f MB: at most --frames %d, or "
                     "--max-mb %.0f",
                     plan->frames, scene->particles.count, 1e-6 * all, 1e-6 * plan->most_bytes, fewer,
                     ceil(1e-6 * all));
}

pbd_status pbd_spool_begin(const pbd_spool_plan *plan, const pbd_scene *scene, const pbd_method *method,
                           pbd_spool **out) {
    const bool moves = scene->duration > 0 && !scene->solved;
    *out = NULL;
    PBD_TRY(check_size(plan, scene));
    pbd_spool *s = calloc(1, sizeof *s);
    if (!s) return pbd_no_memory();
    *s = (pbd_spool){.file = plan->file, .scene = scene, .method = method, .interval = plan->interval, .stride = 1};
    s->moment = plan->moment;
    s->moments = moves ? plan->moments : 0;
    s->head = (spool_head){scene->particles.count, plan->fields | 1u << PBD_POSITIONS, 0};
    if (!(s->interval > 0) && moves && s->moments == 0)
        s->interval = scene->duration / (plan->frames > 1 ? plan->frames - 1 : 1);
    if (!moves) s->head.frames = plan->frames > 3 ? plan->frames : 3;
    const pbd_status status = take_rows(s);
    if (status.code == PBD_OK)
        *out = s;
    else
        pbd_spool_close(s);
    return status;
}

/* The number of moments up to a time (s). */
static size_t moments_until(const pbd_spool *s, double time) {
    size_t reached = 0;
    while (reached < s->moments && s->moment[reached] <= time * (1 + 1e-9)) reached++;
    return reached;
}

bool pbd_spool_wants(pbd_spool *s, double time, long step) {
    s->time = time;
    s->step = step;
    if (s->moments > 0)
        return moments_until(s, time) > (s->states ? moments_until(s, s->state[s->states - 1].time) : 0);
    if (s->states == 0) return true;
    if (s->head.frames > 0) return step % s->stride == 0;
    return floor(time / s->interval + 1e-6) > floor(s->state[s->states - 1].time / s->interval + 1e-6);
}

/* A field that the method lacks, as the first state shows, is left out of all states. */
static pbd_status write_column(pbd_spool *s, const void *state, int column, uint64_t number) {
    const size_t numbers = columns[column].width * s->head.particles;
    const pbd_status status = s->method->read(state, columns[column].field, s->row);
    if (status.code == PBD_NOT_SUPPORTED && number == 0 && column > 0) {
        s->head.fields &= ~((uint64_t)1 << columns[column].field);
        return pbd_ok();
    }
    PBD_TRY(status);
    for (size_t i = 0; i < numbers; i++) s->packed[i] = (float)s->row[i];
    if (write_at(s->file, s->packed, numbers * sizeof *s->packed, place_of(s, number, column))) return pbd_ok();
    return pbd_error(PBD_FAILED, "the positions of a run cannot be kept after %zu states: %s", s->written,
                     strerror(errno));
}

static pbd_status keep_state(pbd_spool *s, const void *state, bool is_end) {
    const spool_state kept = {s->time, s->step, is_end, s->written};
    for (int k = 0; k < COLUMNS; k++)
        if (is_kept(s, k)) PBD_TRY(write_column(s, state, k, kept.number));
    if (!write_at(s->file, &kept, sizeof kept, place_of(s, kept.number, 0) - (off_t)sizeof kept) ||
        !write_at(s->file, &s->head, sizeof s->head, 0))
        return pbd_error(PBD_FAILED, "the positions of a run cannot be kept after %zu states: %s", s->written,
                         strerror(errno));
    s->written++;
    return index_state(s, &kept);
}

pbd_status pbd_spool_keep(pbd_spool *s, const void *state) { return keep_state(s, state, false); }

pbd_status pbd_spool_end(pbd_spool *s, const void *state) {
    if (s->states == 0 || s->scene->solved) return keep_state(s, state, true);
    const spool_state *last = &s->state[s->states - 1];
    if (s->moments > 0 && moments_until(s, last->time) == s->moments) return pbd_ok();
    const bool is_near = last->step == s->step || s->time - last->time < 0.5 * s->interval;
    return is_near ? pbd_ok() : keep_state(s, state, true);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static pbd_status read_index(pbd_spool *s) {
    spool_state state;
    if (!read_at(s->file, &s->head, sizeof s->head, 0)) return pbd_ok(); /* the run ended before its first state */
    for (uint64_t n = 0; read_at(s->file, &state, sizeof state, place_of(s, n, 0) - (off_t)sizeof state); n++) {
        if (state.number != n) break; /* cut short */
        PBD_TRY(index_state(s, &state));
    }
    return take_rows(s);
}

pbd_status pbd_spool_open(int file, pbd_spool **out) {
    *out = NULL;
    pbd_spool *s = calloc(1, sizeof *s);
    if (!s) return pbd_no_memory();
    *s = (pbd_spool){.file = file, .stride = 1};
    const pbd_status status = read_index(s);
    if (status.code == PBD_OK)
        *out = s;
    else
        pbd_spool_close(s);
    return status;
}

size_t pbd_spool_states(const pbd_spool *s) { return s->states; }
double pbd_spool_time(const pbd_spool *s, size_t index) { return s->state[index].time; }
bool pbd_spool_has(const pbd_spool *s, pbd_field field) { return (s->head.fields >> field & 1) != 0; }

pbd_status pbd_spool_read(pbd_spool *s, size_t index, pbd_field field, double *out) {
    int column = 0;
    while (column < COLUMNS && columns[column].field != field) column++;
    if (column == COLUMNS || !is_kept(s, column)) return pbd_error(PBD_NOT_SUPPORTED, "the field was not kept");
    const size_t numbers = columns[column].width * s->head.particles;
    if (!read_at(s->file, s->packed, numbers * sizeof *s->packed, place_of(s, s->state[index].number, column)))
        return pbd_error(PBD_FAILED, "the positions of a run cannot be read again: %s", strerror(errno));
    for (size_t i = 0; i < numbers; i++) out[i] = (double)s->packed[i];
    return pbd_ok();
}
