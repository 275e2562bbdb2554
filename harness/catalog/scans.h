/* Meshes of Debian's package libcgal-demo by name: cgal:cow is its data/meshes/cow.off. The package is downloaded and
 * unpacked into the user's cache when one is first named, without root; nothing of it is in this repository. */
#ifndef PBD_SCANS_H
#define PBD_SCANS_H

#include "methods/method.h"

/* Downloads the package unless the file of `path`, cgal:NAME, is in the cache; does nothing for other paths.
 * PBD_BAD_INPUT says what to do if it cannot be downloaded. */
pbd_status pbd_scan_fetch(const char *path);

/* Records the warning `scan` if a mesh differs from the one that the program knows by this name. */
void pbd_warn_of_scans(const pbd_values *values, pbd_recorder *recorder);

#endif
