/* What a method warns of whose gradients of velocity come from neighbours within a kernel. Host code. */
#ifndef PBD_KERNEL_WARNINGS_H
#define PBD_KERNEL_WARNINGS_H

#include "methods/method.h"

/* fastest: m/s; radius: r, half the kernel's support, m; few: particles, of so many, whose neighbours do not span
 * space. */
static inline void kernel_warnings(pbd_recorder *recorder, double fastest, double radius, double dt, double few,
                                   size_t particles) {
    const double courant = fastest * dt / radius;
    if (courant > 0.5)
        pbd_warning(recorder, "kernel_cfl",
                    "a particle moves %.3g r in a step of %g s: above r/2 neighbours can be missed", courant, dt);
    if (few > 0)
        pbd_warning(recorder, "few_neighbours",
                    "%g of %zu particles have neighbours in less than three directions: their gradients of velocity "
                    "are 0 along the others",
                    few, particles);
}

#endif
