/* How many threads and how much memory a container allows, with control groups of our own making. */
#include "tests/unit/bytes.h"

#include <sys/stat.h>

static char root[64];

/* A file below the root, with the folders on the way. */
static void put(const char *path, const char *text)
{
	char name[512];
	snprintf(name, sizeof name, "%s%s", root, path);
	for (char *p = name + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(name, 0777);
		*p = '/';
	}
	bytes_write(name, text, strlen(text));
}

static void fresh(const char *name)
{
	snprintf(root, sizeof root, "%s", bytes_path(name));
	mkdir(root, 0777);
}

static void quota__no_groups__none(void **state)
{
	(void)state;
	fresh("none");
	assert_true(isinf(kdri_cpu_quota(root)));
	put("/proc/self/cgroup", "garbage\n::\n0::\n");
	put("/proc/self/mountinfo", "1 2 - cgroup2\n- - -\n");
	assert_true(isinf(kdri_cpu_quota(root)));
}

static void quota__version_2__the_least_on_the_way_up(void **state)
{
	(void)state;
	fresh("two");
	put("/proc/self/cgroup", "0::/kube/pod/box\n");
	put("/proc/self/mountinfo",
	    "24 1 8:1 / / rw - ext4 /dev/sda rw\n"
	    "30 24 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
	assert_true(isinf(kdri_cpu_quota(root)));
	put("/sys/fs/cgroup/kube/pod/box/cpu.max", "max 100000\n");
	assert_true(isinf(kdri_cpu_quota(root)));
	put("/sys/fs/cgroup/kube/pod/cpu.max", "150000 100000\n");
	assert_near(kdri_cpu_quota(root), 1.5, 1e-12);
	put("/sys/fs/cgroup/kube/pod/box/cpu.max", "50000 100000\n");
	put("/sys/fs/cgroup/cpu.max", "800000 100000\n");
	assert_near(kdri_cpu_quota(root), .5, 1e-12);
}

static void quota__own_namespace__the_mount_is_the_group(void **state)
{
	(void)state;
	fresh("namespace");
	put("/proc/self/cgroup", "0::/\n");
	put("/proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
	put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
	assert_near(kdri_cpu_quota(root), 2, 1e-12);
}

static void quota__version_1_in_a_container__root_of_the_mount_taken_off(void **state)
{
	(void)state;
	fresh("one");
	put("/proc/self/cgroup", "7:cpuset:/docker/ab\n4:cpu,cpuacct:/docker/ab\n0::/system\n");
	put("/proc/self/mountinfo",
	    "40 30 0:31 /docker/ab /sys/fs/cgroup/cpuset ro - cgroup cgroup rw,cpuset\n"
	    "41 30 0:32 /docker/ab /sys/fs/cgroup/cpu,cpuacct ro master:9 - cgroup cgroup rw,cpu,cpuacct\n");
	put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
	put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
	assert_true(isinf(kdri_cpu_quota(root)));
	put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000\n");
	assert_near(kdri_cpu_quota(root), 3, 1e-12);
	/* A path the mount does not lead to: its root has to do. */
	put("/proc/self/cgroup", "4:cpu,cpuacct:/elsewhere\n");
	assert_near(kdri_cpu_quota(root), 3, 1e-12);
}

static void memory__either_version__the_least_on_the_way_up(void **state)
{
	(void)state;
	fresh("memory");
	put("/proc/self/cgroup", "4:cpu:/\n3:memory:/jobs/7\n0::/a\n");
	put("/proc/self/mountinfo", "40 30 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
	                            "41 30 0:32 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
	assert_true(isinf(kdri_memory_quota(root)));
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	put("/sys/fs/cgroup/unified/a/memory.max", "max\n");
	assert_true(isinf(kdri_memory_quota(root)));
	put("/sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "4000000\n");
	assert_near(kdri_memory_quota(root), 4e6, 1e-6);
	put("/sys/fs/cgroup/memory/jobs/7/memory.limit_in_bytes", "3000000\n");
	assert_near(kdri_memory_quota(root), 3e6, 1e-6);
	put("/sys/fs/cgroup/unified/a/memory.max", "2000000\n");
	assert_near(kdri_memory_quota(root), 2e6, 1e-6);
	/* The share of processors is another controller's. */
	assert_true(isinf(kdri_cpu_quota(root)));
}

static void context__default__within_what_there_is(void **state)
{
	(void)state;
	unit_needs("openmp");
	kdr_context *ctx = unit_context();
	assert_in_range(kdr_context_threads(ctx), 1, 4096);
	kdr_context_set_threads(ctx, 7);
	assert_int_equal(kdr_context_threads(ctx), 7);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quota__no_groups__none),
		cmocka_unit_test(quota__version_2__the_least_on_the_way_up),
		cmocka_unit_test(quota__own_namespace__the_mount_is_the_group),
		cmocka_unit_test(quota__version_1_in_a_container__root_of_the_mount_taken_off),
		cmocka_unit_test(memory__either_version__the_least_on_the_way_up),
		cmocka_unit_test(context__default__within_what_there_is),
	};
	return cmocka_run_group_tests(tests, NULL, bytes_clean);
}
