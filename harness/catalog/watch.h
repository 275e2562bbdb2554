/* A wrapper around a method that records which of its functions is running, so that the parent can report it after a
 * crash of the child process. */
#ifndef PBD_WATCH_H
#define PBD_WATCH_H

#include "harness/catalog/registry.h"
#include "harness/process/apart.h"

typedef struct pbd_watched {
    pbd_method method[2];
    pbd_method_entry entry; /* the wrapped method, to be run */
} pbd_watched;

/* For one entry per child process, since a method's `create` takes no context. *out must not move. */
void pbd_watch(const pbd_method_entry *entry, pbd_place *place, pbd_watched *out);

#endif
