/* The rows of mpm's particles. */
#ifndef PBD_MPM_ROWS_H
#define PBD_MPM_ROWS_H

#include "harness/exec/batch.h"
#include "methods/physics/math/mat3.h"

/* Rows of a particle; matrices are stored column by column. */
enum {
    MPM_PLACE = 0,   /* x, y, z, m; mass, kg */
    MPM_MOTION = 1,  /* velocity, m/s; hardening state of the flow rule */
    MPM_AFFINE = 2,  /* 9: affine momentum, kg m/s: m C dx - 4 dt V tau/dx; then V, m^3; 1/m, 0: held */
    MPM_STRETCH = 5, /* 9: the elastic deformation gradient */
    MPM_ROWS = 8
};
enum { MPM_VOLUME = 9, MPM_INVERSE = 10 }; /* offsets after the nine of MPM_AFFINE */

/* Loads rows first .. first + count of the particles index[]; entries are consecutive in out. */
PBD_FN void mpm_load(const real *rows, int first, int count, const uint32_t *index, int lanes, vreal *out) {
    for (int r = 0; r < count; r++) batch_load_rows(rows + 4 * (first + r), index, 1, lanes, out + 4 * r);
}

PBD_FN void mpm_store(real *rows, int first, int count, const uint32_t *index, int lanes, const vreal *in) {
    for (int r = 0; r < count; r++) batch_store_rows(rows + 4 * (first + r), index, 1, lanes, in + 4 * r);
}

PBD_FN vmat3 mpm_matrix(const vreal *e) {
    return vmat3_make(vvec3_make(e[0], e[1], e[2]), vvec3_make(e[3], e[4], e[5]), vvec3_make(e[6], e[7], e[8]));
}

PBD_FN void mpm_entries(vmat3 m, vreal *e) {
    const vvec3 column[3] = {m.x, m.y, m.z};
    for (int c = 0; c < 3; c++) {
        e[3 * c] = column[c].x;
        e[3 * c + 1] = column[c].y;
        e[3 * c + 2] = column[c].z;
    }
}

#endif
