// An engine for pbdbench in C++17: one header, no other library. examples/engines/README.md describes the protocol.
//
//     struct Mine : pbd::Engine {
//         Mine() { engine = "mine", version = "0.1", needs = {"tets"}, takes = {"elasticity"}; }
//         void create(const pbd::Scene &s) override { x = s.reals("positions"); ... }
//         void step(double dt, long n, pbd::Report &) override { ... }
//         std::vector<double> read(const std::string &field) override { return x; }
//     };
//     int main() { Mine mine; return pbd::serve(mine); }
#ifndef PBD_ENGINE_HPP
#define PBD_ENGINE_HPP

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace pbd {

constexpr int protocol = 1, descriptor = 3;
constexpr uint32_t magic = 0x31444250u;

// What an engine cannot do. Codes: bad_input, not_supported, failed, diverged, no_equilibrium, interrupted.
struct Error : std::runtime_error {
    std::string code;
    Error(std::string code_, const std::string &says) : std::runtime_error(says), code(std::move(code_)) {}
};

// A JSON value as it is read. A key or index that is not there gives an empty value.
struct Json {
    enum Kind { null, boolean, number, text, list, object } kind = null;
    double value = 0;
    std::string words;
    std::vector<Json> items;
    std::vector<std::pair<std::string, Json>> members;

    const Json &operator[](const std::string &key) const {
        static const Json none;
        for (const auto &m : members)
            if (m.first == key) return m.second;
        return none;
    }
    const Json &operator[](size_t i) const {
        static const Json none;
        return i < items.size() ? items[i] : none;
    }
    size_t size() const { return items.size(); }
    double real() const { return value; }
    long integer() const { return std::lround(value); }
    bool is(const char *w) const { return words == w; }

    static Json parse(const std::string &all) {
        const char *at = all.c_str();
        return read(at);
    }

   private:
    static void skip(const char *&at) {
        while (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r') at++;
    }
    static std::string read_text(const char *&at) {
        std::string out;
        for (at++; *at && *at != '"'; at++) {
            if (*at != '\\') {
                out += *at;
                continue;
            }
            at++;
            if (*at == 'u') {  // beyond ASCII nothing is needed: names are ASCII
                const long code = std::strtol(std::string(at + 1, 4).c_str(), nullptr, 16);
                out += code < 128 ? static_cast<char>(code) : '?';
                at += 4;
            } else {
                out += *at == 'n' ? '\n' : *at == 't' ? '\t' : *at;
            }
        }
        if (*at == '"') at++;
        return out;
    }
    static Json read(const char *&at) {
        Json j;
        skip(at);
        if (*at == '{' || *at == '[') {
            const bool named = *at == '{';
            j.kind = named ? object : list;
            at++;
            for (skip(at); *at && *at != '}' && *at != ']'; skip(at)) {
                if (*at == ',') {
                    at++;
                    continue;
                }
                if (named) {
                    std::string key = read_text(at);
                    skip(at);
                    if (*at == ':') at++;
                    j.members.emplace_back(std::move(key), read(at));
                } else {
                    j.items.push_back(read(at));
                }
            }
            if (*at) at++;
        } else if (*at == '"') {
            j.kind = text;
            j.words = read_text(at);
        } else if (*at == 't' || *at == 'f' || *at == 'n') {
            j.kind = *at == 'n' ? null : boolean;
            j.value = *at == 't';
            while (*at >= 'a' && *at <= 'z') at++;
        } else {
            char *end;
            j.kind = number;
            j.value = std::strtod(at, &end);
            at = end == at ? at + 1 : end;
        }
        return j;
    }
};

inline std::string quoted(const std::string &text) {
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += static_cast<unsigned char>(c) < 32 ? ' ' : c;
    }
    return out + "\"";
}

inline std::string spelt(double x) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", x);
    return text;
}

// The request `create`: its JSON, and its arrays by name.
struct Scene {
    Json json;
    std::map<std::string, std::vector<char>> arrays;

    bool has(const std::string &name) const { return arrays.count(name) > 0; }
    std::vector<double> reals(const std::string &name) const { return as<double>(name); }
    std::vector<uint32_t> numbers(const std::string &name) const { return as<uint32_t>(name); }
    std::vector<uint8_t> bytes(const std::string &name) const { return as<uint8_t>(name); }
    double gravity(size_t axis) const { return json["gravity"][axis].real(); }
    const Json &material(size_t k = 0) const { return json["materials"][k]; }
    const Json &param(const std::string &name) const { return json["params"][name]; }
    // Where bodies start: positions, if the scene says nothing else.
    std::vector<double> start() const { return reals(has("start") ? "start" : "positions"); }

   private:
    template <class T>
    std::vector<T> as(const std::string &name) const {
        const auto found = arrays.find(name);
        if (found == arrays.end()) return {};
        std::vector<T> out(found->second.size() / sizeof(T));
        if (!out.empty()) std::memcpy(out.data(), found->second.data(), out.size() * sizeof(T));
        return out;
    }
};

// What a call of `step` says besides its time.
struct Report {
    std::map<std::string, unsigned long> counts;
    std::map<std::string, std::string> warnings;
    double advanced = NAN;  // s, of engines whose steps are adaptive
};

// A parameter of an engine, as a row of JSON.
inline std::string real(const std::string &name, const std::string &unit, double preset, double min, double max,
                        const std::string &doc) {
    return "{\"name\": " + quoted(name) + ", \"unit\": " + quoted(unit) +
           ", \"kind\": \"real\", \"default\": " + spelt(preset) + ", \"min\": " + spelt(min) +
           ", \"max\": " + spelt(max) + ", \"doc\": " + quoted(doc) + "}";
}
inline std::string integer(const std::string &name, long preset, long min, long max, const std::string &doc) {
    std::string row =
        real(name, "", static_cast<double>(preset), static_cast<double>(min), static_cast<double>(max), doc);
    return row.replace(row.find("real"), 4, "integer");
}
inline std::string names(const std::vector<std::string> &list) {
    std::string out = "[";
    for (size_t i = 0; i < list.size(); i++) out += (i > 0 ? ", " : "") + quoted(list[i]);
    return out + "]";
}
inline std::string choice(const std::string &name, const std::string &preset, const std::vector<std::string> &choices,
                          const std::string &doc) {
    return "{\"name\": " + quoted(name) + ", \"unit\": \"\", \"kind\": \"choice\", \"default\": " + quoted(preset) +
           ", \"choices\": " + names(choices) + ", \"doc\": " + quoted(doc) + "}";
}

struct Engine {
    std::string engine = "unnamed", version = "0", device = "cpu", integrator = "not said", precision = "f64";
    std::string masses = "given", steps = "fixed";
    std::vector<std::string> needs, takes, laws, fields = {"positions"}, params;
    bool says_laws = false, saves = false;  // laws: also an empty list is one; saves: both save and load work

    virtual ~Engine() = default;
    virtual void create(const Scene &scene) = 0;
    virtual void step(double dt, long n, Report &report) = 0;        // n steps of dt seconds
    virtual std::vector<double> read(const std::string &field) = 0;  // particles x 3, or x 9
    virtual std::vector<char> save() { throw Error("not_supported", "it cannot save its state"); }
    virtual void load(const std::vector<char> &) { throw Error("not_supported", "it cannot load a state"); }

    std::string hello() const {
        std::string out = "\"engine\": " + quoted(engine) + ", \"version\": " + quoted(version) +
                          ", \"device\": " + quoted(device) + ", \"integrator\": " + quoted(integrator) +
                          ", \"precision\": " + quoted(precision) + ", \"masses\": " + quoted(masses) +
                          ", \"steps\": " + quoted(steps) + ", \"needs\": " + names(needs) +
                          ", \"takes\": " + names(takes) + ", \"fields\": " + names(fields) +
                          ", \"saves\": " + (saves ? "true" : "false");
        if (says_laws) out += ", \"laws\": " + names(laws);
        out += ", \"params\": [";
        for (size_t i = 0; i < params.size(); i++) out += (i > 0 ? ", " : "") + params[i];
        return out + "]";
    }
};

namespace detail {

inline void fill(void *to, size_t bytes) {
    for (char *at = static_cast<char *>(to); bytes > 0;) {
        const ssize_t got = ::read(descriptor, at, bytes);
        if (got <= 0) std::exit(0);  // the program is gone
        at += got;
        bytes -= static_cast<size_t>(got);
    }
}

inline void put(const void *from, size_t bytes) {
    for (const char *at = static_cast<const char *>(from); bytes > 0;) {
        const ssize_t went = ::write(descriptor, at, bytes);
        if (went <= 0) std::exit(0);
        at += went;
        bytes -= static_cast<size_t>(went);
    }
}

// Numbers are sent as they lie in memory: this header is for little-endian machines.
inline void tell(const std::string &json, const void *array = nullptr, size_t bytes = 0) {
    const uint32_t head[2] = {magic, static_cast<uint32_t>(json.size())};
    const uint64_t size = bytes;
    put(head, sizeof head);
    put(&size, sizeof size);
    put(json.data(), json.size());
    put(array, bytes);
}

inline Scene hear() {
    uint32_t head[2];
    uint64_t bytes;
    fill(head, sizeof head);
    fill(&bytes, sizeof bytes);
    if (head[0] != magic) std::exit(1);
    std::string text(head[1], '\0');
    fill(&text[0], text.size());
    Scene out;
    out.json = Json::parse(text);
    for (const Json &row : out.json["arrays"].items) {
        size_t count = row[1].is("<f8") ? 8 : row[1].is("|u1") ? 1 : 4;
        for (const Json &size : row[2].items) count *= static_cast<size_t>(size.integer());
        std::vector<char> &array = out.arrays[row[0].words];
        array.resize(count);
        fill(array.data(), count);
    }
    return out;
}

inline double cpu_seconds() {
    rusage used;
    getrusage(RUSAGE_SELF, &used);
    return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

inline std::string step(Engine &e, const Json &request) {
    Report report;
    const auto begin = std::chrono::steady_clock::now();
    const double cpu = cpu_seconds();
    e.step(request["dt"].real(), request["n"].integer(), report);
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::string out = "{\"ok\": true, \"wall\": " + spelt(wall) + ", \"cpu\": " + spelt(cpu_seconds() - cpu);
    if (!std::isnan(report.advanced)) out += ", \"advanced\": " + spelt(report.advanced);
    std::string counts, warnings;
    for (const auto &c : report.counts)
        counts += (counts.empty() ? "" : ", ") + quoted(c.first) + ": " + std::to_string(c.second);
    for (const auto &w : report.warnings)
        warnings += (warnings.empty() ? "" : ", ") + quoted(w.first) + ": " + quoted(w.second);
    return out + ", \"counts\": {" + counts + "}, \"warnings\": {" + warnings + "}}";
}

inline void answer(Engine &e, const Scene &request, const std::string &op) {
    static const std::string ok = "{\"ok\": true}";
    if (op == "hello") {
        tell("{\"ok\": true, \"protocol\": " + std::to_string(protocol) + ", " + e.hello() + "}");
    } else if (op == "create") {
        e.create(request);
        tell(ok);
    } else if (op == "step") {
        tell(step(e, request.json));
    } else if (op == "read") {
        const std::string field = request.json["field"].words;
        const std::vector<double> x = e.read(field);
        const size_t width = field == "deformation_gradients" ? 9 : 3;
        tell("{\"ok\": true, \"arrays\": [[" + quoted(field) + ", \"<f8\", [" + std::to_string(x.size() / width) +
                 ", " + std::to_string(width) + "]]]}",
             x.data(), x.size() * sizeof x[0]);
    } else if (op == "save") {
        const std::vector<char> state = e.save();
        tell("{\"ok\": true, \"arrays\": [[\"state\", \"|u1\", [" + std::to_string(state.size()) + "]]]}", state.data(),
             state.size());
    } else if (op == "load") {
        e.load(request.arrays.at("state"));
        tell(ok);
    } else if (op == "quit") {
        tell(ok);
    } else {
        throw Error("not_supported", "there is no operation " + op);
    }
}

}  // namespace detail

// Answers until the program that started this process says quit or is gone.
inline int serve(Engine &e) {
    for (std::string op; op != "quit";) {
        const Scene request = detail::hear();
        op = request.json["op"].words;
        try {
            detail::answer(e, request, op);
        } catch (const Error &x) {
            detail::tell("{\"ok\": false, \"code\": " + quoted(x.code) + ", \"says\": " + quoted(x.what()) + "}");
        } catch (const std::exception &x) {
            detail::tell("{\"ok\": false, \"code\": \"failed\", \"says\": " + quoted(x.what()) + "}");
        }
    }
    return 0;
}

}  // namespace pbd

#endif
