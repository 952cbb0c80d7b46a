#!/bin/sh
# Proves the protocol's configurations and finds every mutant: all of check.sh's runs, about two minutes.
# Runs from any directory; status 1 when any result is not the expected one. For nightly and full checks.
set -u
here=$(cd "$(dirname "$0")" && pwd)
count=0
unexpected=0

check() {
  count=$((count + 1))
  "$here/check.sh" "$@" || unexpected=$((unexpected + 1))
}

check base ok -DR=2
check base-2-crashes-2-faults ok -DR=2 -DMAXC=2 -DMAXF=2
check gatehint ok -DR=2 -DGATEHINT
check split ok -DR=2 -DSPLIT
check probe ok -DR=2 -DPROBE
check split+probe ok -DR=2 -DSPLIT -DPROBE
check reexec ok -DR=2 -DREEXEC
check live ok -DR=2 -DLIVE
check live-split-probe ok -DR=2 -DSPLIT -DPROBE -DLIVE
check done-stable ok -DR=2 -DDONEST
for mutant in ARBITER SETNX_LOST DELETE SEND_FIRST STEAL OPTIMISTIC PUBLISH_FIRST REPLY_FIRST AUTORETRY \
  RESET_RELEASE PARTIAL_DONE FALSE_SUCCESS ASYNC RETENTION NOCLEAN; do
  check "$mutant" fail -DR=2 "-DM_$mutant"
done
check NOFENCE/reexec fail -DR=2 -DREEXEC -DM_NOFENCE
check NOFENCE/probe fail -DR=2 -DPROBE -DM_NOFENCE
check PROBE_EARLY fail -DR=2 -DPROBE -DM_PROBE_EARLY
check PROBE_BUSY fail -DR=2 -DPROBE -DM_PROBE_BUSY

echo "$count checks, $unexpected unexpected"
[ "$unexpected" = 0 ]
