/* Windows. SPDX-License-Identifier: BSD-3-Clause */
#include "core/system.h"
#include "system.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <fcntl.h>
#include <io.h>
#include <shellapi.h>
#include <stdlib.h>
#include <string.h>

#ifndef ENABLE_VIRTUAL_TERMINAL_PROCESSING
#define ENABLE_VIRTUAL_TERMINAL_PROCESSING 0x0004
#endif

/* The arguments with wildcards expanded, which the shells of Windows leave to programs. */
typedef struct startup {
	int new_mode;
} startup;
extern int __cdecl __wgetmainargs(int *argc, wchar_t ***argv, wchar_t ***environment, int wildcards,
                                  startup *info);

static UINT code_page; /* of the console before */

static void restore_console(void)
{
	SetConsoleOutputCP(code_page);
}

static char *utf8(const wchar_t *text)
{
	int n = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
	char *out = n > 0 ? malloc((size_t)n) : NULL;
	if (out)
		WideCharToMultiByte(CP_UTF8, 0, text, -1, out, n, NULL, NULL);
	return out;
}

cli_words cli_system_start(int argc, char **argv)
{
	wchar_t **wide, **environment;
	int count = 0;
	startup info = { 0 };
	/* Bytes are written as they are: the files of all systems have the same line ends. */
	_setmode(_fileno(stdin), _O_BINARY);
	_setmode(_fileno(stdout), _O_BINARY);
	_setmode(_fileno(stderr), _O_BINARY);
	code_page = GetConsoleOutputCP();
	if (code_page != 0 && code_page != CP_UTF8 && SetConsoleOutputCP(CP_UTF8))
		atexit(restore_console);
	const cli_words given = { argc, argv }; /* in the code page of the system */
	if (__wgetmainargs(&count, &wide, &environment, 1, &info) != 0 || count < 1)
		return given;
	char **texts = calloc((size_t)count + 1, sizeof *texts);
	for (int i = 0; texts && i < count; i++) {
		texts[i] = utf8(wide[i]);
		if (!texts[i])
			return given;
	}
	return texts ? (cli_words){ count, texts } : given;
}

bool cli_is_terminal(FILE *stream)
{
	HANDLE handle = (HANDLE)_get_osfhandle(_fileno(stream));
	DWORD mode;
	if (handle == INVALID_HANDLE_VALUE || !GetConsoleMode(handle, &mode))
		return false;
	return SetConsoleMode(handle, mode | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

static void (*on_stop)(int number);

static BOOL WINAPI control(DWORD event)
{
	on_stop((int)event);
	/* After a closed window or a shutdown the system ends the process as soon as this returns. */
	if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT)
		Sleep(INFINITE);
	return TRUE;
}

void cli_keep_memory(void)
{
}

void cli_on_stop(void (*stop)(int number))
{
	if (!on_stop)
		SetConsoleCtrlHandler(control, TRUE);
	on_stop = stop;
}

bool cli_text_open(cli_text *t)
{
	int fd = kdri_scratch_file();
	*t = (cli_text){ .stream = fd >= 0 ? _fdopen(fd, "w+b") : NULL };
	if (fd >= 0 && !t->stream)
		_close(fd);
	return t->stream != NULL;
}

char *cli_text_close(cli_text *t)
{
	fflush(t->stream);
	long long length = _ftelli64(t->stream);
	char *text = length >= 0 ? malloc((size_t)length + 1) : NULL;
	rewind(t->stream);
	if (text && fread(text, 1, (size_t)length, t->stream) != (size_t)length) {
		free(text);
		text = NULL;
	}
	if (text)
		text[length] = '\0';
	fclose(t->stream);
	*t = (cli_text){ .length = text ? (size_t)length : 0 };
	return text;
}

bool cli_open_page(const char *html, const char **why)
{
	enum { SUCCESS = 32 };
	int n = MultiByteToWideChar(CP_UTF8, 0, html, -1, NULL, 0);
	wchar_t *name = n > 0 ? malloc((size_t)n * sizeof *name) : NULL;
	bool done = name && MultiByteToWideChar(CP_UTF8, 0, html, -1, name, n) > 0 &&
	            (INT_PTR)ShellExecuteW(NULL, L"open", name, NULL, NULL, SW_SHOWNORMAL) > SUCCESS;
	free(name);
	*why = "";
	return done;
}
