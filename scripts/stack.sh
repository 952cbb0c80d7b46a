#!/usr/bin/env bash
# Starts and stops a private PostgreSQL, and a private Redis where redis-server is installed.
#
#   scripts/stack.sh up DIR [--no-fsync] [--pg-port N] [--redis-port N] [--set NAME=VALUE]...
#   scripts/stack.sh down DIR
#   scripts/stack.sh pg-stop DIR [smart|fast|immediate]      scripts/stack.sh pg-start DIR
#
#   up           makes the data directories in DIR when they are not there, starts what is not running, and
#                prints `export ONCEWARD_PG_DSN=... ONCEWARD_PG_OWNER_DSN=... ONCEWARD_REDIS=...`
#   --no-fsync   for functional tests only: a crash of the machine loses data, a crash of the server does not
#   --pg-port N, --redis-port N   also listen on 127.0.0.1:N (0: any free port); default: unix sockets only
#   --set N=V    a line for postgresql.conf
#   down         stops both and leaves the directory; harmless when nothing runs
#   pg-stop, pg-start   for tests of a database that goes away
#
# The proxy's role (onceward_proxy) has no password here and may log in from this machine only.
set -euo pipefail

usage() { sed -n '2,17s/^# \{0,1\}//p' "$0"; }
fail() {
    printf 'stack: %s\n' "$@" >&2
    exit 1
}

command=${1:-}
case $command in
    up | down | pg-stop | pg-start) shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
esac
directory=${1:-}
[[ -n $directory ]] || { usage >&2; exit 2; }
shift

# PostgreSQL refuses to run as root; then everything of it belongs to the user of the Debian package.
as_postgres=()
if ((EUID == 0)); then as_postgres=(runuser -u postgres --); fi
# Its output goes to files only: a server that inherits a pipe would keep the caller waiting for ever.
quietly() { "$@" </dev/null >>"$directory/stack.log" 2>&1; }

find_postgres() {
    local candidate
    for candidate in "${ONCEWARD_PG_BIN:-}" /usr/lib/postgresql/{17,16,15}/bin; do
        [[ -n $candidate && -x $candidate/initdb ]] || continue
        pg_bin=$candidate
        return
    done
    if command -v initdb >/dev/null; then
        pg_bin=$(dirname "$(command -v initdb)")
        return
    fi
    fail "no PostgreSQL server: apt-get install postgresql-15, or set ONCEWARD_PG_BIN"
}

pg_running() { "${as_postgres[@]}" "$pg_bin/pg_ctl" -D "$data" status >/dev/null 2>&1; }
pg_start() {
    quietly "${as_postgres[@]}" "$pg_bin/pg_ctl" -D "$data" -l "$directory/postgres/log" -w -t 60 start ||
        fail "PostgreSQL did not start; the end of $directory/postgres/log:" \
            "$(tail -n 20 "$directory/postgres/log" 2>/dev/null || true)"
}
free_port() {
    local port
    for port in $(shuf -i 20000-29999 -n 50); do
        if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            printf '%s' "$port"
            return
        fi
    done
    fail "no free port"
}

up_postgres() {
    if [[ ! -f $data/PG_VERSION ]]; then
        mkdir -p "$directory/postgres" "$directory/run"
        if ((EUID == 0)); then chown postgres "$directory/postgres" "$directory/run"; fi
        quietly "${as_postgres[@]}" "$pg_bin/initdb" -D "$data" -U postgres -A trust --no-sync \
            -E UTF8 --locale=C.UTF-8 || fail "initdb failed: $(tail -n 5 "$directory/stack.log")"
        {
            printf "unix_socket_directories = '%s'\n" "$directory/run"
            if [[ -n $pg_port ]]; then
                printf "listen_addresses = '127.0.0.1'\nport = %s\n" "$pg_port"
            else
                printf "listen_addresses = ''\n"
            fi
            [[ $fsync == yes ]] || printf 'fsync = off\nfull_page_writes = off\n'
            printf 'shared_buffers = 128MB\nmax_wal_size = 1GB\n'
            printf '%s\n' ${set_lines[@]+"${set_lines[@]}"}
        } | "${as_postgres[@]}" tee -a "$data/postgresql.conf" >/dev/null
    fi
    pg_running || pg_start
    "${as_postgres[@]}" "$pg_bin/psql" -h "$directory/run" -p "$(pg_port_of)" -U postgres -d postgres \
        -v ON_ERROR_STOP=1 >>"$directory/stack.log" 2>&1 <<'SQL' ||
SELECT 'CREATE ROLE onceward_proxy LOGIN' WHERE NOT EXISTS
    (SELECT 1 FROM pg_roles WHERE rolname = 'onceward_proxy') \gexec
SELECT 'CREATE DATABASE onceward' WHERE NOT EXISTS
    (SELECT 1 FROM pg_database WHERE datname = 'onceward') \gexec
SQL
        fail "the database could not be made: $(tail -n 5 "$directory/stack.log")"
}
pg_port_of() { sed -n 's/^port = //p' "$data/postgresql.conf" | tail -n 1 | grep . || echo 5432; }

redis_running() { [[ -f $directory/redis.pid ]] && kill -0 "$(<"$directory/redis.pid")" 2>/dev/null; }
up_redis() {
    command -v redis-server >/dev/null || return 0
    redis_running || quietly redis-server --daemonize yes --dir "$directory" --save '' --appendonly no \
        --pidfile "$directory/redis.pid" --logfile "$directory/redis.log" \
        --port "${redis_port:-0}" --bind 127.0.0.1 --unixsocket "$directory/run/redis.sock" ||
        fail "redis-server did not start; see $directory/redis.log"
    local tries
    for ((tries = 0; tries < 200; tries++)); do
        [[ ! -S $directory/run/redis.sock || ! -f $directory/redis.pid ]] || return 0
        sleep 0.02
    done
    fail "redis-server did not start; see $directory/redis.log"
}

up() {
    local host port
    up_postgres
    up_redis
    host=$directory/run
    port=$(pg_port_of)
    printf "export ONCEWARD_PG_DSN='host=%s port=%s user=onceward_proxy dbname=onceward'" "$host" "$port"
    printf " ONCEWARD_PG_OWNER_DSN='host=%s port=%s user=postgres dbname=onceward'" "$host" "$port"
    if redis_running; then printf " ONCEWARD_REDIS='unix://%s/run/redis.sock'" "$directory"; fi
    printf '\n'
}

stop_postgres() {
    [[ -f $data/PG_VERSION ]] || return 0
    pg_running || return 0
    quietly "${as_postgres[@]}" "$pg_bin/pg_ctl" -D "$data" -m "$1" -w -t 60 stop ||
        fail "PostgreSQL did not stop; see $directory/postgres/log"
}

fsync=yes
pg_port=
redis_port=
set_lines=()
mode=fast
while (($#)); do
    case $1 in
        --no-fsync) fsync=no ;;
        --pg-port) pg_port=${2:?--pg-port needs a number}; shift ;;
        --redis-port) redis_port=${2:?--redis-port needs a number}; shift ;;
        --set) set_lines+=("${2:?--set needs NAME=VALUE}"); shift ;;
        smart | fast | immediate) mode=$1 ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done

if [[ $command == down && ! -d $directory ]]; then exit 0; fi
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)
# A unix socket's path may have 107 bytes.
((${#directory} < 80)) || fail "$directory is too long for a unix socket; take a shorter one"
data=$directory/postgres/data
find_postgres
if [[ $pg_port == 0 ]]; then pg_port=$(free_port); fi
if [[ $redis_port == 0 ]]; then redis_port=$(free_port); fi
# The server's user must be able to enter; what is inside keeps its own permissions.
if ((EUID == 0)); then chmod a+x "$directory"; fi

case $command in
    up) up ;;
    pg-stop) stop_postgres "$mode" ;;
    pg-start) pg_start ;;
    down)
        stop_postgres "$mode"
        if redis_running; then kill "$(<"$directory/redis.pid")"; fi
        ;;
esac
