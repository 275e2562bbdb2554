/* A wrapper of a method that records the function it is in: after a crash of the child process, the parent reports it.
 */
#ifndef PBD_WATCH_H
#define PBD_WATCH_H

#include "harness/catalog/registry.h"
#include "harness/process/apart.h"

typedef struct pbd_watched {
    pbd_method method[2];
    pbd_method_entry entry; /* what to run: the same method, watched */
} pbd_watched;

/* One entry a process, the child: a method's `create` has no room for a context. *out must stay where it is. */
void pbd_watch(const pbd_method_entry *entry, pbd_place *place, pbd_watched *out);

#endif
