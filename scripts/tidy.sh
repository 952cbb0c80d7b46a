#!/usr/bin/env bash
# Checks formatting, that each header compiles alone, and a short list of clang-tidy rules.
#
#   scripts/tidy.sh [--format] [--headers] [--clang-tidy] [--changed] [--fix] [BUILD_DIR]
#
#   --format      only the formatting (names of checks add up; none means all)
#   --headers     only that each header compiles alone
#   --clang-tidy  only clang-tidy, with the compile commands of BUILD_DIR
#                 (default: build/release, else build/debug)
#   --changed     only files that differ from the last commit, untracked ones included
#   --fix         reformat instead of complaining about the formatting
#
# Exit code: 0 clean, 1 something was found, 2 wrong usage, 3 a tool or the build directory is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { sed -n '2,14s/^# \{0,1\}//p' scripts/tidy.sh; }
stop() {
    local status=$1
    shift
    printf 'tidy: %s\n' "$@" >&2
    exit "$status"
}
need() { command -v "$1" >/dev/null || stop 3 "$1 is missing: scripts/install-packages.sh test"; }

checks=()
changed=no
fix=no
build=
while (($#)); do
    case $1 in
        --format | --headers | --clang-tidy) checks+=("${1#--}") ;;
        --changed) changed=yes ;;
        --fix) fix=yes ;;
        -h | --help) usage; exit 0 ;;
        -*) usage >&2; stop 2 "unknown option $1" ;;
        *) [[ -z $build ]] || stop 2 "more than one build directory"; build=$1 ;;
    esac
    shift
done
((${#checks[@]})) || checks=(format headers clang-tidy)

# The C++ files to look at, one a line: what git knows or would add; without git, what is there.
sources() {
    if ! git rev-parse --git-dir >/dev/null 2>&1; then
        find proxy tests bench cmake -name '*.cpp' -o -name '*.hpp'
    elif [[ $changed == yes ]] && git rev-parse --verify --quiet HEAD >/dev/null; then
        git diff --name-only --diff-filter=d HEAD -- '*.cpp' '*.hpp'
        git ls-files --others --exclude-standard -- '*.cpp' '*.hpp'
    else
        git ls-files --cached --others --exclude-standard -- '*.cpp' '*.hpp'
    fi | sort -u | while IFS= read -r file; do
        [[ ! -f $file ]] || printf '%s\n' "$file"
    done
}
mapfile -t files < <(sources)
found=0

# each COMMAND...: runs it once for every line of stdin, on all cores; fails when one of them does.
each() { xargs -r -d '\n' -P "$(nproc)" -n 1 "$@"; }
only() { printf '%s\n' ${files[@]+"${files[@]}"} | grep -E "$1" || true; }

check_format() {
    need clang-format-19
    local mode=(--dry-run --Werror)
    [[ $fix == no ]] || mode=(-i)
    only . | xargs -r -d '\n' clang-format-19 "${mode[@]}" || found=1
}

# Two standard headers that happen to come first hide a missing include of ours; alone, it shows.
compile_alone() {
    printf '#include "%s"\n' "$PWD/$1" | clang++-19 -std=c++20 -fsyntax-only -x c++ \
        -Wall -Wextra -Werror -Iproxy -Itests -DONCEWARD_SOURCE_DIR='""' -DONCEWARD_BINARY='""' \
        -DBOOST_ASIO_SEPARATE_COMPILATION -DBOOST_BEAST_SEPARATE_COMPILATION \
        -DBOOST_DISABLE_ASSERTS -DBOOST_ASIO_NO_DEPRECATED - ||
        { printf 'tidy: %s does not compile alone\n' "$1" >&2; return 1; }
}
export -f compile_alone

check_headers() {
    need clang++-19
    only '\.hpp$' | each bash -c 'compile_alone "$1"' _ || found=1
}

# Only what the build directory compiles: other files have no compile command to go by.
compiled() {
    local file
    while IFS= read -r file; do
        grep -qF "\"file\": \"$PWD/$file\"" "$build/compile_commands.json" && printf '%s\n' "$file"
    done || true
}

check_clang_tidy() {
    need clang-tidy-19
    if [[ -z $build ]]; then
        build=build/release
        [[ -f $build/compile_commands.json ]] || build=build/debug
    fi
    [[ -f $build/compile_commands.json ]] ||
        stop 3 "no $build/compile_commands.json: cmake --preset release"
    only '\.cpp$' | compiled | each clang-tidy-19 --quiet -p "$build" || found=1
}

for check in "${checks[@]}"; do
    case $check in
        format) check_format ;;
        headers) check_headers ;;
        clang-tidy) check_clang_tidy ;;
    esac
done
((found == 0)) || stop 1 "found something in: ${checks[*]}"
printf 'tidy: clean (%s; %d files).\n' "${checks[*]}" "${#files[@]}"
