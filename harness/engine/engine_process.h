/* The process of an engine, and messages with it over a socket, its descriptor 3. Its standard output and error are its
 * log. It is in a process group of its own and is killed when it does not answer in time, when it breaks the protocol,
 * when the run is interrupted, and when this process ends. */
#ifndef PBD_ENGINE_PROCESS_H
#define PBD_ENGINE_PROCESS_H

#include "harness/engine/engine_message.h"

typedef struct pbd_engine_process {
    int pid;          /* 0: it has ended, or never was */
    int talk, log;    /* -1: closed */
    double patience;  /* s that it has for an answer */
    double end;       /* when the present one must be there */
    uint64_t pending; /* bytes of arrays that were not read yet */
    char words[400];  /* the last that it printed */
    pbd_status fault; /* why it ended: what every further call returns */
} pbd_engine_process;

typedef struct pbd_engine_start {
    const char *folder;             /* where it works */
    const char *const *words;       /* ends with NULL */
    const char *const *environment; /* NAME=VALUE, beside ours; ends with NULL */
    double patience;                /* s */
} pbd_engine_start;

/* PBD_FAILED when no process could be made. A program that is not there is met by the first question. */
pbd_status pbd_engine_process_start(const pbd_engine_start *start, pbd_engine_process *out);
/* Asks it to quit, waits a moment, kills it. Safe on a zeroed one. */
void pbd_engine_process_end(pbd_engine_process *process);

typedef struct pbd_engine_array {
    const char *name, *type; /* "<f8", "<u4", "|u1" */
    size_t rows, width, bytes;
    const void *data;
} pbd_engine_array;

/* Sends a request (owned) with arrays and reads the head and the JSON of the answer, which is checked for "ok". *answer
 * is the caller's. Arrays of the answer, process->pending bytes, are read by pbd_engine_take; all of them. */
pbd_status pbd_engine_ask(pbd_engine_process *process, json_t *request, const pbd_engine_array *array, size_t arrays,
                          json_t **answer);
/* For answers without arrays. */
pbd_status pbd_engine_ask_plain(pbd_engine_process *process, json_t *request, const pbd_engine_array *array,
                                size_t arrays, json_t **answer);
pbd_status pbd_engine_take(pbd_engine_process *process, void *to, size_t bytes);

/* Ends an engine that broke the protocol, and keeps why. */
pbd_status pbd_engine_break(pbd_engine_process *process, pbd_status why);

#endif
