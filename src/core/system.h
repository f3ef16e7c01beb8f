/* What differs between operating systems: system_posix.c and system_windows.c. SPDX-License-Identifier: BSD-3-Clause
 *
 * File names are UTF-8 on every system. Functions that return an int return a negative number on failure, those that
 * return a pointer NULL, those that return a bool false, all with errno. The header includes nothing of the library, because the
 * program uses it too. */
#ifndef KDRI_SYSTEM_H
#define KDRI_SYSTEM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* --- file names --------------------------------------------------------------------------------- */

/* Whether `c` separates the parts of a path: a slash and, on Windows, a backslash. */
bool kdri_is_separator(char c);
/* Characters that names of files cannot contain, those that can be printed first. */
extern const char kdri_not_in_names[];
/* The length of the folder part of a path, with its last separator: path + this is the name of the file. */
size_t kdri_folder_length(const char *path);

/* --- files ---------------------------------------------------------------------------------------- */

typedef struct kdri_file {
	bool folder, regular;
	int64_t bytes;
	uint64_t device, number; /* together they identify the file */
} kdri_file;

bool kdri_file_at(const char *path, kdri_file *out);
bool kdri_file_open(int fd, kdri_file *out);
bool kdri_exists(const char *path);
/* open() with the flags of fcntl.h, in binary mode; child processes do not inherit the descriptor. */
int kdri_open(const char *path, int flags);
FILE *kdri_fopen(const char *path); /* for reading */
int kdri_mkdir(const char *path);
int kdri_unlink(const char *path);
/* Reads at a position, also with several threads at once; the position of the descriptor is undefined afterwards. */
int64_t kdri_read_at(int fd, void *to, size_t bytes, int64_t offset);
/* Waits until the written bytes are on disk. */
int kdri_sync(int fd);
/* Gives a file its final name in the same folder, in one step. With `replace` the file takes the place of one that
 * exists, without it fails with EEXIST. */
int kdri_put_in_place(const char *from, const char *to, bool replace);

/* Where a symbolic link leads in the end, also if no file is there; of another path, the path. False if it is too long. */
bool kdri_follow(const char *path, char *out, size_t room);
/* Takes a lock on a folder, which the system releases when the process ends: a number for kdri_unlock; -1 with EWOULDBLOCK if another
 * process, or this one, has it; -1 with another error where folders cannot be locked, as on some network file systems. */
intptr_t kdri_lock_folder(const char *folder);
void kdri_unlock(intptr_t lock);

/* This process; whether a process of this machine runs, true if unknown; and a number of the machine, or of the container that
 * numbers its processes itself. */
int64_t kdri_process(void);
bool kdri_process_runs(int64_t process);
uint32_t kdri_host(void);

/* The names in a folder, in any order. kdri_listing_next returns NULL at the end, with errno 0, and on failure. */
typedef struct kdri_listing kdri_listing;
kdri_listing *kdri_listing_open(const char *folder);
const char *kdri_listing_next(kdri_listing *listing);
void kdri_listing_close(kdri_listing *listing);

/* --- memory ----------------------------------------------------------------------------------------- */

double kdri_system_memory(void);    /* bytes that the machine has; 0 if unknown */
double kdri_system_available(void); /* bytes available without swapping; infinite if unknown */
double kdri_memory_held(void);      /* bytes of this process that are in memory; 0 if unknown */
/* alloc.c: bytes of the machine, or of the control group of the process if that has less; 0 if unknown. */
double kdri_memory_total(void);
double kdri_memory_peak(void); /* the peak so far; 0 if unknown */
/* All of these bytes will be written: use large pages, if the system has them. */
void kdri_large_pages(void *at, size_t bytes);

/* --- mapped files ------------------------------------------------------------------------------------ */

/* Offsets of mappings are multiples of this. */
size_t kdri_map_step(void);
/* Maps a part of a file; a file that is mapped for writing is extended to that size first. */
void *kdri_map_file(int fd, int64_t offset, size_t bytes, bool writable);
/* Extends a file and its mapping, which may move; the contents are kept. NULL: the system cannot do this. */
void *kdri_map_extend(int fd, void *at, size_t bytes, size_t wanted);
void kdri_unmap(void *at, size_t bytes);
void kdri_map_need(void *at, size_t bytes);    /* these bytes will be needed soon */
void kdri_map_release(void *at, size_t bytes); /* they are not needed now; the file keeps them */
void kdri_map_write(int fd);                   /* starts writing what has changed */
/* Unmaps part of a shared mapping and releases its memory or disk space now, not with the rest of the mapping. */
void kdri_unmap_part(void *at, size_t bytes);
/* The folder for temporary files: TMPDIR or /var/tmp; on Windows that of TMP or TEMP. False if its name is too long. */
bool kdri_scratch_folder(char *out, size_t room);
/* Opens a file without a name there. */
int kdri_scratch_file(void);
/* Moves a descriptor beyond those of standard input, output and error, which may be closed. */
int kdri_high_descriptor(int fd);
int kdri_copy_descriptor(int fd);

/* --- threads -------------------------------------------------------------------------------------- */

/* Starts a thread that receives no signals, which are for the threads of the host. */
bool kdri_thread_start(pthread_t *thread, void *(*run)(void *user), void *user);
/* pthread_atfork, if processes can be forked. */
bool kdri_at_fork(void (*before)(void), void (*parent)(void), void (*child)(void));

#endif
