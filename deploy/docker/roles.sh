#!/bin/bash
# Makes the roles and the database, when the container's PostgreSQL is made. Passwords go in by standard input.
set -euo pipefail
{
  printf "\\set owner_password '%s'\n" "$(cat /run/secrets/owner-password)"
  printf "\\set service_password '%s'\n" "$(cat /run/secrets/service-password)"
  cat /roles.sql
} | psql --quiet --username "${POSTGRES_USER:-postgres}" --dbname postgres
