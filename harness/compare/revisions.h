/* Programs of git revisions, each built in a separate work tree under build/revisions/SHA: what `compare --rev-a` and
 * `gate --baseline` time. The checkout's own files are never touched. */
#ifndef PBD_REVISIONS_H
#define PBD_REVISIONS_H

#include "harness/files/paths.h"
#include "methods/method.h"

typedef struct pbd_revision {
    char sha[41];
    char *program; /* path of its pbdbench. Owned: pbd_revision_free */
    bool built;    /* is there already */
} pbd_revision;
void pbd_revision_free(pbd_revision *revision); /* safe on a zeroed one */

/* Asks git which commit `name` is. `root`: of the checkout (pbd_root). PBD_BAD_INPUT when there is no such revision, or
 * no checkout, or no git. */
pbd_status pbd_revision_find(const char *root, const char *name, pbd_revision *out);

/* Builds its program by the preset `release`, without tests, and without CUDA unless `cuda`; takes a minute or two, and
 * nothing when it was built before. Two processes may ask for one revision: the second waits. PBD_FAILED names the log
 * of a build that fails. */
pbd_status pbd_revision_build(const char *root, bool cuda, pbd_revision *revision);

#endif
