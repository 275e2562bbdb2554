/* Memory of one call. It is freed when the scope that declared the arena ends, also by an early return:
 *
 *     pbd_arena a PBD_ARENA;
 *     real *rows = pbd_new(&a, real, 4 * n);
 *     uint32_t *id = pbd_new(&a, uint32_t, n);
 *     PBD_TRY(pbd_arena_check(&a));            PBD_FAILED if any of them was refused
 *     PBD_TRY(pbd_download(exec, rows, x, 4 * n * sizeof *rows));
 *
 * PBD_CLEANUP does the same for any type with a free function that is safe on a zeroed value. PBD_TRY_NEW is for memory
 * that outlives the call. These macros need gcc or clang. */
#ifndef PBD_ARENA_H
#define PBD_ARENA_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/huge_pages.h"
#include "methods/method.h"

/* Calls FREE(&variable) at the end of the variable's scope. */
#define PBD_CLEANUP(FREE) __attribute__((cleanup(FREE)))

/* count x size bytes of zeros, which the caller frees with free(); NULL after a failure. */
static inline void *pbd_zeros(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory) pbd_advise_huge(memory, count * size);
    return memory;
}

typedef struct pbd_arena_block {
    struct pbd_arena_block *before;
    _Alignas(max_align_t) char memory[];
} pbd_arena_block;

typedef struct pbd_arena {
    pbd_arena_block *last;
    size_t taken, refused; /* bytes; refused: size of the first request that failed, 0: none */
} pbd_arena;

static inline void pbd_arena_free(pbd_arena *a) {
    while (a->last) {
        pbd_arena_block *block = a->last;
        a->last = block->before;
        free(block);
    }
    *a = (pbd_arena){0};
}

#define PBD_ARENA PBD_CLEANUP(pbd_arena_free) = {0}

/* count x size bytes of zeros, aligned for any type; the arena owns them. NULL after a failure, which
 * pbd_arena_check reports. */
static inline void *pbd_arena_take(pbd_arena *a, size_t count, size_t size) {
    size_t bytes = 0;
    const bool fits = !__builtin_mul_overflow(count, size, &bytes) && bytes < SIZE_MAX - sizeof(pbd_arena_block);
    pbd_arena_block *block = a->refused == 0 && fits ? pbd_zeros(1, sizeof *block + bytes) : NULL;
    if (!block) {
        if (a->refused == 0) a->refused = fits && bytes > 0 ? bytes : SIZE_MAX;
        return NULL;
    }
    block->before = a->last;
    a->last = block;
    a->taken += bytes;
    return block->memory;
}

/* Extends an array of `count` elements by one zeroed element. `array` is the address of its pointer, which starts as
 * NULL and is only extended here. False after a failure, which pbd_arena_check reports. */
static inline bool pbd_arena_more(pbd_arena *a, void *array, size_t count, size_t size) {
    void *old, *grown;
    if ((count & (count - 1)) != 0) return true;
    if (!(grown = pbd_arena_take(a, count ? 2 * count : 1, size))) return false;
    memcpy(&old, array, sizeof old);
    if (count > 0) memcpy(grown, old, count * size);
    memcpy(array, &grown, sizeof grown);
    return true;
}

#define pbd_new(ARENA, TYPE, COUNT) ((TYPE *)pbd_arena_take(ARENA, COUNT, sizeof(TYPE)))

static inline char *pbd_new_text(pbd_arena *a, const char *text) {
    const size_t bytes = strlen(text) + 1;
    char *copy = pbd_new(a, char, bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

static inline pbd_status pbd_arena_check(const pbd_arena *a) {
    if (a->refused == 0) return pbd_ok();
    return pbd_error(PBD_FAILED, "out of memory: %.3g MB more were requested, beside %.3g MB in use by the same call",
                     1e-6 * (double)a->refused, 1e-6 * (double)a->taken);
}

__attribute__((format(printf, 2, 3))) static inline char *pbd_new_format(pbd_arena *a, const char *format, ...) {
    va_list first, second;
    va_start(first, format);
    va_copy(second, first);
    const int length = vsnprintf(NULL, 0, format, first);
    char *text = pbd_new(a, char, length < 0 ? SIZE_MAX : (size_t)length + 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, second);
    va_end(second);
    va_end(first);
    return text;
}

/* For a library call that returned NULL. */
static inline pbd_status pbd_no_memory(void) { return pbd_error(PBD_FAILED, "out of memory"); }

/* For memory that outlives the call, such as the arrays of a scene: allocates COUNT zeroed elements by calloc; on
 * failure returns from the calling function. */
#define PBD_TRY_NEW(POINTER, COUNT)                                    \
    do {                                                               \
        (POINTER) = pbd_zeros((size_t)(COUNT) + 1, sizeof *(POINTER)); \
        if (!(POINTER)) return pbd_no_memory();                        \
    } while (0)

/* For PBD_CLEANUP: pointers from malloc, and files; NULL is allowed. */
static inline void pbd_free_memory(void *pointer) {
    void *memory;
    memcpy(&memory, pointer, sizeof memory);
    free(memory);
}
static inline void pbd_close_file(FILE **file) {
    if (*file) fclose(*file);
}

#endif
