#!/bin/sh
# poppyctl against a private PostgreSQL: installing, migrating, half states, and
# who may do what afterwards.
set -u
top=$(cd "${top_srcdir:-.}" && pwd)
build=$(cd "${top_builddir:-.}" && pwd)
tmp=$(mktemp -d /tmp/pf-sql-XXXXXX)
chmod 755 "$tmp"
trap '"$top/tests/pg-cluster" stop "$tmp/pg" immediate; rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM HUP
conn=$("$top/tests/pg-cluster" start "$tmp/pg") || {
	echo "Bail out! PostgreSQL does not start"
	exit 1
}
n=0
failed=0

result() {	# STATUS NAME
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2"
	else
		failed=$((failed + 1))
		echo "not ok $n - $2"
		sed 's/^/# /' "$tmp/out"
	fi
}

# ctl WANTED-STATUS NAME PATTERN ARG...: run poppyctl; its status and some text.
db=postgres
sql=$top/sql
last=$(ls "$sql/migrate" | grep -c "\.sql$")
more=$((last + 1))
ctl() {
	want=$1 name=$2 pattern=$3
	shift 3
	"$build/tools/poppyctl/poppyctl" --sql "$sql" \
	    --conninfo "$conn dbname=$db${user:+ user=$user}" "$@" \
	    >"$tmp/out" 2>&1
	got=$?
	echo "status $got, wanted $want, and /$pattern/" >>"$tmp/out"
	[ $got -eq "$want" ] && sed '$d' "$tmp/out" | grep -q -- "$pattern"
	result $? "$name"
}

ask() {		# SQL: as the superuser, or PGUSER
	psql -XAtq -h "$tmp/pg" -U "${PGUSER:-postgres}" -d "$db" \
	    -v ON_ERROR_STOP=1 -c "$1" 2>&1
}

is() {		# GOT WANTED NAME
	printf 'got: %s\nwanted: %s\n' "$1" "$2" >"$tmp/out"
	[ "$1" = "$2" ]
	result $? "$3"
}

like() {	# GOT PATTERN NAME
	printf 'got: %s\nwanted: %s\n' "$1" "$2" >"$tmp/out"
	printf '%s\n' "$1" | grep -q -- "$2"
	result $? "$3"
}

fresh() {	# NAME: an empty database
	ask "CREATE DATABASE $1" >/dev/null
	db=$1
}

copy() {	# a copy of the files, to change
	rm -rf "$tmp/sql"
	cp -r "$top/sql" "$tmp/sql"
	chmod -R u+w "$tmp/sql"
	sql=$tmp/sql
}

echo "# installing"
ctl 1 "status: absent" absent db status
ctl 1 "migrate: nothing is installed" "poppyctl db install" db migrate
ctl 0 "install" "current, version $last of $last" db install
ctl 0 "status: current" current db status
ctl 0 "status as JSON" "{\"schema\":\"current\",\"version\":$last," --json db status
ask "SELECT FROM poppy_api.client_store('https://a.example/c', '{}', '{}',
    300, 300)" >/dev/null
ctl 0 "install again" "current" db install
is "$(ask 'SELECT count(*) FROM poppy.client')" 1 "what was there stays"
is "$(ask 'SELECT since FROM poppy.replay_epoch')" 0 \
    "a fresh install remembers from the beginning"

echo "# two at once"
fresh twice
for i in 1 2; do
	"$build/tools/poppyctl/poppyctl" --sql "$sql" \
	    --conninfo "$conn dbname=twice" db install >"$tmp/twice.$i" 2>&1 &
done
wait
is "$(cat "$tmp"/twice.? | sort -u)" "schema: current, version $last of $last" \
    "both say that it is current"

echo "# migrating"
copy
cat >"$tmp/sql/migrate/$(printf %04d $more)-more.sql" <<-'SQL'
	SET LOCAL ROLE poppy_owner;
	CREATE TABLE poppy.more (x int);
SQL
ctl 1 "a new file: behind" "behind, version $last of $more" db status
ctl 0 "migrate" "current, version $more of $more" db migrate
is "$(ask 'SELECT poppy_api.schema_version()')" $more "the version moved"
sql=$top/sql
ctl 2 "the older files: newer database" "newer than these files" db status
ctl 2 "... and nothing is done to it" "newer than these files" db install
sql=$tmp/sql
echo "-- changed" >>"$tmp/sql/functions/clean.sql"
ctl 1 "a changed function: behind" "functions of another" db status
ctl 0 "... and replaced" "current" db migrate
bad=$(printf %04d $((more + 1)))-bad
printf 'CREATE TABLE poppy.a (x int);\nCREATE TABLE poppy.a (x int);\n' \
    >"$tmp/sql/migrate/$bad.sql"
ctl 2 "a migration with a fault" "$bad: .*42P07" db migrate
is "$(ask "SELECT to_regclass('poppy.a') IS NULL,
    poppy_api.schema_version()")" "t|$more" "... leaves nothing behind"
rm "$tmp/sql/migrate/$bad.sql"
echo "SELEC" >>"$tmp/sql/functions/token.sql"
ctl 2 "a function with a fault" "token: line .*42601" db migrate
copy
ctl 2 "a lost migration file" "newer than these files" db status
mv "$tmp/sql/migrate/0001-start.sql" "$tmp/sql/migrate/0002-start.sql"
ctl 2 "a gap in the numbers" "stands where 0001-" db status
copy
echo "-- changed" >>"$tmp/sql/migrate/0001-start.sql"
db=postgres
ctl 2 "a changed migration" "applied with another text" db migrate
sql=$tmp/nix
ctl 2 "no files" "nix/roles.sql: No such file" db status
sql=$top/sql

echo "# the replay memory loses its TOAST tables, and nothing else"
copy
for f in "$tmp"/sql/migrate/*.sql; do
	case ${f##*/} in
	000[1-7]-*) ;;
	*) rm "$f" ;;
	esac
done
toasts="SELECT count(*) FROM pg_class WHERE relname ~ '^replay_[0-3]\$'
    AND reltoastrelid <> 0"
spend() {	# WORD REQUEST-ID, as SQL
	ask "SELECT poppy.spend(substr(sha256('$1'), 1, 16),
	    $at - 1, 30, poppy.now_at(), $2)"
}
fresh moving
ctl 0 "install what was before" "version 7 of 7" db install
is "$(ask "$toasts")" 4 "each table has one"
at=$(ask "SELECT poppy.now_at()")
is "$(spend a "'id'") $(spend b "repeat('abc', 3000)") $(spend c NULL)" \
    "0 0 0" "three are spent"
sql=$top/sql
hold() {	# SECONDS: somebody has the last table, and lets go
	ask "BEGIN; LOCK TABLE poppy.replay_3 IN ROW EXCLUSIVE MODE;
	    SELECT 'held' FROM pg_sleep($1)" >/dev/null &
	while [ "$(ask "SELECT count(*) FROM pg_locks WHERE relation =
	    'poppy.replay_3'::regclass AND granted")" = 0 ]; do
		sleep 0.1
	done
}
hold 30
ctl 2 "a table is held on and on" "0008-.*55P03" db migrate
ask "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE relation =
    'poppy.replay_3'::regclass" >/dev/null
wait
ctl 1 "... nothing was done" "behind, version 7" db status
is "$(ask "$toasts") $(spend a NULL)" "4 1" "... and nothing forgotten"
hold 2
ctl 0 "a table is held for a moment" "current" db migrate
wait
is "$(ask "$toasts")" 0 "no table has one"
is "$(spend a NULL) $(spend b NULL) $(spend c NULL)" "1 1 1" \
    "what was spent is spent"
is "$(spend a "'id'") $(spend b "repeat('abc', 3000)") $(spend a "'other'")" \
    "0 0 1" "... but for the request that spent it"
is "$(spend d NULL) $(spend d NULL)" "0 1" "and more can be"
is "$(ask 'SELECT since FROM poppy.replay_epoch')" 0 "the memory is as old"

echo "# half states"
fresh half1
ask "CREATE SCHEMA poppy" >/dev/null
ctl 2 "schema poppy alone" "without schema poppy_api" db install
fresh half2
ask "CREATE SCHEMA poppy_api" >/dev/null
ctl 2 "schema poppy_api alone" "without schema poppy:" db install
fresh half3
ask "CREATE SCHEMA poppy" >/dev/null
ask "CREATE SCHEMA poppy_api" >/dev/null
ctl 2 "both without schema_migration" "without poppy.schema_migration" \
    db install
ctl 2 "... says status too" "without poppy.schema_migration" db status
is "$(ask "SELECT count(*) FROM pg_class WHERE relnamespace =
    'poppy'::regnamespace")" 0 "... and nothing was made"
fresh half4
ctl 0 "install" current db install
ask "DELETE FROM poppy.schema_migration WHERE number > 0"
ctl 2 "an empty schema_migration" "holds no migration" db install
ask "INSERT INTO poppy.schema_migration VALUES (2, 'x', '')"
ctl 2 "a gap in schema_migration" "has number 2 where 1" db install
fresh half5
ctl 0 "install" current db install
ask "DROP TABLE poppy.schema_migration"
ctl 2 "schema_migration is lost" "without poppy.schema_migration" db install

echo "# another user"
db=postgres
ask "CREATE ROLE owner LOGIN CREATEROLE" >/dev/null
ask "CREATE ROLE weak LOGIN" >/dev/null
ask "CREATE DATABASE owned OWNER owner" >/dev/null
db=owned
user=weak
ctl 2 "a user without rights" "roles.sql: .*42501" db install
ctl 1 "... leaves nothing behind" absent db status
user=owner
ctl 0 "the database's owner with CREATEROLE" current db install
is "$(ask "SELECT DISTINCT relowner::regrole FROM pg_class WHERE
    relnamespace = 'poppy'::regnamespace")" poppy_owner \
    "... and all is poppy_owner's"
user=nobody_here
ctl 2 "no such user" "can't connect" db status
user=
conn="host=$tmp/nix"
ctl 2 "no server" "can't connect" db status
ctl 2 "no server, as JSON" '^{"error":"can' --json db status
ctl 64 "no such command" usage db nix
ctl 64 "too many words" usage db status now

echo "# rights"
db=postgres
is "$(ask "SELECT count(*) FROM pg_proc WHERE pronamespace =
    'poppy_api'::regnamespace AND NOT (prosecdef AND proconfig =
    ARRAY['search_path=pg_catalog, pg_temp'])")" 0 \
    "every function is SECURITY DEFINER with a fixed search_path"
is "$(ask "SELECT string_agg(oid::regprocedure::text, ' ') FROM pg_proc
    WHERE pronamespace IN ('poppy_api'::regnamespace, 'poppy'::regnamespace)
    AND has_function_privilege('weak', oid, 'EXECUTE')")" "" \
    "nobody else may call any"
may="SELECT string_agg(proname, ' ' ORDER BY proname) FROM pg_proc WHERE
    pronamespace IN ('poppy_api'::regnamespace, 'poppy'::regnamespace)
    AND has_function_privilege(current_user, oid, 'EXECUTE')"
# One name a line, in order.
words() {
	paste -sd ' '
}
is "$(PGUSER=poppy_auth ask "$may")" \
    "$(words <<-END
	account_revoke
	audit_add
	authorize_decide
	authorize_show
	authorize_start
	clean
	clean_clients
	client_fail
	client_get
	client_metadata
	client_store
	code_redeem
	connected_end
	connected_list
	customer_check
	device_decide
	device_redeem
	device_show
	device_start
	doctor_end
	doctor_get
	doctor_publish
	host_tell
	login_begin
	login_end
	login_start
	login_use
	mediated_ask
	mediated_begin
	mediated_finish
	mediated_try
	replay_rotate
	schema_functions
	schema_oldest
	schema_version
	session_start
	shop_login_start
	ticket_spend
	token_refresh
	token_revoke
	token_use
	END
    )" \
    "what poppy_auth may call"
is "$(PGUSER=poppy_browser ask "$may")" \
    "$(words <<-END
	audit_add
	browser_join
	browser_look
	client_fail
	client_get
	client_store
	schema_functions
	schema_oldest
	schema_version
	END
    )" \
    "what poppy_browser may call"
is "$(PGUSER=poppy_guard ask "$may")" \
    "audit_add clean cookie_use replay_rotate schema_functions schema_oldest schema_version token_use" \
    "what poppy_guard may call"
is "$(PGUSER=poppy_bridge ask "$may")" \
    "cart_change cart_read customer_end customer_erase customer_export ticket_put" \
    "what the shop's PHP may call"
PGUSER=poppy_guard
like "$(ask "SELECT * FROM poppy_api.session_start(1, 1, 1, '', NULL, '', '',
    1, 1, 1, '', NULL, '{}'::bytea[], '{}'::bigint[], 1)")" \
    "permission denied for function session_start" "poppy_guard: no start"
for what in "SELECT * FROM poppy.token" "SELECT * FROM poppy.session" \
    "DELETE FROM poppy.replay_0" "SELECT poppy.now_at()" \
    "CREATE TABLE poppy_api.x (x int)" "SET ROLE poppy_owner" \
    "TRUNCATE poppy.client" "CREATE SCHEMA mine"; do
	like "$(ask "$what")" "permission denied" "poppy_guard: not $what"
done
like "$(PGUSER=poppy_owner ask 'SELECT 1')" "not permitted to log in" \
    "nobody logs in as poppy_owner"
is "$(ask "CREATE TEMP TABLE token (x int); CREATE FUNCTION
    pg_temp.floor(float8) RETURNS float8 LANGUAGE sql AS 'SELECT 1/0.0';
    SELECT outcome FROM poppy_api.token_use(1, '', '', '', 1, 1, NULL, 1, 1)")" \
    unknown "names in pg_temp don't reach the functions"
is "$(ask "SELECT string_agg(name || ' ' || setting, ',' ORDER BY name)
    FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout',
    'idle_in_transaction_session_timeout')")" \
    "idle_in_transaction_session_timeout 10000,lock_timeout 2000,statement_timeout 5000" \
    "no call of a program lasts"
unset PGUSER

echo "# secrets"
cat >"$tmp/poppy.conf" <<-CONF
	{
		"organization": { "name": "x" },
		"issuer": "",
		"hosts": [ { "host": "a.example", "base": "https://a.example",
		    "domain": "a.example" } ],
		"database": { "conninfo": "dbname=x" },
		"secrets": "$tmp/secrets"
	}
CONF
secrets() {	# WANTED-STATUS NAME PATTERN
	"$build/tools/poppyctl/poppyctl" -c "$tmp/poppy.conf" secrets init \
	    >"$tmp/out" 2>&1
	[ $? -eq "$1" ] && grep -q -- "$3" "$tmp/out"
	result $? "$2"
}
secrets 0 "init" "made"
is "$(stat -c '%a %s' "$tmp/secrets/master") $(stat -c %a "$tmp/secrets")" \
    "400 32 700" "modes and size"
is "$(ls -A "$tmp/secrets")" master "nothing else is left"
rotate() {	# STEP WANTED-STATUS NAME PATTERN
	"$build/tools/poppyctl/poppyctl" -c "$tmp/poppy.conf" secrets rotate \
	    "$1" >"$tmp/out" 2>&1
	[ $? -eq "$2" ] && grep -q -- "$4" "$tmp/out"
	result $? "$3"
}
rotate switch 1 "rotate: switch before begin" "next is rotate begin"
rotate '' 64 "rotate: no step" "is no step"
rotate back 64 "rotate: an unknown step" "is no step"
is "$(stat -c '%a %s' "$tmp/secrets/master")" "400 32" "... change nothing"
rotate begin 0 "rotate: begin" "rotate switch$"
is "$(stat -c '%a %s' "$tmp/secrets/master")" "400 97" "two masters"
rotate begin 1 "rotate: begin twice" "next is rotate switch"
rotate switch 0 "rotate: switch" "rotate finish$"
rotate switch 1 "rotate: switch twice" "next is rotate finish"
rotate finish 0 "rotate: finish" "old master is gone"
is "$(stat -c '%a %s' "$tmp/secrets/master")" "400 64" "one master"
is "$(ls -A "$tmp/secrets")" master "nothing else is left"
"$build/tools/poppyctl/poppyctl" -c "$tmp/poppy.conf" secret rotate begin \
    >"$tmp/out" 2>&1
result $? "secret rotate: as well"
for step in switch finish; do
	rotate $step 0 "... $step" next:
done
cp "$tmp/secrets/master" "$tmp/master"
chmod 600 "$tmp/secrets/master"
echo x >>"$tmp/secrets/master"
rotate begin 2 "rotate: a file of another size" "is no master key"
rm "$tmp/secrets/master"
rotate begin 1 "rotate: no master" "No such file"
mv "$tmp/secrets" "$tmp/away"
rotate begin 2 "rotate: no folder" "No such file"
is "$(ls -d "$tmp/secrets" 2>/dev/null)" "" "... is made"
mv "$tmp/away" "$tmp/secrets"
install -m 400 "$tmp/master" "$tmp/secrets/master"
sum=$(cksum <"$tmp/secrets/master")
secrets 2 "never overwritten" "there already"
is "$(cksum <"$tmp/secrets/master")" "$sum" "... really not"
mkdir "$tmp/other"
mv "$tmp/secrets" "$tmp/moved"
secrets 0 "init elsewhere" "made"
cmp -s "$tmp/secrets/master" "$tmp/moved/master"
[ $? -eq 1 ]
result $? "another master"
sed "s/\"issuer\"/\"gate\": \"door\", &/" "$tmp/poppy.conf" >"$tmp/gate.conf"
mv "$tmp/gate.conf" "$tmp/poppy.conf"
sum=$(cksum <"$tmp/secrets/master")
secrets 0 "init with a gate: makes what is missing" "secrets/door: made"
is "$(stat -c '%a %s' "$tmp/secrets/door") $(cksum <"$tmp/secrets/master")" \
    "400 65 $sum" "... and nothing else"
grep -qx '[0-9a-f]\{64\}' "$tmp/secrets/door"
result $? "... a line that the guard takes"
secrets 2 "init with a gate again" "there already"
rm -rf "$tmp/secrets"
"$build/tools/poppyctl/poppyctl" --json -c "$tmp/poppy.conf" secret init \
    >"$tmp/out" 2>&1
is "$(cat "$tmp/out")" '{"created":["master","door"]}' "both, as JSON"
rm -rf "$tmp/secrets"
ln -s "$tmp/other" "$tmp/secrets"
secrets 2 "the folder is a link" "secrets: "
rm "$tmp/secrets"
mkdir -m 755 "$tmp/secrets"
secrets 2 "the folder is open to others" "closed to all others"
rmdir "$tmp/secrets"
echo "{" >"$tmp/poppy.conf"
secrets 2 "bad settings" "poppy.conf:[0-9]"
rm "$tmp/poppy.conf"
secrets 2 "no settings" "poppy.conf: No such file"
ctl 0 "settings are listed without a file" "^tokens.session_seconds: integer, " \
    settings
ctl 64 "settings with a word too many" "usage: " settings all
ctl 64 "a noun without its verb" "usage: " db

echo "1..$n"
[ $failed -eq 0 ]
