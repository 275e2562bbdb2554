/* A half space: the surface is z = 0 in its frame, z > 0 is outside. */
#if defined(COLLIDER_SHAPE)
COLLIDER_SHAPE(PLANE, plane)
#elif defined(V)

PBD_FN V(collider_gap) V(plane_gap)(const real half[3], V(vec3) x) {
    V(collider_gap) gap;
    (void)half;
    gap.distance = x.z;
    gap.normal = V(vec3_make)(V(real_set)(0), V(real_set)(0), V(real_set)(1));
    return gap;
}

#else
static const collider_shape plane_shape = {.name = "plane"};
#endif
