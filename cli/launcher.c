/* The number of processes that a launcher such as mpirun or srun has started. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <stdlib.h>

/* The first of these variables that holds a number; -1 if none does. */
static int number_in(const char *const *names)
{
	for (; *names; names++) {
		const char *text = getenv(*names);
		if (text && text[0] >= '0' && text[0] <= '9')
			return atoi(text);
	}
	return -1;
}

int cli_launched_rank(void)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", NULL };
	return number_in(names);
}

int cli_launched_ranks(void)
{
	static const char *const mpi[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL };
	static const char *const step[] = { "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", NULL };
	int ranks = number_in(mpi);
	/* A batch script has Slurm's variables too, but is one process: only what srun starts for MPI has a rank. */
	if (ranks < 0 && cli_launched_rank() >= 0)
		ranks = number_in(step);
	return ranks > 1 ? ranks : 1;
}
