#!/bin/sh
# Makes or updates the two databases of Temporal. Harmless when they are up to date.
set -eu

prepare() {
  name=$1
  versions=$2
  tool="temporal-sql-tool --plugin postgres12 --endpoint $POSTGRES_SEEDS --port $DB_PORT --user $POSTGRES_USER --database $name"
  # set up already: only what is new. Otherwise (or half set up) from the beginning.
  if ! $tool update-schema --schema-dir "$versions"; then
    $tool create || true
    $tool setup-schema --version 0.0
    $tool update-schema --schema-dir "$versions"
  fi
}

prepare temporal /etc/temporal/schema/postgresql/v12/temporal/versioned
prepare temporal_visibility /etc/temporal/schema/postgresql/v12/visibility/versioned
