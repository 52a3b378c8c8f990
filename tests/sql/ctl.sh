#!/bin/sh
# poppyctl's commands about agents, Sessions and settings, against a private
# PostgreSQL: what they say to people and to machines, and bad input.
set -u
top=$(cd "${top_srcdir:-.}" && pwd)
build=$(cd "${top_builddir:-.}" && pwd)
tmp=$(mktemp -d /tmp/pf-ctl-XXXXXX)
chmod 755 "$tmp"
trap '"$top/tests/pg-cluster" stop "$tmp/pg" immediate; rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM HUP
conn=$("$top/tests/pg-cluster" start "$tmp/pg") || {
	echo "Bail out! PostgreSQL does not start"
	exit 1
}
db=postgres
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

poppyctl() {
	"$build/tools/poppyctl/poppyctl" --sql "$top/sql" \
	    --conninfo "$conn dbname=$db" "$@"
}

# ctl WANTED-STATUS NAME PATTERN ARG...: its status, and a line of its output.
ctl() {
	want=$1 name=$2 pattern=$3
	shift 3
	poppyctl "$@" >"$tmp/out" 2>&1
	got=$?
	[ $got -eq "$want" ] && grep -q -- "$pattern" "$tmp/out"
	rc=$?
	echo "status $got, wanted $want, and /$pattern/" >>"$tmp/out"
	result $rc "$name"
}

# json NAME EXPRESSION ARG...: what it prints is JSON, and of that, as j, the
# expression is true.
json() {
	name=$1 expression=$2
	shift 2
	poppyctl --json "$@" >"$tmp/out" 2>&1
	node -e 'const j = JSON.parse(require("fs").readFileSync(process.argv[1]));
	    process.exit(eval(process.argv[2]) ? 0 : 1)' "$tmp/out" \
	    "$expression" 2>>"$tmp/out"
	rc=$?
	echo "wanted: $expression" >>"$tmp/out"
	result $rc "$name"
}

ask() {
	psql -XAtq -h "$tmp/pg" -U postgres -d "$db" -v ON_ERROR_STOP=1 -c "$1" \
	    2>&1
}

is() {		# GOT WANTED NAME
	printf 'got: %s\nwanted: %s\n' "$1" "$2" >"$tmp/out"
	[ "$1" = "$2" ]
	result $? "$3"
}

echo "# nothing installed"
ctl 2 "agents list" "schema version 0, not" agents list
json "... as JSON" '/poppyctl db status/.test(j.error)' agents list
poppyctl db install >/dev/null || {
	echo "Bail out! db install"
	exit 1
}

echo "# agents"
ctl 0 "list: none" "^no agents known" agents list
json "... as JSON" 'j.agents.length === 0 && j.rules.length === 0' agents list
A=https://a.example/agent.json
B=https://b.agents.example:8443/c
ask "SELECT FROM poppy_api.client_store('$A', '{}', '{}', 300, 300,
    'Caf' || chr(233), 'https://a.example/logo.png')" >/dev/null
ask "SELECT FROM poppy_api.client_store('$B', '{}', '{}', 300, 300)" >/dev/null
ctl 0 "list: known" "^$A  *known  *Café  *fresh  *20..-..-.. ..:..:..Z" \
    agents list
# No name is a dash.
ctl 0 "list: aligned" "^$B  known     -             fresh  2" agents list
json "... as JSON" "j.agents.length === 2 && j.agents[0].client_id === '$B' &&
    j.agents[0].name === null && j.agents[1].name === 'Caf\\u00e9' &&
    j.agents[1].fetched_at > 1e9" agents list
ctl 0 "list: a limit" "^$B" agents list --limit 1
json "... is kept" 'j.agents.length === 1' agents list --limit 1
for bad in 0 -1 x 100001 '' 1.5; do
	ctl 64 "list: limit '$bad'" "^usage" agents list --limit "$bad"
done
ctl 64 "list: an operand" "^usage" agents list x
ctl 64 "list: an option of another command" "^usage" agents list --all
ctl 0 "show" "^calls itself  *Café" agents show $A
ctl 0 "... its logo" "^logo  *https://a.example/logo.png" agents show $A
json "... as JSON" "j.client_id === '$A' && j.standing === 'known' &&
    j.rule === null && j.sessions === 0 && j.failed_until === null &&
    j.used_at === null && j.fresh_until > j.fetched_at" agents show $A
ctl 1 "show: unknown" "nobody has heard" agents show https://no.example/c
json "... as JSON" '/nobody/.test(j.error)' agents show https://no.example/c
ctl 64 "show: nothing" "^usage" agents show
ctl 64 "show: two" "^usage" agents show $A $B
ask "SELECT FROM poppy_api.client_fail('https://f.example/c', 'was away', true,
    60)" >/dev/null
ctl 0 "show: one that failed" "^last failure  *was away" agents show \
    https://f.example/c
json "... as JSON" "j.standing === 'unknown' && j.failure === 'was away'" \
    agents show https://f.example/c

echo "# rules"
ctl 0 "block a client_id" "$A: blocked, known agents it changed: 1" \
    agents block $A
is "$(ask "SELECT status FROM poppy.client WHERE client_id = '$A'")" blocked \
    "it is blocked"
ctl 0 "list says so" "^$A  *block  *20" agents list
ctl 0 "... for the agent too" "^$A  *blocked" agents list
ctl 0 "show says by which rule" "^by the rule  *$A" agents show $A
ctl 0 "block it again" "it changed: 0" agents block $A
json "block a host, in any case" "j.pattern === 'b.agents.example' &&
    j.did === 'blocked' && j.changed === 1" agents block B.Agents.EXAMPLE
ctl 0 "show: by its host" "^by the rule  *b.agents.example" agents show $B
ctl 1 "unblock: blocked by another rule" "for b.agents.example decides" \
    agents unblock $B
ctl 0 "allow it itself" "allowed, known agents it changed: 1" agents allow $B
json "... it is" "j.standing === 'allowed' && j.rule === '$B'" agents show $B
ctl 1 "unblock: allowed" "no rule blocks it" agents unblock $B
is "$(ask "SELECT verdict FROM poppy.client_rule WHERE pattern = '$B'")" allow \
    "... and stays so"
ctl 0 "forget drops that rule" "forgotten" agents forget $B
json "... so its host decides again" "j.rule === 'b.agents.example' &&
    j.copy === 'none' && j.name === null" agents show $B
ctl 0 "unblock the host" "unblocked, known agents it changed: 1" \
    agents unblock b.agents.example
ctl 1 "... twice" "no rule blocks it" agents unblock b.agents.example
ctl 0 "block all below a host" "^\*.agents.example: blocked, .*: 1" \
    agents block '*.Agents.example'
ctl 0 "show: unseen, and blocked" "^standing  *blocked" agents show \
    https://new.agents.example/c
ctl 0 "unblock all below it" "unblocked" agents unblock '*.agents.example'
ctl 0 "unblock a client_id" "unblocked" agents unblock $A
ctl 0 "block all that anybody may register" "blocked" agents block '*.github.io'
ctl 64 "allow them: refused" "would let in everybody" agents allow '*.github.io'
ctl 0 "forget them" "forgotten" agents forget '*.github.io'
ctl 1 "forget: neither rule nor agent" "neither a rule nor" agents forget \
    no.example
for bad in '' ' ' '*' '*.' '*.*.example' '*.127.0.0.1' 'a b' 'a..b' '.example' \
    'a.example/' 'a.example:443' 'user@a.example' 'https://a.example' \
    'http://a.example/c' 'https://u@a.example/c' 'https://a.example/c#f' \
    'https://a.example/../c' 'a.*.example' '*a.example' "a.example'--" \
    '[::1' '1.2.3' 'https://%/c'; do
	for verb in allow block unblock forget; do
		ctl 64 "$verb: '$bad'" "poppyctl: " agents $verb "$bad"
	done
done
json "... as JSON" '/is neither a client_id/.test(j.error)' agents block 'a b'
is "$(ask 'SELECT count(*) FROM poppy.client_rule')" 0 "none of them is a rule"
ask "UPDATE poppy.client SET name = 'x' || chr(27) || '[31m'" >/dev/null
ctl 0 "nothing reaches the terminal that it would obey" "x?\[31m" agents list

echo "# Sessions"
ctl 0 "list: none" "^no Sessions" sessions list
session() {	# BUCKET BYTE CLIENT_ID SECONDS-LEFT
	ask "INSERT INTO poppy.session (bucket, sid, client_no, user_key,
	    started_at, used_at, ends_at)
	SELECT $1, decode(repeat('$2', 16), 'hex'), client_no,
	    decode(repeat('c0ffee01', 8), 'hex'), poppy.now_at() - 100,
	    poppy.now_at() - $1 * 1000, poppy.now_at() + $4
	FROM poppy.client WHERE client_id = '$3'"
}
session 1 aa $A 500
session 2 bb $A 500
session 3 cc $B 500
session 4 dd $B -5
json "list" "j.sessions.length === 3 && j.sessions[0].client_id === '$A' &&
    /^ses_AB[\\w-]{22}\$/.test(j.sessions[0].session_id) &&
    j.sessions[0].user === 'c0ffee01c0ffee01' && j.sessions[0].tokens === 0 &&
    j.sessions[2].client_id === '$B' &&
    j.sessions.every((s) => s.state === 'live')" sessions list
ctl 0 "... as columns" "^ses_AB[A-Za-z0-9_-]*  live   $A  " sessions list
json "list: those over, too" "j.sessions.length === 4 &&
    j.sessions[3].state === 'over'" sessions list --all
json "list: of one client" 'j.sessions.length === 2' sessions list --client $A
json "list: a limit" 'j.sessions.length === 1' sessions list --limit 1
ctl 1 "list: of an unknown client" "no such client" sessions list \
    --client https://no.example/c
id=$(poppyctl --json sessions list | grep -o 'ses_[A-Za-z0-9_-]*' | head -n 1)
ctl 0 "end" "^Sessions ended: 1" sessions end "$id"
is "$(ask "SELECT count(*) FROM poppy.session WHERE ended_at IS NOT NULL")" 1 \
    "it has ended"
ctl 1 "end: ended" "no live Session" sessions end "$id"
json "list: ended" "j.sessions.filter((s) => s.state === 'ended').length === 1" \
    sessions list --all
ctl 1 "end: unknown" "no live Session" sessions end \
    ses_AAAAAAAAAAAAAAAAAAAAAAAA
for bad in '' ses_ "x$id" "${id}A" "pst_${id#ses_}" "ses_AA'OR'1'='1AAAAAAAAAAAA"
do
	ctl 64 "end: '$bad'" "is no Session's id" sessions end "$bad"
done
ctl 64 "end: nothing" "wants a Session's id or --client" sessions end
ctl 64 "end: both" "wants a Session's id or --client" sessions end "$id" \
    --client $A
ctl 1 "end: of an unknown client" "no such client" sessions end \
    --client https://no.example/c
json "end: of a client" 'j.ended === 1' sessions end --client $A
json "... not those of another" "j.sessions.length === 1 &&
    j.sessions[0].client_id === '$B'" sessions list

echo "# audit"
json "what the operator did" "j.audit.length > 20 &&
    j.audit[0].kind === 'session_ended' && j.audit[0].login === 'postgres' &&
    j.audit[0].client_id === '$A' && j.audit[0].user === 'c0ffee01c0ffee01' &&
    j.audit.some((a) => a.kind === 'rule_block' &&
	a.detail === '*.agents.example')" audit
json "... of one kind" "j.audit.length === 2" audit --kind session_ended
json "... of one client" "j.audit.length > 2 &&
    j.audit.every((a) => a.client_id === '$A') &&
    j.audit.some((a) => a.kind === 'client_blocked')" audit --client $A
ctl 0 "... as columns" "Z  session_ended  *1  *$A  *c0ffee01" audit --limit 1
ctl 0 "none of that kind" "^no rows of the audit" audit --kind nothing
ctl 64 "an operand" "^usage" audit x
ctl 64 "an option of another command" "^usage" audit --all
is "$(ask "SELECT count(*) FROM poppy.audit
    WHERE detail LIKE '%' || chr(27) || '%'")" 0 "nothing odd is in it"

echo "# grants and customers"
ctl 0 "grants list: none" "^no grants" grants list
ask "CREATE TABLE customer (id int, login text);
    INSERT INTO customer VALUES (1, 'ann'), (2, 'bob'), (3, 'twin'), (4, 'twin');
    GRANT SELECT ON customer TO poppy_owner;
    CREATE OR REPLACE VIEW poppy_shop.customer AS SELECT id::text, login,
	login AS name, login AS email, '' AS phone, '' AS password_hash,
	'' AS hash_kind, 'ok' AS status, '' AS locale FROM customer" >/dev/null
grant() {	# ACCOUNT CLIENT_ID SECONDS-LEFT
	ask "INSERT INTO poppy.grants (bucket, client_no, user_key, account,
	    scopes, kind, created_at, used_at, expires_at)
	SELECT 9, client_no, decode(repeat('c0ffee01', 8), 'hex'), '$1',
	    'poppy:read', 'direct', poppy.now_at() - 100, poppy.now_at() - 50,
	    poppy.now_at() + $3
	FROM poppy.client WHERE client_id = '$2' RETURNING grant_no"
}
one=$(grant 1 $A 500)
two=$(grant 2 $A 500)
three=$(grant 2 $B 500)
four=$(grant 5 $B -5)
json "grants list" "j.grants.length === 3 && j.grants[0].grant === $three &&
    j.grants[0].client_id === '$B' && j.grants[0].account === '2' &&
    j.grants[0].login === 'bob' && j.grants[0].scopes === 'poppy:read' &&
    j.grants[0].kind === 'direct' && j.grants[0].resource === null &&
    j.grants.every((g) => g.state === 'live')" grants list
ctl 0 "... as columns" "^$one  *live   $A  *1  *ann  *direct  *poppy:read" \
    grants list
json "grants list: those over, too, of accounts that the shop has no more" \
    "j.grants.length === 4 && j.grants[0].state === 'over' &&
    j.grants[0].login === null" grants list --all
json "grants list: of a login, in any case" "j.grants.length === 2 &&
    j.grants.every((g) => g.account === '2')" grants list --login BOB
json "grants list: of a client" "j.grants.length === 2" grants list --client $A
json "grants list: of both" "j.grants.length === 1" grants list --client $A \
    --login bob
json "grants list: a limit" "j.grants.length === 1" grants list --limit 1
ctl 1 "grants list: of nobody" "nobody: no such customer" grants list \
    --login nobody
ctl 1 "grants list: of two with one login" "twin: .*more than one" \
    grants list --login twin
ctl 1 "grants list: of an unknown client" "no such client" grants list \
    --client https://no.example/c
ctl 64 "grants list: an operand" "^usage" grants list x
# A usage longer than its column doesn't run into what it says.
ctl 0 "help: a long usage ends its line" "--client ID\] \[--all\]$" --help
ctl 0 "grants revoke" "^grant $one: revoked" grants revoke $one
ctl 1 "... twice" "$one: no live grant" grants revoke $one
ctl 1 "grants revoke: one that is over" "no live grant" grants revoke $four
json "grants revoke as JSON" "j.revoked === $two" grants revoke $two
json "... they say so" "j.grants.filter((g) =>
    g.state === 'grant_revoked').length === 2" grants list --all
json "... and so does the audit" "j.audit.length === 2" audit \
    --kind grant_revoked
for bad in '' 0 -1 x 1.5 99999999999999999999 "1 OR 1=1"; do
	ctl 64 "grants revoke: '$bad'" "." grants revoke -- "$bad"
done
json "customer export" "j.account === '2' && j.grants.length === 2 &&
    j.grants[0].ended_why === 'grant_revoked' && j.audit.length === 1" \
    customer export bob
json "customer export: one that the shop has no more" \
    "j.account === '5' && j.grants.length === 1" customer export --account 5
ctl 1 "customer export: of nobody" "no such customer" customer export nobody
for verb in export erase; do
	ctl 64 "customer $verb: of whom" "wants a customer's login" \
	    customer $verb
	ctl 64 "customer $verb: of two" "wants a customer's login" \
	    customer $verb bob --account 2
done
ctl 64 "customer export doesn't ask" "^usage" customer export bob --yes
# From a file: behind a pipe, points would be counted in another shell.
for answer in "" no y YES "yes please"; do
	echo "$answer" >"$tmp/answer"
	ctl 1 "customer erase: '$answer'" "nothing was erased" \
	    customer erase bob <"$tmp/answer"
done
ctl 1 "customer erase: nobody answers" "nothing was erased" \
    customer erase bob </dev/null
json "... and it is all there" "j.grants.length === 2" customer export bob
echo yes >"$tmp/answer"
ctl 0 "customer erase: yes" "grants  *2" customer erase bob <"$tmp/answer"
json "... it is gone" "j.grants.length === 0 && j.audit.length === 0" \
    customer export bob
json "customer erase --yes as JSON" "j.grants === 1 && j.sessions === 0" \
    customer erase --account 5 --yes
json "... others are there" "j.grants.length === 1 &&
    j.grants[0].login === 'ann'" grants list --all
is "$(ask "SELECT count(*) FROM poppy.audit WHERE account = '2'")" 0 \
    "the audit doesn't name an erased account"

echo "# settings"
ctl 0 "settings" "^agents.registration: true or false, default false\." settings
ctl 0 "... without any poppy.conf" "^issuer: string" -c /no/file settings
json "settings as JSON" "j.agents.keys.new_per_hour.default === 1000 &&
    j.agents.keys.new_per_hour.max === 10000 && j.issuer.type === 'string' &&
    j.hosts.keys.host.required && j.guard.keys.rules.keys.path.doc" settings
ctl 64 "settings: an operand" "^usage" settings x
poppyctl settings | sed 's/:.*//; s/.*\.//; s/\[\]//' | sort -u | while read -r key; do
	grep -qwF -- "$key" "$top/deploy/man/poppy.conf.5" || echo "$key"
done >"$tmp/out"
[ ! -s "$tmp/out" ]
result $? "each is in poppy.conf(5)"

echo "# a database that is away or another's"
db=nowhere
ctl 2 "no such database" "can't connect" agents list
db=postgres
ask "DELETE FROM poppy.schema_migration WHERE number > 1" >/dev/null
ctl 2 "an older schema" "schema version 1, not" agents block a.example
is "$(ask 'SELECT count(*) FROM poppy.client_rule')" 0 "... is left alone"

echo "1..$n"
[ $failed -eq 0 ]
