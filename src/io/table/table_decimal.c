/* The decimal sign of each column of numbers. SPDX-License-Identifier: BSD-3-Clause
 *
 * A number such as 12,5 or 1.234,5 can only be read with a decimal comma, 12.5 or 1,234.5 only with a point; 7 is the
 * same with both, and 1,234 and 1.234 are different numbers with each. The sign of a column is the one that fits all
 * its numbers. If both fit and the numbers differ, it is the one that the other columns need. If there is none, it is
 * the point if only points are ambiguous, as in every table written by a program. An ambiguous comma is an error: the
 * user specifies the sign with --decimal. */
#include <stdio.h>

#include "io/table/table.h"

/* How a column of numbers is written, for people. */
static void put_why(const kdri_evidence *e, char point, char *why, size_t room)
{
	why[0] = '\0';
	if (point == ',' && e->decimals == KDRI_COMMA)
		kdri_list_add(why, room, "decimal comma");
	if (e->grouped)
		kdri_list_add(why, room, "thousands separators");
	if (e->percent)
		kdri_list_add(why, room, "percent");
	if (e->currency > 0)
		kdri_list_add(why, room, "%s", kdri_currency_name(e->currency));
}

/* The error in the numbers of a column that is independent of their decimal sign. */
static kdr_status check_units(kdr_context *ctx, const kdri_evidence *e, const kdri_csv_layout *l, int64_t j,
                              kdr_findings *findings)
{
	char place[160], title[24], then[200];
	snprintf(then, sizeof then, "fix the file, or use --columns '-%.60s' to skip the column",
	         kdri_csv_title(l, j, title));
	if (e->infinite && !l->keep_nonfinite)
		KDRI_DO(kdri_finding_add(
		        ctx, findings, e->infinite_line, true, "use --na 'inf' to treat it as missing",
		        "%s: %lld cell%s not a finite number", kdri_place(l, e->infinite_line, j, place),
		        (long long)e->infinite, e->infinite == 1 ? " is" : "s are"));
	if (e->percent && e->unit)
		KDRI_DO(kdri_finding_add(ctx, findings, 0, true, then,
		                         "%s: some numbers have a percent sign and some do not",
		                         kdri_place(l, 0, j, place)));
	if (e->currency < 0)
		KDRI_DO(kdri_finding_add(ctx, findings, 0, true, then,
		                         "%s: amounts are in several currencies",
		                         kdri_place(l, 0, j, place)));
	return KDR_OK;
}

/* The decimal separator of a column; 0: ambiguous. */
static char sign_of(const kdri_evidence *e, bool point_needed, bool comma_needed)
{
	if (e->decimals != (KDRI_POINT | KDRI_COMMA))
		return e->decimals == KDRI_COMMA ? ',' : e->decimals == KDRI_POINT ? '.' : '\0';
	if (!e->point_differs && !e->comma_differs)
		return '.';
	if (point_needed != comma_needed)
		return comma_needed ? ',' : '.';
	return e->comma_differs || comma_needed ? '\0' : '.';
}

static kdr_status table_decimal_refuse(kdr_context *ctx, const kdri_evidence *e, const kdri_csv_layout *l,
                                       int64_t j, bool specified, kdr_findings *findings)
{
	char place[160];
	if (e->decimals == 0 || specified)
		return kdri_finding_add(
		        ctx, findings, e->mixed_line ? e->mixed_line : 0, true,
		        "specify the decimal separator with --decimal, or use --na to treat values as missing",
		        "%s: '%.40s' does not match the decimal %s of other cells",
		        kdri_place(l, e->mixed_line, j, place), e->mixed[0] ? e->mixed : "a number",
		        specified ? (l->point == ',' ? "comma" : "point") : "sign");
	bool comma = e->unclear_line != 0;
	return kdri_finding_add(ctx, findings, e->unclear_line, true, "specify it with --decimal '.' or ','",
	                        "%s: '%.40s' is ambiguous: decimal %s or thousands separator",
	                        kdri_place(l, e->unclear_line, j, place), comma ? e->unclear : "a number",
	                        comma ? "comma" : "point");
}

kdr_status kdri_decimals_decide(kdr_context *ctx, const kdr_read_options *o, const kdri_survey *s,
                                kdri_csv_layout *l, kdr_findings *findings)
{
	bool point = false, comma = false;
	for (int64_t j = 0; j < l->fields; j++)
		if (l->roles[j].kind == KDR_COLUMN_NUMBER) {
			point = point || s->fields[j].decimals == KDRI_POINT;
			comma = comma || s->fields[j].decimals == KDRI_COMMA;
		}
	for (int64_t j = 0; j < l->fields; j++) {
		const kdri_evidence *e = &s->fields[j];
		kdri_role *role = &l->roles[j];
		if (role->kind != KDR_COLUMN_NUMBER || e->numbers < e->cells - e->missing)
			continue; /* cells that are not numbers were refused before */
		KDRI_DO(check_units(ctx, e, l, j, findings));
		bool fits = e->decimals & (l->point == ',' ? KDRI_COMMA : KDRI_POINT);
		char sign = o->decimal ? (fits ? l->point : '\0') : sign_of(e, point, comma);
		if (sign == '\0') {
			KDRI_DO(table_decimal_refuse(ctx, e, l, j, o->decimal != NULL, findings));
			continue;
		}
		l->points[j] = sign;
		put_why(e, sign, role->why, sizeof role->why);
	}
	return KDR_OK;
}
