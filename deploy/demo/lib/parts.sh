# The parts of a stack, each started by one function.

# What the shop's files need of the outside is reached through DIR alone: the
# source tree may lie where the web server's user can't go.
lay_out() {
	[ ! -e "$dir/shop" ] || [ -f "$dir/shop/sql/seed.sql" ] ||
	    die "$dir/shop is none of ours: choose another folder"
	mkdir -p "$dir/run" "$dir/log" "$dir/conf" "$dir/sessions" "$dir/bin" \
	    "$dir/mail"
	chmod 755 "$dir" "$dir/run" "$dir/log" "$dir/conf" "$dir/bin"
	chmod 700 "$dir/sessions" "$dir/mail"
	cp "$here/mail" "$dir/bin/mail"
	chmod 755 "$dir/bin/mail"
	mkdir -p "$dir/pages"
	cp "$here/pages/shop.css" "$dir/pages/"
	chmod 755 "$dir/pages"
	chmod 644 "$dir/pages/shop.css"
	rm -rf "$dir/shop"
	cp -R "$here/shop" "$dir/shop"
	chmod -R u+rwX,go+rX "$dir/shop"
	cp "$here/../$server"/*.conf "$dir/conf/"
	mkdir -p "$dir/bridge"
	cp "$here"/../php/*.php "$dir/bridge/"
	cp "$here/adapter.php" "$dir/bridge/shop.php"
	chmod 755 "$dir/bridge"
	chmod 644 "$dir/bridge"/*.php
	if [ "$(id -u)" = 0 ]; then
		chown "$web": "$dir/run" "$dir/log" "$dir/sessions" \
		    "$dir/mail"
	fi
	as_web test -x "$dir/shop/public" ||
	    die "user $web can't reach $dir: choose a folder outside of" \
	    "private ones"
}

pg() {
	as_pg psql -X -q -v ON_ERROR_STOP=1 -h "$dir/pg" -U postgres "$@"
}

# The system user decides which role one may be: the database's owners any,
# the web server's user each program's and the shop's, nobody else any.
pg_access() {
	owners='root postgres'
	[ "$(id -u)" = 0 ] || owners=$web
	roles=$(pg -d shop -Atc "SELECT rolname FROM pg_roles
	    WHERE rolcanlogin AND (rolname = 'shop' OR rolname LIKE 'poppy\_%')")
	{
		for u in $owners; do
			echo "stack $u postgres"
		done
		for r in $roles; do
			for u in $owners $web; do
				echo "stack $u $r"
			done
		done
	} | sort -u | as_pg tee "$dir/pg/data/pg_ident.conf" >/dev/null
	echo 'local all all peer map=stack' |
	    as_pg tee "$dir/pg/data/pg_hba.conf" >/dev/null
	pg -d postgres -c 'SELECT pg_reload_conf()' >/dev/null
	chmod 755 "$dir/pg"
}

# Closed to all but postgres until pg_access has said who may be whom.
start_pg() {
	"$top/tests/pg-cluster" start "$dir/pg" >"$dir/log/pg.out" 2>&1 || {
		cat "$dir/log/pg.out" >&2
		die "PostgreSQL does not start"
	}
	[ "$(pg -d postgres -Atc "SELECT 1 FROM pg_database
	    WHERE datname = 'shop'")" = 1 ] ||
	    pg -d postgres -c 'CREATE DATABASE shop'
}

fill_shop() {
	[ "$(pg -d shop -Atc "SELECT to_regclass('shop.order_line')
	    IS NOT NULL")" = f ] || return 0
	pg -d postgres -c "DO \$\$ BEGIN CREATE ROLE shop LOGIN;
	    EXCEPTION WHEN duplicate_object THEN NULL; END \$\$"
	cat "$here/shop/sql/schema.sql" "$here/shop/sql/seed.sql" |
	    pg -d shop -1 >"$dir/log/shop.sql.out" 2>&1 || {
		cat "$dir/log/shop.sql.out" >&2
		die "the shop's tables can't be made"
	}
	as_pg php "$dir/shop/seed.php" "pgsql:host=$dir/pg;dbname=shop" \
	    postgres >"$dir/customers" ||
	    die "the shop's customers can't be made"
}

# The bridge's settings, PHP's user's own.
make_bridge() {
	ini=$dir/bridge/bridge.ini
	rm -f "$ini"
	(umask 077 && cat >"$ini" <<-INI
		dsn = "pgsql:host=$dir/pg;dbname=shop"
		pages = "$base/poppy"
		session_key = "$(openssl rand -hex 32)"
		adapter = "$dir/bridge/shop.php"
		cookie = "$cookie"
	INI
	)
	[ "$(id -u)" != 0 ] || chown "$web:" "$ini"
	chmod 400 "$ini"
}

start_php() {
	bridge=''
	if [ -z "$shop_only" ]; then
		make_bridge
		bridge="php_admin_value[auto_prepend_file] = \
$dir/bridge/poppy.php
env[POPPY_BRIDGE] = $dir/bridge/bridge.ini"
	fi
	fill "$here/conf/php-fpm.conf.in" DIR="$dir" BASE="$base" \
	    BRIDGE="$bridge" >"$dir/conf/php-fpm.conf"
	rm -f "$dir/run/php.sock"
	launch php-fpm $(drop) "$php_fpm" -F -y "$dir/conf/php-fpm.conf"
	wait_for php-fpm php-fpm test -S "$dir/run/php.sock"
}

# The command prefix that gives up root.
drop() {
	[ "$(id -u)" != 0 ] ||
	    echo "setpriv --reuid $web --regid $web --init-groups --"
}

start_web() {
	need_port "$port"
	"start_$server"
	wait_for "$server" "$server" curl -s -m 5 --noproxy '*' -o /dev/null \
	    --cacert "$dir/ca/ca.pem" "https://localhost:$port/robots.txt"
}

start_lighttpd() {
	user='' poppy='' ipv6=''
	! grep -qs '^0*1 ' /proc/net/if_inet6 ||
	    ipv6="\$SERVER[\"socket\"] == \"[::1]:$port\" {
	ssl.engine = \"enable\"
}"
	[ "$(id -u)" != 0 ] ||
	    user="server.username = \"$web\"
server.groupname = \"$web\""
	[ -n "$shop_only" ] || poppy='include "sockets.conf"
include "poppy.conf"'
	fill "$here/conf/lighttpd.conf.in" DIR="$dir" PORT="$port" \
	    USER="$user" IPV6="$ipv6" POPPY="$poppy" \
	    >"$dir/conf/lighttpd.conf"
	launch lighttpd lighttpd -D -f "$dir/conf/lighttpd.conf"
}

# hosts_json: every host with its base; www.NAME belongs to the domain NAME.
hosts_json() {
	sep=''
	for h in $hosts; do
		printf '%s\t\t{ "host": "%s", "base": "https://%s%s", "domain": "%s" }' \
		    "$sep" "$h" "$h" "${base#https://localhost}" "${h#www.}"
		sep=',
'
	done
}

# sockets NAME COUNT EXTRA: a program's sockets as lighttpd lists them.
sockets() {
	for n in $(seq "$2"); do
		[ "$n" = 1 ] || echo ','
		printf '( "socket" => "%s/run/%s-%d.sock", %s' \
		    "$dir" "$1" "$n" "$3"
		printf '"check-local" => "disable", '
		printf '"tcp-fin-propagate" => "enable" )'
	done
}

lighttpd_sockets() {
	echo 'fastcgi.balance = "round-robin"'
	echo "var.poppy_auth = ( $(sockets auth "$auth_procs" '') )"
	echo "var.poppy_browser = ( $(sockets browser "$browser_procs" '') )"
	echo "var.poppy_guard = ( $(sockets guard "$guard_procs" \
	    '"mode" => "authorizer", ') )"
	echo "var.poppy_guarded = ("
	printf '\t"%s" => var.poppy_guard,\n' $guarded
	echo ")"
	echo "var.poppy_cookie = \"$cookie\""
}

# Programs, settings, schema and keys of poppy-fcgi.
prepare_poppy() {
	for p in poppyctl poppy-auth poppy-browser poppy-guard; do
		take "$p"
	done
	fill "$conf" DIR="$dir" BASE="$base" PORT="$port" \
	    GATE="$gate" HOSTS="$(hosts_json)" LOGIN="$login" \
	    COOKIE="$cookie" \
	    >"$dir/poppy.conf"
	"$dir/bin/poppyctl" --conninfo "host=$dir/pg dbname=shop user=postgres" \
	    --sql "$top/sql" db install >"$dir/log/poppyctl.out" 2>&1 || {
		cat "$dir/log/poppyctl.out" >&2
		die "poppyctl db install failed"
	}
	pg -d shop -f - <"$top/sql/adapters/demo.sql"
	make_secrets
	"${server}_sockets" >"$dir/conf/sockets.conf"
	[ -n "$gate" ] || return 0
	make_gate
	(umask 077 && apache_gate >"$dir/conf/gate.conf")
}

# Keys are the programs' user's own and closed to everybody else.
make_secrets() {
	[ ! -d "$dir/secrets" ] || return 0
	mkdir -m 700 "$dir/secrets"
	[ "$(id -u)" != 0 ] || chown "$web:" "$dir/secrets"
	as_web "$dir/bin/poppyctl" -c "$dir/poppy.conf" secrets init \
	    >>"$dir/log/poppyctl.out" 2>&1 || {
		rmdir "$dir/secrets" || :
		cat "$dir/log/poppyctl.out" >&2
		die "poppyctl secrets init failed"
	}
}

# Where process $2 of program $1 listens.
socket_of() {
	case $server.$1.$2 in
	apache.guard.*) echo "127.0.0.1:$guard_port" ;;
	*) echo "$dir/run/$1-$2.sock" ;;
	esac
}

listens() {
	case $1 in
	/*) test -S "$1" ;;
	*) ss -Hltn "sport = :${1##*:}" | grep -q . ;;
	esac
}

start_poppy() {
	for kind in auth browser guard; do
		eval "count=\$${kind}_procs"
		for n in $(seq "$count"); do
			launch "poppy-$kind-$n" $(drop) "$dir/bin/poppy-$kind" \
			    -c "$dir/poppy.conf" -l "$(socket_of $kind "$n")"
		done
		for n in $(seq "$count"); do
			wait_for "poppy-$kind" "poppy-$kind-$n" \
			    listens "$(socket_of $kind "$n")"
		done
	done
}
