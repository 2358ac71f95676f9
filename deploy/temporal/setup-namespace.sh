#!/bin/sh
# Makes the namespace, and registers what an operator can search workflows by. Harmless when they are there.
set -eu

namespace=${TEMPORAL_NAMESPACE:-default}
days=${TEMPORAL_NAMESPACE_RETENTION_DAYS:-3}

if ! temporal operator namespace describe --namespace "$namespace" >/dev/null 2>&1; then
  temporal operator namespace create --namespace "$namespace" --retention "$((days * 24))h"
fi

for attribute in TamisKind TamisPartition TamisState; do
  if ! temporal operator search-attribute list --namespace "$namespace" | grep -q "$attribute"; then
    temporal operator search-attribute create --namespace "$namespace" --name "$attribute" --type Keyword
  fi
done
