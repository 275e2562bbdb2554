/* What a timed process is started from, made anew for each process.
 *
 * Two copies of one program can differ by several percent, for as long as they live, by where their pages lie in
 * memory, and by the length of the path and of the environment, which shift the stack (Mytkowycz et al. 2009; de
 * Oliveira et al. 2013). Nothing in the program differs, and more pairs of processes do not help, since the placement
 * belongs to the file. So each process gets a copy of its own, in memory, a name of fixed length and an environment
 * that is padded by a random length: the placement varies between pairs, and the interval contains it. (Randomise what
 * cannot be controlled: Curtsinger and Berger 2013.)
 */
#ifndef PBD_PROGRAM_IMAGE_H
#define PBD_PROGRAM_IMAGE_H

#include "methods/method.h"

enum { PBD_PAD_MOST = 4096 }; /* bytes: a page */

typedef struct pbd_program_image {
    int file;           /* in memory; -1: none */
    char text[40];      /* of its path */
    const char *path;   /* what to run; NULL: the program itself, where it is a script */
    char **environment; /* ours, with PBDBENCH_ROOT of the program's checkout and the pad */
    char *root, *pad;
} pbd_program_image;
#define PBD_NO_PROGRAM_IMAGE \
    { .file = -1 }

/* A copy of `program` and an environment that is `pad` bytes longer. To be kept until the process is started. A
 * program that cannot be copied (a script; no memory files) runs from where it is. */
pbd_status pbd_program_image_make(const char *program, size_t pad, pbd_program_image *out);
void pbd_program_image_free(pbd_program_image *image);

#endif
