/* Windows. SPDX-License-Identifier: BSD-3-Clause
 *
 * Names are passed to the system as UTF-16, so that they do not depend on the code page. */
#include "core/internal.h"
#include "core/system.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <locale.h>
#include <psapi.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <wchar.h>

/* --- file names --------------------------------------------------------------------------------- */

const char kdri_not_in_names[] =
        "/\\:*?\"<>|\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20\21\22\23\24\25\26\27\30\31\32\33"
        "\34\35\36\37";

bool kdri_is_separator(char c)
{
	return c == '/' || c == '\\';
}

static bool has_drive(const char *path)
{
	return ((path[0] >= 'A' && path[0] <= 'Z') || (path[0] >= 'a' && path[0] <= 'z')) && path[1] == ':';
}

size_t kdri_folder_length(const char *path)
{
	size_t length = has_drive(path) ? 2 : 0;
	for (size_t i = length; path[i]; i++)
		if (kdri_is_separator(path[i]))
			length = i + 1;
	return length;
}

/* UTF-16, to be freed. Paths that are too long for the ordinary functions get the prefix that lifts the limit. */
static wchar_t *wide(const char *text)
{
	static const wchar_t prefix[] = L"\\\\?\\";
	enum { PREFIX = 4, ORDINARY = 240 };
	int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
	wchar_t *path = n > 0 ? malloc((size_t)n * sizeof *path) : NULL;
	if (!path) {
		errno = n > 0 ? ENOMEM : ENOENT;
		return NULL;
	}
	MultiByteToWideChar(CP_UTF8, 0, text, -1, path, n);
	if (n <= ORDINARY || path[0] == L'\\')
		return path;
	DWORD room = GetFullPathNameW(path, 0, NULL, NULL);
	wchar_t *full = room > 0 ? malloc((room + PREFIX) * sizeof *full) : NULL;
	if (full && GetFullPathNameW(path, room, full + PREFIX, NULL) > 0 && full[PREFIX] != L'\\') {
		memcpy(full, prefix, PREFIX * sizeof *full);
		free(path);
		return full;
	}
	free(full);
	return path;
}

/* The error of the last system call as errno. */
static int fail(void)
{
	switch (GetLastError()) {
	case ERROR_FILE_NOT_FOUND:
	case ERROR_PATH_NOT_FOUND:
	case ERROR_INVALID_NAME:
	case ERROR_BAD_PATHNAME:
	case ERROR_INVALID_DRIVE:
	case ERROR_BAD_NETPATH: errno = ENOENT; break;
	case ERROR_FILE_EXISTS:
	case ERROR_ALREADY_EXISTS: errno = EEXIST; break;
	case ERROR_DISK_FULL:
	case ERROR_HANDLE_DISK_FULL: errno = ENOSPC; break;
	case ERROR_NOT_ENOUGH_MEMORY:
	case ERROR_COMMITMENT_LIMIT: errno = ENOMEM; break;
	case ERROR_ACCESS_DENIED:
	case ERROR_SHARING_VIOLATION:
	case ERROR_LOCK_VIOLATION: errno = EACCES; break;
	default: errno = EIO;
	}
	return -1;
}

/* --- files ---------------------------------------------------------------------------------------- */

static bool describe(HANDLE handle, kdri_file *out)
{
	BY_HANDLE_FILE_INFORMATION info;
	if (GetFileType(handle) != FILE_TYPE_DISK) { /* a pipe, or a device */
		*out = (kdri_file){ 0 };
		return true;
	}
	if (!GetFileInformationByHandle(handle, &info))
		return fail() == 0;
	const bool folder = (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
	*out = (kdri_file){ .folder = folder,
		            .regular = !folder,
		            .bytes = (int64_t)((uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow),
		            .device = info.dwVolumeSerialNumber,
		            .number = (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow };
	return true;
}

bool kdri_file_at(const char *path, kdri_file *out)
{
	wchar_t *name = wide(path);
	if (!name)
		return false;
	HANDLE handle = CreateFileW(name, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
	                            OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
	bool found = handle != INVALID_HANDLE_VALUE ? describe(handle, out) : fail() == 0;
	if (handle != INVALID_HANDLE_VALUE)
		CloseHandle(handle);
	free(name);
	return found;
}

bool kdri_file_open(int fd, kdri_file *out)
{
	HANDLE handle = (HANDLE)_get_osfhandle(fd);
	return handle != INVALID_HANDLE_VALUE && describe(handle, out);
}

bool kdri_exists(const char *path)
{
	wchar_t *name = wide(path);
	bool found = name && GetFileAttributesW(name) != INVALID_FILE_ATTRIBUTES;
	if (name && !found)
		(void)fail();
	free(name);
	return found;
}

int kdri_open(const char *path, int flags)
{
	kdri_file info;
	wchar_t *name = wide(path);
	int fd = name ? _wopen(name, flags | _O_BINARY | _O_NOINHERIT, S_IREAD | S_IWRITE) : -1, code = errno;
	free(name);
	errno = fd < 0 && code == EACCES && kdri_file_at(path, &info) && info.folder ? EISDIR : code;
	return fd;
}

FILE *kdri_fopen(const char *path)
{
	int fd = kdri_open(path, _O_RDONLY);
	FILE *f = fd >= 0 ? _fdopen(fd, "rb") : NULL;
	if (fd >= 0 && !f)
		_close(fd);
	return f;
}

int kdri_mkdir(const char *path)
{
	kdri_file info;
	wchar_t *name = wide(path);
	int made = name && CreateDirectoryW(name, NULL) ? 0 : name ? fail() : -1;
	free(name);
	if (made != 0 && kdri_file_at(path, &info) && info.folder) /* such as C: */
		errno = EEXIST;
	return made;
}

int kdri_unlink(const char *path)
{
	wchar_t *name = wide(path);
	int removed = name && DeleteFileW(name) ? 0 : name ? fail() : -1;
	free(name);
	return removed;
}

int64_t kdri_read_at(int fd, void *to, size_t bytes, int64_t offset)
{
	const size_t most = (size_t)1 << 30;
	OVERLAPPED at = { .Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32) };
	DWORD got = 0;
	if (ReadFile((HANDLE)_get_osfhandle(fd), to, (DWORD)KDRI_MIN(bytes, most), &got, &at) ||
	    GetLastError() == ERROR_HANDLE_EOF)
		return got;
	errno = EIO;
	return -1;
}

int kdri_sync(int fd)
{
	return _commit(fd);
}

/* Another program, such as a virus scanner, may hold a new file open for a moment. */
int kdri_put_in_place(const char *from, const char *to, bool replace)
{
	enum { TRIES = 20, MILLISECONDS = 50 };
	wchar_t *old = wide(from), *new = old ? wide(to) : NULL;
	int moved = -1;
	for (int i = 0; new &&moved != 0 && i < TRIES; i++) {
		moved = MoveFileExW(old, new, replace ? MOVEFILE_REPLACE_EXISTING : 0) ? 0 : fail();
		if (moved != 0 && errno != EACCES)
			break;
		if (moved != 0)
			Sleep(MILLISECONDS);
	}
	free(old);
	free(new);
	return moved;
}

/* UTF-8 of a name. False if there is no room. */
static bool narrow(const wchar_t *name, char *out, size_t room)
{
	return WideCharToMultiByte(CP_UTF8, 0, name, -1, out, (int)room, NULL, NULL) > 0;
}

bool kdri_follow(const char *path, char *out, size_t room)
{
	enum { LONGEST = 4096 };
	wchar_t *name = wide(path), found[LONGEST];
	const DWORD kind = name ? GetFileAttributesW(name) : INVALID_FILE_ATTRIBUTES;
	bool done = false;
	if (kind != INVALID_FILE_ATTRIBUTES && (kind & FILE_ATTRIBUTE_REPARSE_POINT)) {
		HANDLE handle = CreateFileW(name, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
		                            NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
		const DWORD n = handle != INVALID_HANDLE_VALUE
		                        ? GetFinalPathNameByHandleW(handle, found, LONGEST, 0)
		                        : 0;
		done = n > 0 && n < LONGEST && narrow(found, out, room);
		if (handle != INVALID_HANDLE_VALUE)
			CloseHandle(handle);
	}
	free(name);
	if (!done && strlen(path) < room)
		done = strcpy(out, path) != NULL;
	return done;
}

/* A mutex with a name, because folders cannot be locked. */
intptr_t kdri_lock_folder(const char *folder)
{
	kdri_file info;
	wchar_t name[80];
	if (!kdri_file_at(folder, &info))
		return -1;
	swprintf(name, sizeof name / sizeof *name, L"Local\\kindred-%llx-%llx",
	         (unsigned long long)info.device, (unsigned long long)info.number);
	HANDLE lock = CreateMutexW(NULL, FALSE, name);
	if (!lock)
		return fail();
	if (GetLastError() != ERROR_ALREADY_EXISTS)
		return (intptr_t)lock;
	CloseHandle(lock);
	errno = EWOULDBLOCK;
	return -1;
}

void kdri_unlock(intptr_t lock)
{
	CloseHandle((HANDLE)lock);
}

int64_t kdri_process(void)
{
	return (int64_t)GetCurrentProcessId();
}

bool kdri_process_runs(int64_t process)
{
	DWORD code = STILL_ACTIVE;
	HANDLE handle = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, (DWORD)process);
	if (!handle)
		return GetLastError() != ERROR_INVALID_PARAMETER;
	(void)GetExitCodeProcess(handle, &code);
	CloseHandle(handle);
	return code == STILL_ACTIVE;
}

/* FNV-1a of the computer's name. */
uint32_t kdri_host(void)
{
	char text[MAX_COMPUTERNAME_LENGTH + 1] = "";
	DWORD room = sizeof text;
	uint32_t hash = 2166136261u;
	(void)GetComputerNameA(text, &room);
	for (const char *p = text; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 16777619u;
	return hash;
}

struct kdri_listing {
	HANDLE handle;
	WIN32_FIND_DATAW entry;
	bool first;
	char name[4 * MAX_PATH];
};

kdri_listing *kdri_listing_open(const char *folder)
{
	size_t room = strlen(folder) + 3;
	kdri_listing *listing = malloc(sizeof *listing);
	char *all = malloc(room);
	wchar_t *pattern = NULL;
	if (all) {
		snprintf(all, room, "%s/*", folder);
		pattern = wide(all);
	}
	if (listing && pattern) {
		listing->first = true;
		listing->handle = FindFirstFileW(pattern, &listing->entry);
	}
	if (listing && (!pattern || listing->handle == INVALID_HANDLE_VALUE)) {
		(void)(pattern ? fail() : 0);
		free(listing);
		listing = NULL;
	}
	free(pattern);
	free(all);
	return listing;
}

const char *kdri_listing_next(kdri_listing *listing)
{
	if (!listing->first && !FindNextFileW(listing->handle, &listing->entry)) {
		(void)fail();
		errno = GetLastError() == ERROR_NO_MORE_FILES ? 0 : errno;
		return NULL;
	}
	listing->first = false;
	errno = 0;
	WideCharToMultiByte(CP_UTF8, 0, listing->entry.cFileName, -1, listing->name, sizeof listing->name,
	                    NULL, NULL);
	return listing->name;
}

void kdri_listing_close(kdri_listing *listing)
{
	FindClose(listing->handle);
	free(listing);
}

/* --- memory ----------------------------------------------------------------------------------------- */

double kdri_system_memory(void)
{
	MEMORYSTATUSEX status = { .dwLength = sizeof status };
	return GlobalMemoryStatusEx(&status) ? (double)status.ullTotalPhys : 0;
}

double kdri_system_available(void)
{
	MEMORYSTATUSEX status = { .dwLength = sizeof status };
	return GlobalMemoryStatusEx(&status) ? (double)status.ullAvailPhys : INFINITY;
}

double kdri_memory_held(void)
{
	PROCESS_MEMORY_COUNTERS counters;
	return GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)
	               ? (double)counters.WorkingSetSize
	               : 0;
}

double kdri_memory_peak(void)
{
	PROCESS_MEMORY_COUNTERS counters;
	return GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)
	               ? (double)counters.PeakWorkingSetSize
	               : 0;
}

/* --- mapped files ------------------------------------------------------------------------------------ */

size_t kdri_map_step(void)
{
	SYSTEM_INFO info;
	GetSystemInfo(&info);
	return info.dwAllocationGranularity;
}

void *kdri_map_file(int fd, int64_t offset, size_t bytes, bool writable)
{
	HANDLE file = (HANDLE)_get_osfhandle(fd);
	const uint64_t end = (uint64_t)offset + bytes;
	HANDLE mapping = CreateFileMappingW(file, NULL, writable ? PAGE_READWRITE : PAGE_READONLY,
	                                    writable ? (DWORD)(end >> 32) : 0,
	                                    writable ? (DWORD)(end & 0xffffffff) : 0, NULL);
	void *at = mapping ? MapViewOfFile(mapping, writable ? FILE_MAP_WRITE : FILE_MAP_READ,
	                                   (DWORD)((uint64_t)offset >> 32),
	                                   (DWORD)((uint64_t)offset & 0xffffffff), bytes)
	                   : NULL;
	if (!at)
		(void)fail();
	if (mapping)
		CloseHandle(mapping); /* the view keeps it */
	return at;
}

void *kdri_map_extend(int fd, void *at, size_t bytes, size_t wanted)
{
	(void)fd;
	(void)at;
	(void)bytes;
	(void)wanted;
	return NULL;
}

void kdri_unmap(void *at, size_t bytes)
{
	(void)bytes;
	UnmapViewOfFile(at);
}

void kdri_large_pages(void *at, size_t bytes)
{
	(void)at;
	(void)bytes;
}

void kdri_map_need(void *at, size_t bytes)
{
	(void)at;
	(void)bytes;
}

/* Pages that are not locked leave the working set. */
void kdri_map_release(void *at, size_t bytes)
{
	VirtualUnlock(at, bytes);
}

void kdri_map_write(int fd)
{
	(void)fd;
}

void kdri_unmap_part(void *at, size_t bytes)
{
	kdri_unmap(at, bytes);
}

bool kdri_scratch_folder(char *out, size_t room)
{
	wchar_t folder[MAX_PATH + 1];
	return GetTempPathW(MAX_PATH + 1, folder) > 0 && narrow(folder, out, room);
}

/* The system removes the file when it is closed, also if the process is killed. Some accounts cannot write to their temporary folder: the
 * current one then. */
int kdri_scratch_file(void)
{
	wchar_t folder[MAX_PATH + 1], name[MAX_PATH + 1];
	if ((GetTempPathW(MAX_PATH + 1, folder) == 0 || GetTempFileNameW(folder, L"kdr", 0, name) == 0) &&
	    GetTempFileNameW(L".", L"kdr", 0, name) == 0)
		return fail();
	HANDLE handle = CreateFileW(name, GENERIC_READ | GENERIC_WRITE | DELETE, 0, NULL, CREATE_ALWAYS,
	                            FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL);
	int fd = handle != INVALID_HANDLE_VALUE
	                 ? _open_osfhandle((intptr_t)handle, _O_RDWR | _O_BINARY | _O_NOINHERIT)
	                 : fail();
	if (fd < 0 && handle != INVALID_HANDLE_VALUE)
		CloseHandle(handle);
	return fd;
}

int kdri_high_descriptor(int fd)
{
	return fd;
}

int kdri_copy_descriptor(int fd)
{
	return _dup(fd);
}

/* --- threads and text ---------------------------------------------------------------------------------- */

bool kdri_thread_start(pthread_t *thread, void *(*run)(void *user), void *user)
{
	return pthread_create(thread, NULL, run, user) == 0;
}

bool kdri_at_fork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
	(void)before;
	(void)parent;
	(void)child;
	return true;
}

/* If the host uses another locale for numbers, this thread gets its own for a moment. */
int kdri_vsnprintf(char *text, size_t room, const char *format, va_list args)
{
	const char *current = setlocale(LC_NUMERIC, NULL);
	if (!current || strcmp(current, "C") == 0)
		return vsnprintf(text, room, format, args);
	int mode = _configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
	char *before = strdup(current);
	setlocale(LC_NUMERIC, "C");
	int n = vsnprintf(text, room, format, args);
	if (before)
		setlocale(LC_NUMERIC, before);
	if (mode > 0)
		_configthreadlocale(mode);
	free(before);
	return n;
}
