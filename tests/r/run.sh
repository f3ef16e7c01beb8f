#!/bin/sh
# Tests of the R package. Usage: tests/r/run.sh BUILD PROGRAM PART
#   install    installs the package into BUILD/r/library, linked with the library of this build
#   testthat   its tests
#   guide      the R code of docs/r.md and README.md
#   check      R CMD check --as-cran of the tarball, which compiles everything (minutes)
# 77: R or a package of R is not installed.
set -eu
cd "$(dirname "$0")/../.."
build=$1 program=$2 part=$3
skip()
{
	echo "skipped: $1"
	exit 77
}
command -v Rscript >/dev/null || skip "R is not installed (Debian: r-base-dev r-cran-testthat r-cran-matrix)"
[ -e "$(R RHOME)/include/R.h" ] || [ -e "$(Rscript -e 'cat(R.home("include"))')/R.h" ] || skip "the headers of R are not installed (Debian: r-base-dev)"
has()
{
	Rscript -e "quit(status = !requireNamespace('$1', quietly = TRUE))" || skip "the R package $1 is not installed (Debian: r-cran-$1)"
}
case $part in
install)
	tools/r.sh "$build" "$build/r/library"
	;;
testthat)
	has testthat
	[ -d "$build/r/library/kindred" ] || skip "the package is not installed"
	cd r/tests
	R_LIBS=$build/r/library KINDRED=$program NOT_CRAN=true Rscript -e 'library(testthat); test_check("kindred", reporter = "check")'
	;;
guide)
	[ -d "$build/r/library/kindred" ] || skip "the package is not installed"
	R_LIBS=$build/r/library Rscript tests/r/guide.R "$PWD/docs/r.md" "$PWD/README.md"
	;;
check)
	for package in testthat Matrix knitr rmarkdown; do has $package; done
	for tool in checkbashisms qpdf; do command -v $tool >/dev/null || skip "$tool is not installed (Debian: devscripts qpdf)"; done
	tools/r.sh "$build"
	cd "$build/r"
	# Offline, neither the CRAN index nor the current time can be looked up; the list of orphaned packages is an empty one.
	mkdir -p cran/web/packages
	Rscript -e 'saveRDS(data.frame(Package = character(), Maintainer = character()), "cran/web/packages/packages.rds")'
	# -O1 halves the time to compile; other tests run the library with full optimisation.
	echo 'CFLAGS = -O1' >makevars
	R_MAKEVARS_USER=$PWD/makevars R_CRAN_WEB=file://$PWD/cran _R_CHECK_CRAN_INCOMING_=false _R_CHECK_SYSTEM_CLOCK_=false _R_CHECK_FORCE_SUGGESTS_=false KINDRED=$program R CMD check --as-cran --no-manual kindred_*.tar.gz
	# The only note may be the list of suggested packages that are not installed.
	status=$(sed -n 's/^Status: //p' kindred.Rcheck/00check.log)
	[ "$status" = OK ] || { [ "$status" = "1 NOTE" ] && grep -q '^Packages suggested but not available' kindred.Rcheck/00check.log; }
	;;
esac
