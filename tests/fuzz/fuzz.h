/* What the functions of the formats share: fuzz_FORMAT takes an input, and ends with PBD_OK or with a sentence of bad
 * input; sanitizers see the rest. */
#ifndef PBD_FUZZ_H
#define PBD_FUZZ_H

#include "harness/exec/arena.h"

/* A line of the list, and a function in files.c, words.c or records.c. */
#define FORMATS(F) \
    F(msh)         \
    F(inp)         \
    F(obj)         \
    F(off)         \
    F(ply)         \
    F(stl)         \
    F(points)      \
    F(triangles)   \
    F(figure)      \
    F(sweep)       \
    F(gate) F(papers) F(problems) F(scene) F(csv) F(rows) F(words) F(import) F(records) F(manifest) F(engine) F(store)

#define PROTOTYPE(NAME) void fuzz_##NAME(const uint8_t *data, size_t size);
FORMATS(PROTOTYPE)
#undef PROTOTYPE

/* The machine fails, not the input: prints `what` and errno, and aborts. */
_Noreturn void give_up(const char *what);
/* The path of a file in the folder of this process, which is PBDBENCH_ROOT; kept for the last two. */
const char *in_place(const char *name);
const char *write_file(const char *name, const void *bytes, size_t size); /* in_place; returns its path */
/* Whether it is PBD_OK; aborts on another failure than bad input with a sentence. */
bool judge(pbd_status status);
/* The input with a NUL behind it, in memory of just that size; the caller frees it. */
char *text_of(const uint8_t *data, size_t size);

#endif
