/* Huge pages (2 MiB) for large arrays: one page fault instead of 512, and few TLB entries for rows that are read by
 * index. A hint for memory that was not written yet; without huge pages nothing changes. */
#ifndef PBD_HUGE_PAGES_H
#define PBD_HUGE_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

static inline void pbd_advise_huge(void *memory, size_t bytes) {
#if defined(MADV_HUGEPAGE)
    enum { PAGE = 4096, LARGE = 4 << 20 };
    if (bytes < LARGE) return;
    char *const begin = (char *)memory + (PAGE - (uintptr_t)memory % PAGE) % PAGE;
    const size_t left = bytes - (size_t)(begin - (char *)memory);
    (void)madvise(begin, left / PAGE * PAGE, MADV_HUGEPAGE);
#else
    (void)memory;
    (void)bytes;
#endif
}

#endif
