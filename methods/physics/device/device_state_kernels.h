/* The kernel of device_blocks_fold. */
#ifndef PBD_DEVICE_STATE_KERNELS_H
#define PBD_DEVICE_STATE_KERNELS_H

#include "harness/exec/kernel.h"

enum { DEVICE_FOLD = 32 }; /* rows that become one */

typedef struct device_fold_args {
    real *rows; /* blocks x width */
    size_t width, bounds, largest;
    size_t blocks, left; /* number of rows before and after */
} device_fold_args;

/* Reduces rows r, r + left, r + 2 left, ... into row r; no other item touches these. There is one item per number, so
 * that adjacent threads read adjacent numbers. */
PBD_ITEM(device_fold, device_fold_args, i, (DEVICE_FOLD + 1) * sizeof(real), DEVICE_FOLD) {
    const size_t column = i % a->width;
    real out = a->rows[i];
    for (size_t row = i / a->width + a->left; row < a->blocks; row += a->left) {
        const real x = a->rows[row * a->width + column];
        if (column < a->bounds)
            out = x < out || out != out ? x : out;
        else if (column < 2 * a->bounds)
            out = x > out || out != out ? x : out;
        else if (column < 2 * a->bounds + a->largest)
            out = x > out || x != x ? x : out;
        else
            out += x;
    }
    a->rows[i] = out;
}

#endif
