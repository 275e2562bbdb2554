/* Meshes of Debian's package libcgal-demo by name: cgal:cow is its data/meshes/cow.off. The package is downloaded and
 * unpacked into the user's cache when one is first named, without root; nothing of it is in this repository. */
#ifndef PBD_SCANS_H
#define PBD_SCANS_H

#include "methods/method.h"

/* Sees that the file of a name cgal:NAME is in the cache; other paths are no concern of it. PBD_BAD_INPUT says what to
 * do where the package cannot be had. */
pbd_status pbd_scan_fetch(const char *path);

/* The warnings of a run: `scan`, that a mesh differs from the one of this name that the program knows; `stand_in`, that
 * a blend of ellipsoids stands for such a mesh. */
void pbd_warn_of_scans(const pbd_values *values, pbd_recorder *recorder);

#endif
