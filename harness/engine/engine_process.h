/* The process of an engine, and messages with it over a socket, which is its descriptor 3. Its standard output and
 * error are its log. It is in a process group of its own and is killed when it does not answer in time, when it breaks
 * the protocol, when the run is interrupted, and when this process ends. */
#ifndef PBD_ENGINE_PROCESS_H
#define PBD_ENGINE_PROCESS_H

#include "harness/engine/engine_message.h"

typedef struct pbd_engine_process {
    int pid;          /* 0: it has ended or was never started */
    int talk, log;    /* -1: closed */
    double patience;  /* s: time limit of an answer */
    double end;       /* s, of pbd_wall_seconds: deadline of the current answer */
    uint64_t pending; /* bytes of the answer's arrays that were not read yet */
    char words[400];  /* end of its output */
    pbd_status fault; /* why it ended; returned by every further call */
} pbd_engine_process;

typedef struct pbd_engine_start {
    const char *folder;             /* its working directory */
    const char *const *words;       /* ends with NULL */
    const char *const *environment; /* NAME=VALUE, added to ours; ends with NULL */
    double patience;                /* s */
} pbd_engine_start;

/* PBD_FAILED if no process can be created. A missing program is noticed only by the first request. */
pbd_status pbd_engine_process_start(const pbd_engine_start *start, pbd_engine_process *out);
/* Asks it to quit, waits a moment, kills it. Safe on a zeroed one. */
void pbd_engine_process_end(pbd_engine_process *process);

typedef struct pbd_engine_array {
    const char *name, *type; /* "<f8", "<u4", "|u1" */
    size_t rows, width, bytes;
    const void *data;
} pbd_engine_array;

/* Sends a request (owned) with arrays and reads the head and the JSON of the answer, which is checked for "ok". The
 * caller frees *answer, and must read all of its arrays, process->pending bytes, with pbd_engine_take. */
pbd_status pbd_engine_ask(pbd_engine_process *process, json_t *request, const pbd_engine_array *array, size_t arrays,
                          json_t **answer);
/* The same for answers without arrays. */
pbd_status pbd_engine_ask_plain(pbd_engine_process *process, json_t *request, const pbd_engine_array *array,
                                size_t arrays, json_t **answer);
pbd_status pbd_engine_take(pbd_engine_process *process, void *to, size_t bytes);

/* Kills an engine that broke the protocol. Keeps the reason as its fault, and returns it. */
pbd_status pbd_engine_break(pbd_engine_process *process, pbd_status why);

#endif
