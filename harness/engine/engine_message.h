/* Messages between the program and an engine, and the checks of an engine's answers (examples/engines/README.md).
 *
 *   magic u32 | bytes of JSON u32 | bytes of arrays u64 | JSON | arrays, in the order of its "arrays"
 *
 * All numbers are little-endian. Nothing from an engine is used before it is checked here. */
#ifndef PBD_ENGINE_MESSAGE_H
#define PBD_ENGINE_MESSAGE_H

#include <jansson.h>

#include "harness/exec/arena.h"

enum { PBD_ENGINE_PROTOCOL = 1, PBD_ENGINE_HEAD = 16 };
#define PBD_ENGINE_MAGIC 0x31444250u /* "PBD1" */
enum { PBD_ENGINE_MOST_JSON = 1 << 20, PBD_ENGINE_MOST_PARAMS = 60, PBD_ENGINE_MOST_STATE = 1 << 30 };

/* Fields that an engine can be asked for; bits of pbd_engine_hello.fields. */
#define PBD_ENGINE_FIELDS(F)     \
    F(POSITIONS, positions, 3)   \
    F(VELOCITIES, velocities, 3) \
    F(DEFORMATION_GRADIENTS, deformation_gradients, 9)

void pbd_engine_head_write(unsigned char head[PBD_ENGINE_HEAD], size_t json, uint64_t bytes);
/* PBD_FAILED for another magic, or more JSON than PBD_ENGINE_MOST_JSON. */
pbd_status pbd_engine_head_read(const unsigned char head[PBD_ENGINE_HEAD], size_t *json, uint64_t *bytes);

/* Parses the JSON of an answer; PBD_FAILED if it is not a JSON object. The caller frees *out. */
pbd_status pbd_engine_json_read(const char *text, size_t bytes, json_t **out);

/* PBD_OK for "ok": true, else the engine's own code and sentence. Codes: bad_input, not_supported, failed, diverged,
 * no_equilibrium, interrupted. */
pbd_status pbd_engine_answer_check(const json_t *answer);

/* Checks the only array of an answer: its name, type <f8 or <f4 (*single), and shape [rows, width], or [rows] if width
 * is 1. bytes: of the message's arrays. */
pbd_status pbd_engine_array_check(const json_t *answer, const char *name, size_t rows, size_t width, uint64_t bytes,
                                  bool *single);
/* Checks the array of a state: |u1, of any size up to PBD_ENGINE_MOST_STATE. */
pbd_status pbd_engine_blob_check(const json_t *answer, uint64_t bytes, size_t *size);

/* What an engine declares about itself. Texts belong to `memory` or to the JSON. */
typedef struct pbd_engine_hello {
    const char *engine, *version, *device, *masses, *integrator;
    unsigned needs, takes, precisions; /* PBD_NEEDS_*, PBD_TAKES_*, PBD_F32 or PBD_F64 */
    unsigned fields;                   /* 1 << pbd_field */
    const char *const *law;            /* ends with NULL; NULL: laws are not declared */
    bool saves, adaptive;
    pbd_param *param; /* ends with a NULL name */
    size_t params;
} pbd_engine_hello;

/* PBD_BAD_INPUT for another protocol, a missing or wrong entry, an unknown name (with the nearest). Parameters are
 * checked further with the method's table. *out keeps pointers into `answer` and `memory`. */
pbd_status pbd_engine_hello_read(const json_t *answer, pbd_arena *memory, pbd_engine_hello *out);

/* The answer to `step`. */
typedef struct pbd_engine_times {
    double wall, cpu; /* s, by the engine's clocks; cpu NAN: not reported */
    double advanced;  /* s: simulated time of the steps */
} pbd_engine_times;
pbd_status pbd_engine_times_read(const json_t *answer, double wanted, bool adaptive, pbd_engine_times *out);

/* Records the counts, metrics and warnings of an answer. PBD_FAILED for names and numbers that cannot be stored. */
pbd_status pbd_engine_report(const json_t *answer, pbd_recorder *recorder);

#endif
