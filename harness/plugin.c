/* Loading plug-ins, with a sentence for everything that can be wrong with one. A crash while loading (a constructor of
 * the library) is the one thing that cannot be caught here; `plugin check` loads in a process of its own. */
#include "harness/plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/values.h"

static size_t loaded; /* how many, in this process */

bool pbd_plugins_loaded(void) { return loaded > 0; }

static pbd_status missing(const pbd_method *m, const char *what) {
    return pbd_error(PBD_BAD_INPUT, "method %s has no %s: fill in that member of its pbd_method", m->name, what);
}

static pbd_status check_params(const pbd_method *m) {
    for (const pbd_param *p = m->params; p->name; p++) {
        pbd_value value;
        if (!p->unit || !p->preset || !p->doc)
            return pbd_error(PBD_BAD_INPUT, "parameter %s of method %s lacks its unit, default or doc", p->name,
                             m->name);
        if (p->kind == PBD_CHOICE && (!p->choices || !p->choices[0]))
            return pbd_error(PBD_BAD_INPUT, "parameter %s of method %s has no choices", p->name, m->name);
        const pbd_status status = pbd_parse_value(p, p->preset, m->name, &value);
        if (status.code != PBD_OK)
            return pbd_error(PBD_BAD_INPUT, "the default of a parameter is none of its values: %.300s", status.text);
        for (const pbd_param *other = m->params; other != p; other++)
            if (strcmp(other->name, p->name) == 0)
                return pbd_error(PBD_BAD_INPUT, "method %s has two parameters %s", m->name, p->name);
    }
    return pbd_ok();
}

pbd_status pbd_method_check(const pbd_method *m) {
    if (m->abi != PBD_METHOD_ABI)
        return pbd_error(PBD_NOT_SUPPORTED, "it was built for contract %u of methods, this program has %u: rebuild it",
                         m->abi, PBD_METHOD_ABI);
    if (!m->name || !*m->name) return pbd_error(PBD_BAD_INPUT, "its method has no name");
    const struct {
        bool there;
        const char *what;
    } slot[] = {
        {m->summary != NULL, "summary"}, {m->source != NULL, "source"},     {m->params != NULL, "params"},
        {m->create != NULL, "create"},   {m->read != NULL, "read"},         {m->save != NULL, "save"},
        {m->load != NULL, "load"},       {m->destroy != NULL, "destroy"},   {m->step || m->solve, "step and no solve"},
        {m->backends != 0, "backends"},  {m->precisions != 0, "precisions"}};
    for (size_t i = 0; i < sizeof slot / sizeof *slot; i++)
        if (!slot[i].there) return missing(m, slot[i].what);
    if (m->backends > 7 || m->precisions > 3)
        return pbd_error(PBD_BAD_INPUT,
                         "method %s names backends %u and precisions %u, of which this program knows %u and %u",
                         m->name, m->backends, m->precisions, 7u, 3u);
    return check_params(m);
}

static pbd_status in_file(const char *path, pbd_status why) {
    if (why.code == PBD_OK) return why;
    return pbd_error(why.code, "plug-in '%.120s': %.240s", path, why.text);
}

/* Not dlopen's search path: a plug-in is a file that somebody named. */
static pbd_status open_library(const char *path, void **handle) {
    char whole[4096];
    if (access(path, R_OK) != 0) return pbd_error(PBD_BAD_INPUT, "there is no such file");
    snprintf(whole, sizeof whole, "%s%s", strchr(path, '/') ? "" : "./", path);
    *handle = dlopen(whole, RTLD_NOW | RTLD_LOCAL);
    if (*handle) return pbd_ok();
    const char *why = dlerror();
    return pbd_error(PBD_BAD_INPUT, "it cannot be loaded: %.200s", why ? why : "unknown");
}

static pbd_status find_library(const char *path, void *handle, const pbd_plugin_library **out) {
    (void)path;
    *out = dlsym(handle, "pbd_plugin");
    if (!*out)
        return pbd_error(PBD_BAD_INPUT, "it has no symbol 'pbd_plugin': methods/plugin.h tells how to define it");
    if ((*out)->abi != PBD_PLUGIN_ABI)
        return pbd_error(PBD_NOT_SUPPORTED, "it was built for plug-in contract %u, this program has %u: rebuild it",
                         (*out)->abi, PBD_PLUGIN_ABI);
    if (!(*out)->f32 || !(*out)->f64) return pbd_error(PBD_BAD_INPUT, "its method is not compiled in both precisions");
    return pbd_ok();
}

static pbd_status load(const char *path) {
    void *handle;
    const pbd_plugin_library *library;
    PBD_TRY(open_library(path, &handle));
    pbd_status status = find_library(path, handle, &library);
    if (status.code == PBD_OK) status = pbd_method_check(library->f32);
    if (status.code == PBD_OK) status = pbd_method_check(library->f64);
    if (status.code == PBD_OK)
        status = pbd_registry_add(
            &(pbd_method_entry){{[PBD_PRECISION_F32] = library->f32, [PBD_PRECISION_F64] = library->f64}});
    if (status.code == PBD_OK)
        loaded++;
    else
        dlclose(handle);
    return status;
}

pbd_status pbd_plugin_load(const char *path) { return in_file(path, load(path)); }

pbd_status pbd_plugins_load(const pbd_texts *paths) {
    for (size_t i = 0; i < paths->count; i++) PBD_TRY(pbd_plugin_load(paths->item[i]));
    return pbd_ok();
}
