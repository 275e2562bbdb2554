#include "harness/rank/profiles.h"

#include <math.h>

double pbd_performance_profile(const double *cost, size_t problems, size_t methods, size_t method, size_t without,
                               double ratio) {
    size_t near = 0;
    for (size_t p = 0; p < problems; p++) {
        double least = INFINITY;
        for (size_t m = 0; m < methods; m++)
            if (m != without) least = fmin(least, cost[p * methods + m]);
        const double mine = cost[p * methods + method];
        near += isfinite(mine) && mine <= ratio * least;
    }
    return problems ? (double)near / (double)problems : 0;
}

double pbd_data_profile(const double *cost, const double *unit, size_t problems, size_t methods, size_t method,
                        double budget) {
    size_t done = 0;
    for (size_t p = 0; p < problems; p++) {
        const double mine = cost[p * methods + method];
        done += isfinite(mine) && mine <= budget * unit[p];
    }
    return problems ? (double)done / (double)problems : 0;
}
