#!/bin/sh
# Checks one configuration of idem.pml with Spin: check.sh NAME ok|fail -DFLAG...
# `ok` expects a proof, `fail` an error found. Prints one line; status 0 when the result is the expected one.
# Needs spin and a C compiler (CC, else clang-19, else cc).
set -u
model=$(cd "$(dirname "$0")" && pwd)/idem.pml
name=$1
expected=$2
shift 2

compiler=${CC:-}
if [ -z "$compiler" ]; then
  compiler=$(command -v clang-19 || command -v cc) || { echo "check.sh: no C compiler" >&2; exit 2; }
fi
command -v spin >/dev/null || { echo "check.sh: spin is missing (apt-get install spin)" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$model" "$work/idem.pml"
cd "$work" || exit 2

if ! spin -a "$@" idem.pml >spin.out 2>&1; then
  echo "$name: spin does not accept the model"
  cat spin.out
  exit 1
fi

# Safety by exhaustive search; liveness under weak fairness; a never-claim without fairness.
build=-DSAFETY
search=
case " $* " in
  *" -DLIVE "*) build=-DNFAIR=4 search="-a -f" ;;
  *" -DDONEST "*) build= search=-a ;;
esac
# shellcheck disable=SC2086
"$compiler" -O1 -w $build -DCOLLAPSE -o pan pan.c || exit 2
# shellcheck disable=SC2086
timeout 300 ./pan -m100000 -w22 $search >pan.out 2>&1

errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.out | tail -1)
states=$(awk '/states, stored/ { print $1; exit }' pan.out)
why=$(grep -E -m1 '^pan:[0-9]+:' pan.out)
# Spin also stops without an error when it ran out of depth, memory or time: that proves nothing.
got=unfinished
if [ "${errors:-}" = 0 ] && ! grep -qE 'max search depth too small|out of memory' pan.out; then got=ok; fi
if [ -n "${errors:-}" ] && [ "${errors:-0}" != 0 ]; then got=fail; fi

verdict=as-expected
[ "$got" = "$expected" ] || verdict=UNEXPECTED
printf '%-22s expected %-4s got %-10s %-11s %9s states  %s\n' "$name" "$expected" "$got" "$verdict" \
  "${states:-?}" "$why"
[ "$verdict" = as-expected ]
