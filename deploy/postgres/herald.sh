#!/bin/sh
# Run once by the image of PostgreSQL, on an empty volume. Herald's role owns its database and may do nothing else.
set -e
psql --username "$POSTGRES_USER" --dbname postgres --set ON_ERROR_STOP=1 <<'SQL'
\getenv password DATABASE_PASSWORD
CREATE ROLE herald LOGIN PASSWORD :'password';
-- Behind a pooler in transaction mode a connection gets no other limits than those of its role.
ALTER ROLE herald SET statement_timeout = '10s';
ALTER ROLE herald SET idle_in_transaction_session_timeout = '30s';
ALTER ROLE herald SET jit = off;
CREATE DATABASE herald OWNER herald;
REVOKE ALL ON DATABASE herald FROM PUBLIC;
SQL
