/* The time that an elastic wave takes from particle to particle: the measure of a time step. Host code, in f64. */
#ifndef PBD_WAVE_H
#define PBD_WAVE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "methods/method.h"

/* m/s: of pressure waves at rest, c = sqrt((lambda + 2 mu)/density), in the fastest of a scene's continua. A fibre adds
 * twice its stiffness to the modulus (pbd_material). 0: none is elastic. */
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

/* s: from a particle to the next; infinite where particles are no samples, or not elastic. */
static inline double wave_crossing(const pbd_scene *scene) {
    const double speed = fastest_wave(scene);
    return scene->particles.spacing > 0 && speed > 0 ? scene->particles.spacing / speed : (double)INFINITY;
}

/* Rounded down to two digits; but 0.005, which is no sum of powers of two, stays 0.005. */
static inline double round_step(double dt) {
    if (!(dt > 0) || !isfinite(dt)) return (double)NAN;
    const double power = floor(log10(dt)) - 1;
    char text[40];
    snprintf(text, sizeof text, "%.0fe%.0f", floor(dt / pow(10, power) * (1 + 1e-12)), power);
    return strtod(text, NULL);
}

#endif
