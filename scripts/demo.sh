#!/usr/bin/env bash
# Builds onceward, puts it before an API without idempotency, and shows what becomes of retries.
#
#   scripts/demo.sh [--assert] [--keep] [--port N]
#
#   --assert   check every step; exit 1 when one is not as expected
#   --keep     leave both running until Ctrl-C, and print commands to try
#   --port N   the proxy's port (default: any free one)
set -euo pipefail
cd "$(dirname "$0")/.."
# Objects of one checkout serve another: paths below the checkout count as relative.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

usage() { sed -n '2,8s/^# \{0,1\}//p' scripts/demo.sh; }

demo_arguments=()
keep=no
port=0
while (($#)); do
    case $1 in
        --assert) demo_arguments+=(--assert) ;;
        --keep) keep=yes ;;
        --port) port=${2:-}; (($# == 1)) || shift ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done
if [[ ! $port =~ ^[0-9]{1,5}$ ]]; then
    echo "demo: --port needs a number, not '$port'" >&2
    exit 2
fi

work=
pids=()
cleanup() {
    local status=$?
    trap '' INT TERM
    if [[ -n $work && -d $work ]]; then
        ((status == 0 || status == 130 || status == 143)) || show_logs
    fi
    # The proxy first: it drains before the API behind it goes.
    local index pid
    for ((index = ${#pids[@]} - 1; index >= 0; index--)); do
        pid=${pids[index]}
        kill -TERM "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    [[ -z $work ]] || rm -rf "$work"
    rmdir .demo 2>/dev/null || true
    exit "$status"
}
show_logs() {
    local log
    for log in "$work"/*.log; do
        [[ -s $log ]] || continue
        echo "--- the end of ${log##*/}" >&2
        tail -n 40 "$log" >&2
    done
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# 1. Packages and the program.
scripts/install-packages.sh demo
cmake --preset release >/dev/null
cmake --build --preset release --target onceward -j "$(nproc)"
onceward=build/release/onceward

# 2. A private place for the records, on the disk the checkout is on: /tmp is often memory.
mkdir -p .demo
work=$(mktemp -d .demo/run.XXXXXX)
work=$(cd "$work" && pwd)
ephemeral=
case $(stat -f -c %T "$work") in
    tmpfs | ramfs | overlayfs | overlay)
        echo "demo: this directory lives in memory or in a container layer, where records do not survive;" \
            "that is fine for a demo, so the store is told so (store.ephemeral: true)."
        ephemeral=$'\n  ephemeral: true'
        ;;
esac

# listening_line LOG PID: waits for the program to say where it listens.
listening_line() {
    local log=$1 pid=$2 tries
    for ((tries = 0; tries < 600; tries++)); do
        if grep -s -m 1 '"event":"listening"' "$log"; then return 0; fi
        if ! kill -0 "$pid" 2>/dev/null; then break; fi
        sleep 0.05
    done
    echo "demo: ${log##*/} tells why this program did not start" >&2
    return 1
}
# address NAME: that member of the JSON line on stdin.
address() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

# 3. The API without idempotency, and the proxy before it.
"$onceward" demo-upstream --listen 127.0.0.1:0 >"$work/legacy-api.log" 2>&1 &
pids+=($!)
line=$(listening_line "$work/legacy-api.log" "${pids[0]}")
upstream=$(address upstream <<<"$line")

cat >"$work/onceward.yaml" <<YAML
version: 1
server:
  listen: 127.0.0.1:$port
  upstream: http://$upstream
observability:
  listen: 127.0.0.1:0
admin:
  listen: 127.0.0.1:0
store:
  sqlite: '${work//\'/\'\'}/onceward.db'$ephemeral
keys:
  subject: credential
tiers:
  payments:
    retention: 14d
    retry_budget: { total: 15m, skew: 2m, replay_window: 7d }
    lease: 60s
routes:
  - name: charges
    match: { method: POST, path: /v1/charges }
    tier: payments
YAML
"$onceward" run -c "$work/onceward.yaml" >"$work/proxy.log" 2>&1 &
pids+=($!)
line=$(listening_line "$work/proxy.log" "${pids[1]}")
proxy=$(address proxy <<<"$line")
metrics=$(address observability <<<"$line")
admin=$(address admin <<<"$line")

# 4. The steps.
"$onceward" demo --proxy "http://$proxy" --upstream "http://$upstream" ${demo_arguments[@]+"${demo_arguments[@]}"}

if [[ $keep == yes ]]; then
    cat <<TEXT

Still running; Ctrl-C stops both. Try, as often as you like:

  curl -i http://$proxy/v1/charges -H 'Authorization: Bearer me' -H 'Idempotency-Key: my-first-key' \\
       -H 'Content-Type: application/json' -d '{"account":"me","amount":10}'
  curl -s 'http://$upstream/_executions?key=my-first-key'     # what the API behind really did
  curl -s http://$upstream/v1/accounts/me

  The API dies after charging:   add  -H 'X-Demo: die=after-charge'  and take a new key
  It is slow:                    add  -H 'X-Demo: delay=2000'  and send it twice at once
  It fails:                      add  -H 'X-Demo: status=500'  (charged) or  'X-Demo: fail=503'  (not charged)

  Unknown outcomes: $onceward keys list --state unknown --admin $admin -c $work/onceward.yaml
  Health: curl http://$metrics/readyz     Configuration: $work/onceward.yaml     Log: $work/proxy.log
TEXT
    wait "${pids[1]}"
fi
