/* What assimp does anew for each file is done once in the process of a fuzz target (files.c): its C interface is
 * replaced by one importer that is kept and has the readers of OBJ, OFF, PLY and STL alone, the only ones that a file
 * of such a name reaches. The buffers of 16 MiB and 1 MiB that the readers of OBJ and PLY fill for each file are kept
 * too: fresh pages of that size are nine tenths of the time of a small file.
 *
 * A signal while assimp reads, also of its assertions, is a file that crashes it, as in the program, where another
 * process reads (triangle_file.c): the importer is given up, and the campaign goes on. */
#include <assimp/BaseImporter.h>
#include <assimp/cfileio.h>
#include <assimp/cimport.h>
#include <sanitizer/allocator_interface.h>
#include <csetjmp>
#include <csignal>
#include <cstdlib>

#include <assimp/Importer.hpp>
#include <assimp/IOStream.hpp>
#include <assimp/IOSystem.hpp>
#include <atomic>
#include <new>

/* ---- Buffers ----------------------------------------------------------------------------------------------------- */

namespace {

struct buffer {
    size_t size;
    std::atomic<void *> spare, lent; /* lent: the last one; NULL: none */
};
buffer buffers[] = {{16u << 20, {nullptr}, {nullptr}}, {1u << 20, {nullptr}, {nullptr}}};

/* NULL: not kept. */
buffer *buffer_of(size_t size) {
    for (buffer &b : buffers)
        if (size == b.size) return &b;
    return nullptr;
}

thread_local bool reading; /* assimp does */

/* A reader that asks for more has taken the size from a damaged file; triangle_file.c limits its process likewise. */
const size_t most = size_t{1} << 30;

void *allocate(size_t size) noexcept {
    if (reading && size > most) return nullptr;
    buffer *kept = reading ? buffer_of(size) : nullptr;
    void *found = kept ? kept->spare.exchange(nullptr) : nullptr;
    if (!found) found = malloc(size > 0 ? size : 1);
    if (kept) kept->lent = found;
    return found;
}

/* Of a reader that crashed, which will not. */
void take_back() {
    for (buffer &b : buffers)
        if (void *lent = b.lent.exchange(nullptr)) free(b.spare.exchange(lent));
}

}  // namespace

void *operator new(size_t size) {
    if (void *got = allocate(size)) return got;
    throw std::bad_alloc();
}

void *operator new(size_t size, const std::nothrow_t &) noexcept { return allocate(size); }

/* What a reader frees twice, or not as it was given, crashes it. */
void operator delete(void *given) noexcept {
    if (given && reading && !__sanitizer_get_ownership(given)) abort();
    buffer *kept = given ? buffer_of(__sanitizer_get_allocated_size(given)) : nullptr;
    if (kept && kept->lent == given) kept->lent = nullptr;
    free(kept ? kept->spare.exchange(given) : given);
}

void operator delete(void *given, size_t) noexcept { operator delete(given); }
void operator delete(void *given, const std::nothrow_t &) noexcept { operator delete(given); }

/* ---- Files ------------------------------------------------------------------------------------------------------- */

namespace {

class stream : public Assimp::IOStream {
   public:
    explicit stream(aiFile *of) : file(of) {}
    size_t Read(void *to, size_t size, size_t count) override {
        return file->ReadProc(file, static_cast<char *>(to), size, count);
    }
    size_t Write(const void *from, size_t size, size_t count) override {
        return file->WriteProc(file, static_cast<const char *>(from), size, count);
    }
    aiReturn Seek(size_t offset, aiOrigin origin) override { return file->SeekProc(file, offset, origin); }
    size_t Tell() const override { return file->TellProc(file); }
    size_t FileSize() const override { return file->FileSizeProc(file); }
    void Flush() override { file->FlushProc(file); }
    aiFile *const file;
};

class files : public Assimp::IOSystem {
   public:
    aiFileIO *io = nullptr; /* of the call under way */
    bool Exists(const char *path) const override {
        aiFile *found = io->OpenProc(io, path, "rb");
        if (found) io->CloseProc(io, found);
        return found != nullptr;
    }
    char getOsSeparator() const override { return '/'; }
    Assimp::IOStream *Open(const char *path, const char *mode) override {
        aiFile *found = io->OpenProc(io, path, mode);
        return found ? new stream(found) : nullptr;
    }
    void Close(Assimp::IOStream *of) override {
        io->CloseProc(io, static_cast<stream *>(of)->file);
        delete of;
    }
};

/* ---- The importer ------------------------------------------------------------------------------------------------ */

Assimp::Importer *importer;
files *source; /* the importer's */
bool crashed;  /* while it read the last file */

bool is_wanted(const Assimp::BaseImporter *reader) {
    for (const char *ending : {"obj", "off", "ply", "stl"})
        if (importer->GetImporter(ending) == reader) return true;
    return false;
}

void make_importer() {
    importer = new Assimp::Importer;
    source = new files;
    importer->SetIOHandler(source);
    for (size_t i = importer->GetImporterCount(); i-- > 0;) {
        Assimp::BaseImporter *reader = importer->GetImporter(i);
        if (is_wanted(reader)) continue;
        importer->UnregisterLoader(reader);
        delete reader;
    }
}

constexpr int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr size_t faults_count = sizeof faults / sizeof *faults;
sigjmp_buf before;

void leave(int) { siglongjmp(before, 1); }

}  // namespace

extern "C" const aiScene *aiImportFileEx(const char *path, unsigned steps, aiFileIO *io) {
    struct sigaction guard = {}, usual[faults_count];
    const aiScene *scene = nullptr;
    if (!importer) make_importer();
    source->io = io;
    guard.sa_handler = leave;
    guard.sa_flags = SA_ONSTACK | SA_NODEFER;
    for (size_t i = 0; i < faults_count; i++) sigaction(faults[i], &guard, &usual[i]);
    reading = true;
    crashed = sigsetjmp(before, 1) != 0;
    if (crashed) {
        importer = nullptr; /* what it was doing cannot be undone */
        take_back();
    } else {
        scene = importer->ReadFile(path, steps);
    }
    reading = false;
    for (size_t i = 0; i < faults_count; i++) sigaction(faults[i], &usual[i], nullptr);
    return crashed ? nullptr : scene;
}

extern "C" void aiReleaseImport(const aiScene *) { importer->FreeScene(); }

extern "C" const char *aiGetErrorString(void) { return crashed ? "assimp crashed" : importer->GetErrorString(); }
