/* The time that an elastic wave takes from particle to particle, by which time steps are chosen. Host code, in f64. */
#ifndef PBD_WAVE_H
#define PBD_WAVE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "methods/method.h"

/* Returns the speed, m/s, of pressure waves at rest, c = sqrt((lambda + 2 mu)/density), in the fastest of a scene's
 * continua. A fibre adds twice its stiffness to the modulus (pbd_material). 0: no continuum is elastic. */
static inline double fastest_wave(const pbd_scene *scene) {
    double fastest = 0;
    for (size_t k = 0; k < (scene->materials > 0 ? scene->materials : 1); k++) {
        const pbd_material *m = &scene->material[k];
        if (m->matter != PBD_CONTINUUM || !(m->density > 0)) continue;
        double modulus = m->E * (1 - m->nu) / ((1 + m->nu) * (1 - 2 * m->nu));
        for (int f = 0; f < PBD_MOST_FIBRES; f++) modulus += 2 * m->fibre_stiffness[f];
        fastest = fmax(fastest, sqrt(modulus / m->density));
    }
    return fastest;
}

/* Returns the time, s, of such a wave from one particle to the next; infinite if particles are not samples or not
 * elastic. */
static inline double wave_crossing(const pbd_scene *scene) {
    const double speed = fastest_wave(scene);
    return scene->particles.spacing > 0 && speed > 0 ? scene->particles.spacing / speed : (double)INFINITY;
}

/* Rounds down to two digits, with a tolerance for numbers such as 0.005 that are not exact in binary: 0.005 stays
 * 0.005. */
static inline double round_step(double dt) {
    if (!(dt > 0) || !isfinite(dt)) return (double)NAN;
    const double power = floor(log10(dt)) - 1;
    char text[40];
    snprintf(text, sizeof text, "%.0fe%.0f", floor(dt / pow(10, power) * (1 + 1e-12)), power);
    return strtod(text, NULL);
}

#endif
