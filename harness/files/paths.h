/* Where files are: the checkout's root, the default store, folders to be made. */
#ifndef PBD_PATHS_H
#define PBD_PATHS_H

#include "methods/method.h"

#define PBD_DEFAULT_DB "results/pbdbench.db"

/* The root of the checkout, where plots/ and results/ are: $PBDBENCH_ROOT, or found upwards from the executable. */
const char *pbd_root(void);
/* PBD_BAD_INPUT if that is no checkout: PBDBENCH_ROOT is another folder, or the program was moved out of its own. */
pbd_status pbd_root_check(void);
/* pbd_root for another program. root: PATH_MAX bytes. */
void pbd_root_of(const char *program, char *root);
/* ROOT/relative as a new string; the caller frees it. */
char *pbd_root_path(const char *relative);

/* The store's file: `given` by --db, or the default one under the root. A new string; NULL without memory. */
char *pbd_db_path(const char *given);

/* Makes a folder and those above it; PBD_BAD_INPUT when it cannot. */
pbd_status pbd_make_folders(const char *path);

#endif
