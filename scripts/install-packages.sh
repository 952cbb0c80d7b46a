#!/usr/bin/env bash
# Installs the Debian 12 packages onceward needs; the only list of them.
#
#   scripts/install-packages.sh demo    what building needs
#   scripts/install-packages.sh test    the same, and what tests, sanitizers and checks need (default)
#
# Does nothing, and needs no network and no root, when all of them are there.
set -euo pipefail

# CMake looks for doctest even when no test is built; it is one header.
demo_packages=(
    clang-19 cmake ninja-build ccache pkg-config
    libboost1.81-dev libhiredis-dev libpq-dev libsqlite3-dev libyaml-dev nlohmann-json3-dev libssl-dev libspdlog-dev libfmt-dev
    libcli11-dev libre2-dev libexpat1-dev doctest-dev
    curl ca-certificates
)
test_packages=(clang-tidy-19 clang-format-19 libclang-rt-19-dev openssl postgresql-15 pgbouncer redis-server)

fail() {
    printf 'install-packages: %s\n' "$@" >&2
    exit 1
}

group=${1:-test}
case $group in
    demo) wanted=("${demo_packages[@]}") ;;
    test) wanted=("${demo_packages[@]}" "${test_packages[@]}") ;;
    *) fail "unknown group '$group': demo or test" ;;
esac

command -v dpkg-query >/dev/null || fail \
    "this is not Debian. onceward is built on Debian 12; install the equivalents of:" "${wanted[*]}"

installed() {
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

missing=()
for package in "${wanted[@]}"; do
    installed "$package" || missing+=("$package")
done
((${#missing[@]})) || exit 0

command -v apt-get >/dev/null || fail "apt-get is missing; install these packages yourself:" "${missing[*]}"

# Only one libboost1.NN-dev can be installed at a time. apt would remove the other one without asking, and with
# it whatever builds against it.
while read -r status other; do
    if [[ $status == installed && $other != libboost1.81-dev ]]; then
        fail "$other is installed and conflicts with libboost1.81-dev, which onceward needs." \
            "Remove it first (apt-get remove $other), or build in a container."
    fi
done < <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 'libboost1.*-dev' 2>/dev/null |
    grep -E ' libboost1\.[0-9]+-dev$' || true)

as_root=()
if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "neither root nor sudo; ask for these packages:" "${missing[*]}"
    as_root=(sudo)
fi

printf 'install-packages: installing %s\n' "${missing[*]}"
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3 -o Dpkg::Use-Pty=0)
"${apt[@]}" update
for package in "${missing[@]}"; do
    apt-cache show "$package" >/dev/null 2>&1 ||
        fail "this system has no package '$package'. onceward is built on Debian 12 (bookworm)."
done
"${apt[@]}" install -y --no-install-recommends "${missing[@]}"
