#!/bin/sh
# run-postgres.sh PROGRAMS FOLDER VERSION: PostgreSQL with DocumentDB on FOLDER/data, which is made where there is none
# yet, with FOLDER/postgresql.conf and FOLDER/pgpass. It ends when the server ends, and ends the server when it is
# asked to end itself.
set -eu
programs=$1
folder=$(cd "$2" && pwd -P)
version=$3
data=$folder/data
config=config_file=$folder/postgresql.conf
umask 077
export TZ=UTC LC_ALL=C HOME="$folder" PGPASSFILE="$folder/pgpass"

# After a kill -9 of the server's first process alone, others of it may still be at work on the data, and none can be
# started before they are gone. They run by the loader of these programs, with the data as their working folder. The
# file with the process number of a dead server would keep a new one away if another process has that number now.
leftovers() {
  for pid in $(find /proc -maxdepth 2 -name cwd -lname "$data" 2>/dev/null | cut -d / -f 3); do
    case $(readlink "/proc/$pid/exe" 2>/dev/null) in */ld-linux-x86-64.so.2) echo "$pid" ;; esac
  done
}
while running=$(leftovers) && [ -n "$running" ]; do
  # shellcheck disable=SC2086
  kill -KILL $running 2>/dev/null || true
  sleep 0.1
done
rm -f "$data/postmaster.pid"

# What is half done has another name: a first start may be interrupted at any moment.
if [ ! -d "$data" ]; then
  rm -rf "$data.draft"
  cut -d : -f 5 "$folder/pgpass" > "$folder/password"
  "$programs/initdb" --pgdata="$data.draft" --username="$(cut -d : -f 4 "$folder/pgpass")" \
    --pwfile="$folder/password" --auth=scram-sha-256 \
    --encoding=UTF8 --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8 --no-instructions
  rm "$folder/password"
  mv "$data.draft" "$data"
fi

# Where the extension is missing or of another version than the program, in a server that nobody can reach yet.
if [ "$(cat "$data/documentdb-version" 2>/dev/null)" != "$version" ]; then
  "$programs/postgres" --single -D "$data" -c "$config" -c exit_on_error=on postgres <<SQL
CREATE EXTENSION IF NOT EXISTS documentdb CASCADE
ALTER EXTENSION documentdb_core UPDATE
ALTER EXTENSION documentdb UPDATE
SQL
  echo "$version" > "$data/documentdb-version"
fi

# SIGTERM alone would let the server wait until its last client has gone; SIGINT ends sessions and then the server.
server=
stop() { [ -z "$server" ] || kill -INT "$server" 2>/dev/null || true; }
trap stop TERM INT HUP
"$programs/postgres" -D "$data" -c "$config" &
server=$!
status=0
while kill -0 "$server" 2>/dev/null; do
  wait "$server" && status=0 || status=$?
done
exit "$status"
