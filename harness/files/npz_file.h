/* NumPy archives: arrays by name, each an .npy file (NEP 1) in a zip, deflated. numpy.load reads them.
 *
 *     npz_file npz;
 *     PBD_TRY(npz_begin(path, &npz));
 *     npz_array(&npz, "position", "<f8", (const size_t[]){states, particles, 3}, 3);
 *     for (...) npz_write(&npz, row, bytes);         as many bytes in all as the shape says
 *     return npz_end(&npz);
 *
 * Failures are recorded and reported by npz_end. */
#ifndef PBD_NPZ_FILE_H
#define PBD_NPZ_FILE_H

#include <stdio.h>
#include <zlib.h>

#include "methods/method.h"

enum { NPZ_MOST_ARRAYS = 16, NPZ_NAME = 40 };

typedef struct npz_entry {
    char name[NPZ_NAME]; /* with .npy */
    uint32_t crc;
    uint64_t packed, bytes, place;
} npz_entry;

typedef struct npz_file {
    FILE *file;
    const char *path;
    size_t entries;
    npz_entry entry[NPZ_MOST_ARRAYS];
    z_stream stream;
    bool is_open, failed; /* is_open: an entry; failed: something was not written */
} npz_file;

/* PBD_FAILED with the path and why. The path must outlive it. */
pbd_status npz_begin(const char *path, npz_file *out);
/* type: as NumPy spells it, "<f8"; the last index varies fastest. */
void npz_array(npz_file *npz, const char *name, const char *type, const size_t *shape, int dimensions);
void npz_write(npz_file *npz, const void *bytes, size_t count);
/* PBD_FAILED: the disk is full, or an array is larger than 4 GB. Closes the file in any case. */
pbd_status npz_end(npz_file *npz);

#endif
