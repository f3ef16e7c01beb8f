/* The report: every section is present, every name is escaped, every bad file is refused without leaving a file. */
#include "core/json_read.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <unistd.h>

#include "jobs/report/report.h"
#include "jobs/write/result_file.h"

/* A result with every field of the contract, and a hostile name in each place where a name can occur. */
#define EVIL "<script>alert('x')</script>\\\"&"
static const char full[] =
        "{\"kindred\":\"0.1.0\",\"command\":\"cluster\",\"method\":\"kmeans\",\"options\":{\"max_iter\":100,\"tol\":1e-06,\"" EVIL
        "\":\"" EVIL "\"},\"seed\":1,\"threads\":2,\"tasks\":[{\"name\":\"" EVIL "\",\"path\":\"" EVIL
        "\",\"n\":6,\"d\":4,\"nnz\":12,\"k\":2,\"sizes\":[4,2],\"labels\":[0,0,0,0,1,1],"
        "\"advice\":[\"heed " EVIL
        "\",7],\"clusters\":[{\"number\":0,\"size\":4,\"features\":[{\"name\":\"" EVIL
        "\",\"effect\":1.25,\"mean_inside\":2,\"mean_outside\":1},{\"name\":3},7]},5],"
        "\"metrics\":{\"acc\":0.875,\"nmi\":0.5,\"ari\":-0.25}},{\"name\":\"b\",\"n\":3,\"d\":4,\"nnz\":12,"
        "\"k\":2,\"labels\":[\"" EVIL "\",\"y\",\"y\"],\"metrics\":null}],\"objective\":[10,8.5,8.25],"
        "\"stop\":\"max_iter\",\"iterations\":3,\"seconds\":{\"read\":1,\"prepare\":0.5,\"fit\":2,"
        "\"write\":0.25,\"total\":4},\"peak_rss_bytes\":12000000,\"relatedness\":{\"tasks\":[\"" EVIL
        "\",\"b\"],\"matrix\":[[1,-0.5],[-0.5,1]]},\"correspondence\":[{\"from\":\"" EVIL
        "\",\"to\":1,\"matrix\":[[0.9,0.1],[0.2,null]]}],\"warnings\":[\"" EVIL
        "\"],\"method_fields\":{\"objective_start\":20,\"" EVIL "\":\"" EVIL "\",\"list\":[1,2.5,\"" EVIL
        "\"],\"deep\":[[1,2],{}]}}";

static kdr_status page_of(kdr_context *ctx, const char *file, const char *json, size_t size, char **html,
                          size_t *length)
{
	kdri_json_value *root = NULL;
	kdr_status st = kdri_json_parse(ctx, file, 1, json, size, &root);
	if (st == KDR_OK)
		st = kdri_result_file_check(ctx, file, root);
	if (st == KDR_OK)
		st = kdri_report_page(ctx, root, html, length);
	kdri_json_value_free(root);
	return st;
}

static kdr_status render(kdr_context *ctx, const char *json, char **html)
{
	char *bytes = NULL;
	size_t length = 0;
	kdr_status st = page_of(ctx, "r.json", json, strlen(json), &bytes, &length);
	if (st == KDR_OK) {
		*html = test_malloc(length + 1);
		memcpy(*html, bytes, length);
		(*html)[length] = '\0';
	}
	kdri_free(ctx, bytes);
	return st;
}

/* Every tag is closed by its own name, attributes are quoted, and no '<' occurs outside a tag. */
static void check_well_formed(const char *html)
{
	static const char *const empty[] = { "meta", "br", "rect", "line", "circle", "polyline" };
	char stack[64][16], name[16];
	int depth = 0;
	const char *p = strstr(html, "<html");
	assert_non_null(p);
	while ((p = strchr(p, '<')) != NULL) {
		bool closing = p[1] == '/';
		p += 1 + closing;
		size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789");
		assert_in_range(n, 1, sizeof name - 1);
		memcpy(name, p, n);
		name[n] = '\0';
		bool quoted = false;
		for (p += n; *p && (quoted || *p != '>'); p++) {
			quoted ^= *p == '"';
			assert_true(*p != '<');
		}
		assert_int_equal(*p, '>');
		bool single = p[-1] == '/';
		for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++)
			single |= strcmp(name, empty[i]) == 0 && (i < 2 || p[-1] == '/');
		if (closing) {
			assert_in_range(depth, 1, 64);
			assert_string_equal(stack[--depth], name);
		} else if (!single) {
			assert_in_range(depth, 0, 63);
			memcpy(stack[depth++], name, sizeof name);
		}
		if (!closing && strcmp(name, "style") == 0)
			p = strstr(p, "</style>");
		if (!closing && strcmp(name, "script") == 0)
			p = strstr(p, "</script>");
	}
	assert_int_equal(depth, 0);
}

/* The block of data in a page, parsed; `text` is to be freed after it. */
static kdri_json_value *block(kdr_context *ctx, const char *html, char **text)
{
	static const char begin[] = "<script type=\"application/json\" id=\"data\">";
	const char *from = strstr(html, begin);
	assert_non_null(from);
	from += sizeof begin - 1;
	size_t size = (size_t)(strstr(from, "</script>") - from);
	kdri_json_value *root = NULL;
	*text = test_malloc(size + 1);
	memcpy(*text, from, size);
	(*text)[size] = '\0';
	assert_ok(ctx, kdri_json_parse(ctx, "block", 1, *text, size, &root));
	return root;
}

static void render__full_result__data_have_the_schema_of_the_result(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	char *html = NULL, *text = NULL;
	assert_ok(ctx, render(ctx, full, &html));
	check_well_formed(html);
	kdri_json_value *root = block(ctx, html, &text);
	const kdri_json_value *tasks = kdri_json_get(root, "tasks"), *first = kdri_json_at(tasks, 0);
	assert_int_equal(kdri_json_count(tasks), 2);
	assert_int_equal(kdri_json_count(kdri_json_get(first, "labels")), 6);
	assert_near(kdri_json_number(kdri_json_get(kdri_json_get(first, "metrics"), "ari"), 0), -0.25, 0);
	/* labels that are texts: names, and which of them */
	const kdri_json_value *labels = kdri_json_get(kdri_json_at(tasks, 1), "labels");
	assert_int_equal(kdri_json_count(kdri_json_get(labels, "names")), 2);
	assert_int_equal(kdri_json_integer(kdri_json_at(kdri_json_get(labels, "index"), 2), -1), 1);
	assert_int_equal(kdri_json_count(kdri_json_get(root, "objective")), 3);
	assert_string_equal(kdri_json_text(kdri_json_get(root, "stop"), NULL), "max_iter");
	const kdri_json_value *about = kdri_json_get(root, "about");
	assert_true(kdri_json_count(kdri_json_get(about, "options")) > 0);
	assert_non_null(
	        kdri_json_text(kdri_json_get(kdri_json_get(about, "meanings"), "objective_start"), NULL));
	kdri_json_value_free(root);
	test_free(text);
	test_free(html);
	kdr_context_free(ctx);
}

/* What could end the block or a string of it is not in it, whatever names hold. */
static void render__hostile_names__are_escaped_everywhere(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	char *html = NULL, *text = NULL;
	assert_ok(ctx, render(ctx, full, &html));
	kdri_json_value *root = block(ctx, html, &text);
	assert_null(strpbrk(text, "<>&"));
	int found = 0;
	for (const char *p = text;
	     (p = strstr(p, "\\u003cscript\\u003ealert('x')\\u003c/script\\u003e\\u0022\\u0026")); p++)
		found++;
	assert_true(found >= 12);
	/* the text itself comes back */
	assert_string_equal(
	        kdri_json_text(kdri_json_get(kdri_json_at(kdri_json_get(root, "tasks"), 0), "name"), NULL),
	        "<script>alert('x')</script>\"&");
	kdri_json_value_free(root);
	test_free(text);
	test_free(html);
	/* Control characters, ends of lines and marks that turn the direction of text do not reach the page. */
	assert_ok(ctx, render(ctx, "{\"tasks\":[{\"name\":\"a\\u0001b\\u202ec\\u2028d\"}]}", &html));
	root = block(ctx, html, &text);
	assert_string_equal(
	        kdri_json_text(kdri_json_get(kdri_json_at(kdri_json_get(root, "tasks"), 0), "name"), NULL),
	        "a\uFFFDb\uFFFDc\u2028d");
	assert_null(strstr(text, "\u2028"));
	kdri_json_value_free(root);
	test_free(text);
	test_free(html);
	kdr_context_free(ctx);
}

/* Texts in a result never replace those of the registry. */
static void render__own_about__is_ignored(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	char *html = NULL, *text = NULL;
	assert_ok(ctx, render(ctx, "{\"method\":\"kmeans\",\"about\":{\"title\":\"forged\"}}", &html));
	kdri_json_value *root = block(ctx, html, &text);
	assert_string_not_equal(kdri_json_text(kdri_json_get(kdri_json_get(root, "about"), "title"), NULL),
	                        "forged");
	kdri_json_value_free(root);
	test_free(text);
	test_free(html);
	kdr_context_free(ctx);
}

/* FIPS 180-4: of nothing, of "abc", and of lengths around a block. */
static void hash__known_texts__known_sums(void **state)
{
	(void)state;
	char out[45], a[65];
	memset(a, 'a', sizeof a);
	kdri_page_hash("", 0, out);
	assert_string_equal(out, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
	kdri_page_hash("abc", 3, out);
	assert_string_equal(out, "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
	kdri_page_hash(a, 55, out);
	assert_string_equal(out, "n0OQ+NMMLdkuyfCVtl4rmumwqSWlJY4kHJ8ekQ9zQxg=");
	kdri_page_hash(a, 56, out);
	assert_string_equal(out, "s1Q5pKxvCUi21vnjxq8PX1kM4g8b3nCQ73lwaG7Gc4o=");
	kdri_page_hash(a, 64, out);
	assert_string_equal(out, "/+BU/nrgy23GXDr5th1SCfQ5hR20PQulmXM33xVGaOs=");
}

static void render__same_result__same_bytes_and_no_address(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	char *a = NULL, *b = NULL;
	assert_ok(ctx, render(ctx, full, &a));
	assert_ok(ctx, render(ctx, full, &b));
	assert_string_equal(a, b);
	/* nothing to fetch: the one address is the name of SVG's elements */
	const char *address = strstr(a, "://");
	assert_non_null(address);
	assert_memory_equal(address, "://www.w3.org/2000/svg", 22);
	assert_null(strstr(address + 1, "://"));
	assert_null(strstr(a, "url("));
	assert_null(strstr(a, "innerHTML"));
	assert_null(strstr(a, "eval("));
	test_free(a);
	test_free(b);
	kdr_context_free(ctx);
}

static void render__missing_or_null_fields__are_left_out(void **state)
{
	(void)state;
	static const char *const sparse[] = {
		"{\"tasks\":[]}",
		"{\"tasks\":[{}]}",
		"{\"kindred\":\"9\"}",
		"{\"method\":\"no such method\",\"options\":{\"a\":1}}",
		"{\"method\":\"kmeans\",\"tasks\":null,\"objective\":null,\"seconds\":null,\"warnings\":null}",
		"{\"tasks\":[{\"labels\":[]}],\"objective\":[]}",
		"{\"tasks\":[{\"sizes\":[0]},{\"sizes\":[]}],\"objective\":[0]}",
		"{\"tasks\":[],\"objective\":[5],\"stop\":\"unheard of\"}",
		"{\"tasks\":[],\"objective\":[-1e308,1e308]}",
		"{\"tasks\":[],\"objective\":[5e-324,1e308,7]}",
		"{\"tasks\":[],\"objective\":[1000000.1,1000000.100001]}",
		"{\"tasks\":[],\"relatedness\":{}}",
		"{\"tasks\":[],\"relatedness\":{\"matrix\":[[null]]},\"correspondence\":[{}]}",
		"{\"tasks\":[],\"correspondence\":[{\"matrix\":[[],[]]},{\"matrix\":[[0]]}]}",
		"{\"tasks\":[],\"seconds\":{\"fit\":1e308,\"read\":1e308,\"total\":-1},\"seed\":\"18446744073709551615\"}",
		"{\"tasks\":[{\"n\":0,\"d\":0,\"nnz\":0,\"k\":0,\"labels\":[-1,3,3]}]}",
	};
	kdr_context *ctx = unit_context();
	for (size_t i = 0; i < sizeof sparse / sizeof sparse[0]; i++) {
		char *html = NULL;
		assert_ok(ctx, render(ctx, sparse[i], &html));
		check_well_formed(html);
		char *text = NULL;
		kdri_json_value_free(block(ctx, html, &text));
		test_free(text);
		test_free(html);
	}
	kdr_context_free(ctx);
}

static void render__malformed__says_file_field_and_reason(void **state)
{
	(void)state;
	static const struct {
		const char *json, *words;
	} bad[] = {
		{ "", "unexpected end" },
		{ "{\"tasks\":[", "unexpected end" },
		{ "{\"tasks\":[}", "line 1" },
		{ "[]", "not a result" },
		{ "{}", "not a result" },
		{ "{\"tasks\":1}", "tasks is a whole number, but must be an array" },
		{ "{\"tasks\":[],\"tasks\":[]}", "occurs twice" },
		{ "{\"tasks\":[],\"method\":[]}", "method is an array, but must be a string" },
		{ "{\"tasks\":[7]}", "tasks[0] is a whole number, but must be an object" },
		{ "{\"tasks\":[{\"n\":-1}]}", "tasks[0].n is" },
		{ "{\"tasks\":[{},{\"n\":1.5}]}", "tasks[1].n is" },
		{ "{\"tasks\":[{\"sizes\":[1,\"a\"]}]}", "tasks[0].sizes[1]" },
		{ "{\"tasks\":[{\"sizes\":[8000000000000000000,8000000000000000000]}]}", "too large" },
		{ "{\"tasks\":[{\"labels\":[1,\"a\"]}]}", "tasks[0].labels[1]" },
		{ "{\"tasks\":[{\"labels\":[\"a\",1]}]}", "tasks[0].labels[1]" },
		{ "{\"tasks\":[{\"metrics\":[]}]}", "tasks[0].metrics" },
		{ "{\"tasks\":[{\"metrics\":{\"acc\":\"x\"}}]}", "tasks[0].metrics" },
		{ "{\"tasks\":[],\"objective\":[null]}", "objective[0] is null" },
		{ "{\"tasks\":[],\"method_fields\":{\"objective_start\":\"a\"}}",
		  "method_fields.objective_start" },
		{ "{\"tasks\":[],\"relatedness\":{\"matrix\":[[1,2]]}}", "square" },
		{ "{\"tasks\":[],\"relatedness\":{\"tasks\":[\"a\"],\"matrix\":[[1,2],[3,4]]}}", "1 names" },
		{ "{\"tasks\":[],\"correspondence\":[{\"matrix\":[[1],[1,2]]}]}",
		  "correspondence[0].matrix[1]" },
		{ "{\"tasks\":[],\"correspondence\":[{\"matrix\":[[true]]}]}", "matrix[0][0] is true" },
		{ "{\"tasks\":[],\"correspondence\":[{\"from\":3}]}", "correspondence[0].from" },
		{ "{\"tasks\":[],\"warnings\":[1]}", "warnings" },
		{ "{\"tasks\":[],\"seed\":{}}", "seed" },
		{ "{\"tasks\":[],\"seconds\":{\"fit\":\"x\"}}", "seconds.fit" },
	};
	kdr_context *ctx = unit_context();
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char *html = NULL;
		assert_int_equal(render(ctx, bad[i].json, &html), KDR_ERR_FORMAT);
		if (!strstr(kdr_context_error(ctx), bad[i].words) ||
		    !strstr(kdr_context_error(ctx), "r.json: "))
			fail_msg("%s gives: %s", bad[i].json, kdr_context_error(ctx));
	}
	kdr_context_free(ctx);
}

static void render__truncated_anywhere__is_refused(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (size_t n = 0; n < sizeof full - 1; n++) {
		char *html = NULL;
		size_t length = 0;
		assert_int_equal(page_of(ctx, "r.json", full, n, &html, &length), KDR_ERR_FORMAT);
	}
	kdr_context_free(ctx);
}

static void render__long_trace_and_many_clusters__stay_small(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	size_t room = 8 << 20, used = 0;
	char *json = test_malloc(room), *html = NULL;
	used += (size_t)snprintf(json, room, "{\"tasks\":[{\"name\":\"t\",\"sizes\":[1");
	for (int i = 0; i < 5000; i++)
		used += (size_t)snprintf(json + used, room - used, ",%d", i);
	used += (size_t)snprintf(json + used, room - used, "]}],\"objective\":[100000.5");
	for (int i = 0; i < 100000; i++)
		used += (size_t)snprintf(json + used, room - used, ",%d", i == 70001 ? 999999 : 100000 - i);
	snprintf(json + used, room - used, "]}");
	assert_ok(ctx, render(ctx, json, &html));
	check_well_formed(html);
	assert_true(strlen(html) < 300000);
	char *text = NULL;
	kdri_json_value *root = block(ctx, html, &text);
	const kdri_json_value *objective = kdri_json_get(root, "objective"),
	                      *points = kdri_json_get(objective, "points");
	assert_int_equal(kdri_json_integer(kdri_json_get(objective, "count"), 0), 100001);
	assert_int_equal(kdri_json_integer(kdri_json_get(objective, "rose"), 0), 1);
	bool spike = false; /* the one spike survives thinning */
	for (int64_t i = 0; i < kdri_json_count(points); i++)
		spike |= kdri_json_number(kdri_json_at(kdri_json_at(points, i), 1), 0) == 999999;
	assert_true(spike);
	kdri_json_value_free(root);
	test_free(text);
	test_free(html);
	test_free(json);
	kdr_context_free(ctx);
}

/* Labels, coordinates, confidence and ids of many samples: checks the promised sizes. */
static void check_size(int64_t n, size_t most)
{
	kdr_context *ctx = unit_context();
	size_t room = (size_t)n * 100 + 1000, used = 0;
	char *json = test_malloc(room), *html = NULL;
	static const char *const lists[] = { "\"labels\":[", "],\"confidence\":[", "],\"ids\":[",
		                             "],\"embedding\":{\"x\":[", "],\"y\":[" };
	used += (size_t)snprintf(json, room, "{\"tasks\":[{");
	for (int l = 0; l < 5; l++) {
		used += (size_t)snprintf(json + used, room - used, "%s", lists[l]);
		for (int64_t i = 0; i < n; i++)
			used += (size_t)snprintf(json + used, room - used,
			                         l == 0   ? "%s%lld"
			                         : l == 1 ? "%s0.123456789%lld"
			                         : l == 2 ? "%s\"sample-%lld\""
			                                  : "%s%lld",
			                         i ? "," : "",
			                         (long long)(l == 0  ? i % 20
			                                     : l < 3 ? i
			                                             : (i * 7919) % 65536));
	}
	snprintf(json + used, room - used, "]}}]}");
	assert_ok(ctx, render(ctx, json, &html));
	assert_true(strlen(html) < most);
	test_free(html);
	test_free(json);
	kdr_context_free(ctx);
}

static void render__many_samples__stays_small(void **state)
{
	(void)state;
	check_size(20000, 2000000);
	check_size(200000, 8000000);
}

static void render__every_registered_method__tells_title_options_and_references(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (size_t a = 0; a < kdr_algo_count(); a++) {
		const kdr_algo *algo = kdr_algo_at(a);
		char json[256], *html = NULL, *text = NULL;
		if (!algo->options || !algo->options->name)
			continue;
		snprintf(json, sizeof json, "{\"method\":\"%s\",\"command\":\"%s\",\"options\":{\"%s\":-77}}",
		         algo->id, algo->family == KDR_FAMILY_TRANSFER ? "transfer" : "cluster",
		         algo->options->name);
		assert_ok(ctx, render(ctx, json, &html));
		kdri_json_value *root = block(ctx, html, &text);
		const kdri_json_value *about = kdri_json_get(root, "about"),
		                      *options = kdri_json_get(about, "options");
		assert_string_equal(kdri_json_text(kdri_json_get(about, "title"), NULL), algo->title);
		int64_t i = 0;
		for (const kdr_option_desc *d = algo->options; d->name; d++, i++) {
			const kdri_json_value *o = kdri_json_at(options, i);
			assert_string_equal(kdri_json_text(kdri_json_get(o, "name"), NULL), d->name);
			assert_string_equal(kdri_json_text(kdri_json_get(o, "help"), NULL), d->help);
			assert_int_equal(kdri_json_is(kdri_json_get(o, "changed"), KDRI_JSON_TRUE), i == 0);
		}
		i = 0;
		for (const char *const *p = algo->references; p && *p; p++, i++)
			assert_string_equal(
			        kdri_json_text(kdri_json_at(kdri_json_get(about, "references"), i), NULL),
			        *p);
		kdri_json_value_free(root);
		test_free(text);
		test_free(html);
	}
	kdr_context_free(ctx);
}

/* --- memory --------------------------------------------------------------------------------- */

typedef struct meter {
	long left, live;
} meter;

static void *meter_alloc(void *user, size_t size)
{
	meter *m = user;
	if (m->left-- <= 0)
		return NULL;
	m->live++;
	return malloc(size);
}

static void *meter_realloc(void *user, void *ptr, size_t size)
{
	meter *m = user;
	return m->left-- <= 0 ? NULL : realloc(ptr, size);
}

static void meter_free(void *user, void *ptr)
{
	((meter *)user)->live--;
	free(ptr);
}

static void render__each_allocation_failing__gives_memory_error_and_no_leak(void **state)
{
	(void)state;
	kdr_status st = KDR_ERR_MEMORY;
	for (long n = 1; st != KDR_OK; n++) {
		meter m = { n, 0 };
		kdr_allocator allocator = { meter_alloc, meter_realloc, meter_free, &m };
		kdr_context *ctx = NULL;
		char *html = NULL;
		size_t length = 0;
		assert_true(n < 1000);
		assert_int_equal(kdr_context_new(&ctx, &allocator), KDR_OK);
		st = page_of(ctx, "r.json", full, sizeof full - 1, &html, &length);
		assert_true(st == KDR_OK || st == KDR_ERR_MEMORY);
		assert_true(st == KDR_OK || !html);
		kdri_free(ctx, html);
		kdr_context_free(ctx);
		assert_int_equal(m.live, 0);
	}
}

/* --- files ---------------------------------------------------------------------------------- */

static int entries(const char *folder)
{
	int n = 0;
	DIR *d = opendir(folder);
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void report__files__whole_or_not_at_all(void **state)
{
	(void)state;
	char folder[] = "/tmp/kindred-report-XXXXXX", in[64], out[64];
	kdr_context *ctx = unit_context();
	assert_non_null(mkdtemp(folder));
	snprintf(in, sizeof in, "%s/r.json", folder);
	snprintf(out, sizeof out, "%s/r.html", folder);
	assert_int_equal(kdr_report(ctx, in, out, false), KDR_ERR_READ);
	put_file(in, "{\"tasks\":[{\"n\":\"x\"}]}");
	assert_int_equal(kdr_report(ctx, in, out, false), KDR_ERR_FORMAT);
	assert_non_null(strstr(kdr_context_error(ctx), in));
	assert_int_equal(entries(folder), 1);
	put_file(in, full);
	assert_ok(ctx, kdr_report(ctx, in, out, false));
	assert_int_equal(kdr_report(ctx, in, out, false), KDR_ERR_EXISTS);
	assert_ok(ctx, kdr_report(ctx, in, out, true));
	assert_int_equal(entries(folder), 2);
	assert_int_equal(kdr_report(ctx, NULL, out, true), KDR_ERR_ARGUMENT);
	assert_int_equal(kdr_report(ctx, in, "/dev/null/r.html", true), KDR_ERR_WRITE);
	unlink(in);
	unlink(out);
	assert_int_equal(rmdir(folder), 0);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(render__full_result__data_have_the_schema_of_the_result),
		cmocka_unit_test(render__own_about__is_ignored),
		cmocka_unit_test(render__many_samples__stays_small),
		cmocka_unit_test(hash__known_texts__known_sums),
		cmocka_unit_test(render__hostile_names__are_escaped_everywhere),
		cmocka_unit_test(render__same_result__same_bytes_and_no_address),
		cmocka_unit_test(render__missing_or_null_fields__are_left_out),
		cmocka_unit_test(render__malformed__says_file_field_and_reason),
		cmocka_unit_test(render__truncated_anywhere__is_refused),
		cmocka_unit_test(render__long_trace_and_many_clusters__stay_small),
		cmocka_unit_test(render__every_registered_method__tells_title_options_and_references),
		cmocka_unit_test(render__each_allocation_failing__gives_memory_error_and_no_leak),
		cmocka_unit_test(report__files__whole_or_not_at_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
