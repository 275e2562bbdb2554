#include "cases/scenes/person.h"

#include <math.h>
#include <string.h>

#define REAL double
#include "methods/physics/surface/colliders.h"

/* A capsule of a person of height 1 who stands on z = 0 and looks along -x. */
typedef struct body_part {
    double from[3], to[3], radius;
} body_part;

static const body_part parts[PERSON_PARTS] = {
    {{-0.005, 0, 0.91}, {0.005, 0, 0.93}, 0.075},  /* head */
    {{0, 0, 0.8}, {0, 0, 0.88}, 0.04},             /* neck */
    {{0, -0.06, 0.73}, {0, 0.06, 0.73}, 0.085},    /* chest */
    {{0, 0, 0.56}, {0, 0, 0.7}, 0.09},             /* belly */
    {{0, -0.05, 0.52}, {0, 0.05, 0.52}, 0.075},    /* hips */
    {{0, -0.15, 0.78}, {0.01, -0.2, 0.62}, 0.038}, /* upper arms */
    {{0, 0.15, 0.78}, {0.01, 0.2, 0.62}, 0.038},
    {{0.01, -0.2, 0.62}, {-0.06, -0.21, 0.48}, 0.033}, /* forearms */
    {{0.01, 0.2, 0.62}, {-0.06, 0.21, 0.48}, 0.033},
    {{0, -0.075, 0.5}, {0, -0.085, 0.05}, 0.05}, /* legs */
    {{0, 0.075, 0.5}, {0, 0.085, 0.05}, 0.05},
    {{0.02, -0.085, 0.035}, {-0.09, -0.095, 0.035}, 0.035}, /* feet */
    {{0.02, 0.085, 0.035}, {-0.09, 0.095, 0.035}, 0.035},
};

static void place_point(const person_pose *pose, const double from[3], double out[3]) {
    const double angle = pose->pitch * 3.14159265358979323846 / 180, c = cos(angle), s = sin(angle);
    const double about[3] = {from[0], from[1], from[2] - 0.5};
    out[0] = pose->height * (c * about[0] - s * about[2]);
    out[1] = pose->height * about[1];
    out[2] = pose->height * (s * about[0] + c * about[2]);
}

void person_add(pbd_scene *scene, const person_pose *pose, double velocity, double end, double friction) {
    double lowest = INFINITY;
    for (int k = 0; k < PERSON_PARTS; k++)
        for (int side = 0; side < 2; side++) {
            double at[3];
            place_point(pose, side ? parts[k].to : parts[k].from, at);
            lowest = fmin(lowest, at[2] - pose->height * parts[k].radius);
        }
    for (int k = 0; k < PERSON_PARTS; k++) {
        double a[3], b[3];
        place_point(pose, parts[k].from, a);
        place_point(pose, parts[k].to, b);
        a[0] += pose->at;
        b[0] += pose->at;
        a[2] += pose->foot - lowest;
        b[2] += pose->foot - lowest;
        pbd_collider *c = particle_add_capsule(scene, a, b, pose->height * parts[k].radius, friction);
        if (end > 0) c->velocity[2] = velocity;
        c->end = end;
    }
}

bool person_over(const pbd_scene *scene, size_t first, double time, const double at[2], double *low, double *high) {
    enum { STEPS = 16 };
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t c = first; c < scene->colliders.count; c++) {
        const collider_pose part = collider_pose_over(&scene->colliders.item[c], time, 0);
        for (int k = 0; k <= STEPS; k++) {
            const double along = part.half[2] * (2.0 * k / STEPS - 1), radius = part.half[0];
            double centre[3], square = 0;
            for (int d = 0; d < 3; d++) centre[d] = part.centre[d] + along * part.axis[6 + d];
            for (int d = 0; d < 2; d++) square += (at[d] - centre[d]) * (at[d] - centre[d]);
            if (!(square < radius * radius)) continue;
            const double half = sqrt(radius * radius - square);
            *low = fmin(*low, centre[2] - half);
            *high = fmax(*high, centre[2] + half);
        }
    }
    return *low <= *high;
}
