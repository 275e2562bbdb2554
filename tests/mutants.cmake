# Mutants: one line of a method, a part or a case, changed. tests/mutant_tests.cmake makes a CTest test of each, which
# must fail; a mutant that survives shows a hole in the tests. cmake/planted.cmake builds the whole program with one of
# them, to try `gate` on. mutant(NAME TEST HEADER FROM TO [SOURCE...]): a header of kernels; SOURCEs are those that read
# it, by default all per precision of the method TEST, or the shared solver methods/physics/ROOM/TEST.c.
# header_mutant(NAME TEST HEADER FROM TO): a header that is all that a test tests. source_mutant(NAME TEST SOURCE FROM
# TO): a source compiled once. program_mutant(NAME TEST SOURCE FROM TO): a source of the program that TEST calls.
set(kernels methods/pbd_distance/pbd_distance_kernels.h)
mutant(distance_sign pbd_distance ${kernels} "q[1] += q[3] * impulse.y;" "q[1] -= q[3] * impulse.y;")
mutant(gather_sign pbd_distance methods/physics/device/particle_kernels.h "? (real)-1 : (real)1;" "? (real)1 : (real)1;")
mutant(volume_sign pbd_distance ${kernels} "g[4] = ring4(p, 0, 5, 6, 7);" "g[4] = ring4(p, 0, 7, 6, 5);")
mutant(load_sign pbd_distance methods/physics/device/particle_kernels.h "(a->v[d] + a->dt * a->a[d])" "(a->v[d] - a->dt * a->a[d])")

set(elements methods/physics/parts/element_solver_kernels.h)
mutant(element_gradient_sign strain_energy ${elements} "vmat3_apply(p, vvec3_make(b[c], b[3 + c], b[6 + c]))" "vmat3_apply(p, vvec3_make(b[c], b[3 + c], -b[6 + c]))")
mutant(element_closing_sign strain_energy ${elements} "out[3] = vvec3_make(-sum.x, -sum.y, -sum.z);" "out[3] = vvec3_make(-sum.x, -sum.y, sum.z);")
mutant(multiplier_sign strain_energy methods/physics/matter/energy_constraint.h "(c + alpha * lambda)" "(c - alpha * lambda)")
mutant(plastic_sign strain_energy methods/physics/matter/plasticity.h "s->p = V(mat3_sub)(s->p, V(mat3_mul)(f, V(symmetric_matrix)(sp)));" "s->p = V(mat3_add)(s->p, V(mat3_mul)(f, V(symmetric_matrix)(sp)));")
mutant(second_fibre_sign strain_energy methods/strain_energy/strain_energy_kernels.h "element_entry(&a->view, a->lying, 2 * k - 1, first, count)" "-element_entry(&a->view, a->lying, 2 * k - 1, first, count)")
mutant(shear_sign strain_based methods/strain_based/strain_based_kernels.h "vvec3_sub(uf, vvec3_scale(s.value, ug))" "vvec3_add(uf, vvec3_scale(s.value, ug))")
mutant(strain_multiplier_sign strain_based methods/strain_based/strain_based_kernels.h "(s->value + alpha * lambda)" "(s->value - alpha * lambda)")
set(surface methods/physics/parts/surface_shape.h)
set(surfaces methods/physics/parts/surface_load_once.c methods/fem_implicit/elements_once.c)
mutant(load_middle surface_load ${surface} "4 * s * (1 - s)" "2 * s * (1 - s)" ${surfaces})
mutant(load_corner surface_load ${surface} "L[a] * (2 * L[a] - 1)" "L[a] * (2 * L[a] + 1)" ${surfaces})
set(material methods/fem_implicit/material.h)
mutant(stress_rows fem_implicit ${material} "P[3 + j] = (double)column[j].y;" "P[3 + j] = (double)column[j].z;")
mutant(tangent_sign fem_implicit ${material} "out[9 * (6 + k) + 3 * j + l] = (double)column[k].z;" "out[9 * (6 + k) + 3 * j + l] = -(double)column[k].z;")

set(particles methods/physics/parts/particle_energy_kernels.h)
mutant(particle_weight_sign corrected_sph ${particles} "2 * (k[3] * vvec3_dot(p.x, p.y)" "2 * (-k[3] * vvec3_dot(p.x, p.y)" methods/physics/parts/particle_energy.c)
mutant(particle_gather_sign corrected_sph ${particles} "sum.y -= t[0][1] * b.x" "sum.y += t[0][1] * b.x" methods/physics/parts/particle_energy.c)
mutant(particle_own_sign corrected_sph ${particles} "vvec3_scale(vreal_set(-1), particle_sum(v, first, count))" "particle_sum(v, first, count)" methods/physics/parts/particle_energy.c)

set(shape methods/physics/space/shape_kernels.h)
set(shapes methods/physics/space/shape_gradients_once.c methods/physics/space/shape_making.c)
mutant(shape_slope_sign mlsrk ${shape} "vec3_scale(-stands_for * value.slope, out.y)" "vec3_scale(stands_for * value.slope, out.y)" ${shapes})
mutant(shape_correction_sign mlsrk ${shape} "vec3_sub(p.gradient, vec3_scale(p.w, gamma))" "vec3_add(p.gradient, vec3_scale(p.w, gamma))" ${shapes})
mutant(shape_basis_sign mlsrk ${shape} "vec3_sub(change, vec3_scale(per, c1))" "vec3_add(change, vec3_scale(per, c1))" ${shapes})
set(contact methods/physics/parts/contact_kernels.h)
mutant(contact_friction_sign contact ${contact} "away = vvec3_sub(away, contact_friction(" "away = vvec3_add(away, contact_friction(")
mutant(contact_share contact ${contact} "vreal_max(one, vreal_max(crowd[0], other[0]))" "vreal_max(one, crowd[0])")
mutant(collider_side contact methods/physics/surface/collider_pose.h "c->container ? (real)-1 : (real)1;" "c->container ? (real)1 : (real)1;")

set(flow methods/physics/matter/flow)
header_mutant(flow_cone_sign flow_rules ${flow}/drucker_prager.h "e.norm + r->slope * trace" "e.norm - r->slope * trace")
header_mutant(flow_gain_sign flow_rules ${flow}/drucker_prager.h "gain + trace, gain - back" "gain + trace, gain + back")
header_mutant(flow_hardening_sign flow_rules ${flow}/nacc.h "t.log_j - K(0.5) * V(real_log)(square)" "K(0.5) * V(real_log)(square) - t.log_j")

set(smoothed methods/desbrun_sph/desbrun_sph_kernels.h)
mutant(cohesion_sign desbrun_sph ${smoothed} "(density - law->rest)" "(density + law->rest)")
mutant(viscosity_sign desbrun_sph ${smoothed} "(law.quadratic * near - law.linear)" "(law.quadratic * near + law.linear)")
mutant(prediction_sign desbrun_sph ${smoothed} "vec3_scale(age, load3(a->p.a, i))" "vec3_scale(-age, load3(a->p.a, i))")

mutant(xpbi_pressure_sign xpbi methods/xpbi/xpbi_constraint_kernels.h "vvec3_scale(2 * mu, e), lambda * trace)" "vvec3_scale(2 * mu, e), -lambda * trace)")
mutant(mpm_affine_sign mpm methods/mpm/mpm_kernels.h "out.b.y = vvec3_add(out.b.y, vvec3_scale(y.d[j % 3], sum));" "out.b.y = vvec3_sub(out.b.y, vvec3_scale(y.d[j % 3], sum));")
mutant(grain_friction_sign xpbd_grains methods/xpbd_grains/xpbd_grains_kernels.h "sum = vvec3_sub(sum, vvec3_scale(back, grain_friction(a, &g, &c)));" "sum = vvec3_add(sum, vvec3_scale(back, grain_friction(a, &g, &c)));")

set(snow methods/gissler_snow/gissler_snow_kernels.h)
mutant(snow_force_sign gissler_snow ${snow} "mat3_add(own, gissler_load_matrix(a->p.tensor" "mat3_sub(own, gissler_load_matrix(a->p.tensor")
mutant(snow_divergence_sign gissler_snow ${snow} "(mat3_trace(h) - mat3_trace(corrected)) / 3" "(mat3_trace(h) + mat3_trace(corrected)) / 3")
mutant(snow_stretch_side gissler_snow ${snow} "parts.v = parts.u;" "parts.u = parts.v;")

set(cloth methods/physics/parts/cloth_kernels.h)
mutant(cloth_shear_sign cloth ${cloth} "vvec3_add(lack1, vvec3_blend(ds.y, f1, ds.z, f0))" "vvec3_add(lack1, vvec3_blend(ds.y, f1, -ds.z, f0))")
mutant(cloth_multiplier_sign cloth ${cloth} "+ s.x - a->nu * s.y" "- s.x - a->nu * s.y")
mutant(cloth_hinge_sign cloth ${cloth} "vvec3_dot(b1, e) * per_length * tb, nb)" "-vvec3_dot(b1, e) * per_length * tb, nb)")
mutant(cloth_moment_sign cloth ${cloth} "+ s + ahead) / (1 + weight)" "- s + ahead) / (1 + weight)")

mutant(mesh_side contact methods/physics/surface/mesh_collider.h "side = vec3_dot(off, out) < 0 ?" "side = vec3_dot(off, out) > 0 ?")
mutant(mesh_weight_sign mesh_tree methods/physics/surface/mesh_search.h "best->weight[k] = 1 - t;" "best->weight[k] = 1 + t;")
mutant(mesh_box_sign mesh_tree methods/physics/surface/mesh_search.h "above = at[d] - box[3 + d];" "above = at[d] + box[3 + d];")

set(fluid methods/physics/parts/fluid_kernels.h)
mutant(fluid_pair_sign fluid ${fluid} "fluid_gather(a->change, at, count) * x[3] + l * b[3]" "fluid_gather(a->change, at, count) * x[3] - l * b[3]")
mutant(fluid_mirror_sign fluid ${fluid} "*square += 4 * m->distance[c] * m->other[c];" "*square -= 4 * m->distance[c] * m->other[c];")
mutant(fluid_multiplier_sign fluid ${fluid} "(excess - soft * from)" "(-excess - soft * from)")

set(cloth_contact methods/physics/parts/cloth_contact_kernels.h)
mutant(cloth_contact_reaction cloth_contact ${cloth_contact} "p[2] -= p[3] * sum.z;" "p[2] += p[3] * sum.z;")
mutant(cloth_contact_friction cloth_contact ${cloth_contact} "vec3_sub(was, vec3_scale(per, vec3_sub(r" "vec3_add(was, vec3_scale(per, vec3_sub(r")
mutant(cloth_contact_side cloth_contact ${cloth_contact} "real_sign(vec3_dot(off, area)) / size" "1 / size")

# Semicolons would split FROM.
source_mutant(start_lift starts cases/scenes/clearance.c "positions[3 * i + 2] += by" "positions[3 * i + 2] -= by")
source_mutant(start_step_back starts cases/scenes/clearance.c "c->centre[d] -= worst.depth" "c->centre[d] += worst.depth")
source_mutant(start_shrink starts cases/scenes/clearance.c "scene->contact.radius[i] *= share" "scene->contact.radius[i] /= share")
source_mutant(start_vessel starts cases/sampling/sampling_make.c "(l->whole ? 0.5 - ON_SURFACE : ON_SURFACE)" "ON_SURFACE")

set(statistics harness/compare/statistics.c)
source_mutant(statistics_bh statistics ${statistics} "q * (double)(i + 1) / (double)n" "q * (double)(i + 2) / (double)n")
source_mutant(statistics_bootstrap statistics ${statistics} "(size_t)(0.5 * alpha * (double)resamples)" "(size_t)(alpha * (double)resamples)")
source_mutant(statistics_tail statistics ${statistics} "critical_count(n, 0.5 * alpha)" "critical_count(n, alpha)")
source_mutant(statistics_ranks statistics ${statistics} "rank[k] = (i + 1) + j" "rank[k] = i + j")
source_mutant(statistics_margin statistics ${statistics} "i->low >= -limit && i->high <= limit" "i->low >= -limit || i->high <= limit")
set(pairing harness/compare/pairing.c)
source_mutant(pairing_control pairing ${pairing} "is_different(out->of_control.judgement.verdict)" "is_different(out->of_b.judgement.verdict) && false")
source_mutant(pairing_look pairing ${pairing} "PBD_ERROR_RATE / ratios->judgement.alpha" "1")
source_mutant(pairing_reverse pairing ${pairing} "out->order[out->pairs - 1][PBD_ARMS - 1 - i]" "out->order[out->pairs - 1][i]")
set(gate harness/compare/gate.c)
program_mutant(gate_suspects gate ${gate} "FALSE_DISCOVERIES, s->suspect" "0, s->suspect")
program_mutant(gate_alarms gate ${gate} "FALSE_DISCOVERIES, s->alarm" "0, s->alarm")
program_mutant(gate_confirm gate ${gate} "pbd_pairing_p(&line->again, limit, 1) <= FALSE_DISCOVERIES" "true")
