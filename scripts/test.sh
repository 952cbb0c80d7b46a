#!/usr/bin/env bash
# Installs what is missing, builds everything and runs every test.
#
#   scripts/test.sh [--preset release|debug|asan|tsan] [--full] [ctest arguments]
#
#   --preset P   the build to test (default: release)
#   --full       also under both sanitizers, with clang-tidy, and the protocol's model
set -euo pipefail
cd "$(dirname "$0")/.."
# Objects of one checkout serve another: paths below the checkout count as relative.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

usage() { sed -n '2,7s/^# \{0,1\}//p' scripts/test.sh; }

preset=release
full=no
ctest_arguments=()
while (($#)); do
    case $1 in
        --preset) preset=${2:?--preset needs a name}; shift ;;
        --full) full=yes ;;
        -h | --help) usage; exit 0 ;;
        *) ctest_arguments+=("$1") ;;
    esac
    shift
done

summary=()
# build_and_test PRESET: stops the script when either fails.
build_and_test() {
    local name=$1 start=$SECONDS built
    cmake --preset "$name" >/dev/null
    cmake --build --preset "$name" -j "$(nproc)"
    built=$((SECONDS - start))
    ctest --preset "$name" ${ctest_arguments[@]+"${ctest_arguments[@]}"}
    summary+=("$name: built in ${built} s, tested in $((SECONDS - start - built)) s")
}
# failed_where: says so when a step ends the script.
step=install
failed_where() {
    local status=$?
    ((status == 0)) || echo "test.sh: FAILED at: $step (exit $status)" >&2
}
trap failed_where EXIT

scripts/install-packages.sh test

if [[ -x scripts/tidy.sh ]]; then
    step="formatting (scripts/tidy.sh)"
    scripts/tidy.sh --format
fi

step="preset $preset"
build_and_test "$preset"

if [[ $full == yes ]]; then
    for other in asan tsan; do
        [[ $other != "$preset" ]] || continue
        step="preset $other"
        build_and_test "$other"
    done
    step="clang-tidy (scripts/tidy.sh)"
    scripts/tidy.sh "build/$preset"
    summary+=("clang-tidy clean")
    if [[ -x tests/model/run_all.sh ]]; then
        step="the model"
        tests/model/run_all.sh
        summary+=("model checked")
    fi
fi

printf 'test.sh: all passed.'
printf ' %s.' "${summary[@]}"
printf '\n'
