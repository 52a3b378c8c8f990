# The parts of a stack that are Apache's: the server itself, what sockets.conf
# says to it, and the TCP port and gate secret of the guard behind it.

apache_modules='mpm_event authn_core authn_file authz_core authz_user
    authz_host auth_basic access_compat authnz_fcgi unique_id env setenvif
    headers mime dir alias rewrite reqtimeout proxy proxy_fcgi
    proxy_balancer lbmethod_bybusyness slotmem_shm socache_shmcb http2 ssl'

check_apache() {
	need apache2 apache2-bin
	[ -e /usr/lib/apache2/modules/mod_authnz_fcgi.so ] ||
	    die "Apache has no mod_authnz_fcgi: apt-get install apache2-bin"
}

load_modules() {
	for m in $apache_modules; do
		echo "LoadModule ${m}_module /usr/lib/apache2/modules/mod_$m.so"
	done
}

start_apache() {
	user='' gated='' poppy='' ipv6=''
	! grep -qs '^0*1 ' /proc/net/if_inet6 || ipv6="Listen [::1]:$port"
	[ "$(id -u)" != 0 ] || user="User $web
Group $web"
	[ -n "$shop_only" ] || gated="Include \"$dir/conf/gate.conf\"" \
	    poppy="Include \"$dir/conf/sockets.conf\"
	Include \"$dir/conf/poppy.conf\""
	fill "$here/conf/apache.conf.in" DIR="$dir" PORT="$port" \
	    MODULES="$(load_modules)" USER="$user" IPV6="$ipv6" \
	    GATE="$gated" POPPY="$poppy" >"$dir/conf/apache.conf"
	rm -f "$dir/conf/apache.id"
	launch apache apache2 -D FOREGROUND -f "$dir/conf/apache.conf"
}

# A free port for the guard, since mod_authnz_fcgi speaks TCP alone.
choose_guard_port() {
	guard_port=$((20000 + $$ % 10000))
	while ss -Hltn "sport = :$guard_port" | grep -q .; do
		guard_port=$((guard_port + 1))
	done
}

# The secret by which the guard knows the web server.
make_gate() {
	file=$dir/secrets/$gate
	[ ! -f "$file" ] || return 0
	(umask 077 && openssl rand -hex 32 >"$file")
	[ "$(id -u)" != 0 ] || chown "$web:" "$file"
	chmod 400 "$file"
}

# balancer NAME COUNT: each process of a program is a member.
balancer() {
	echo "<Proxy \"balancer://poppy-$1\">"
	for n in $(seq "$2"); do
		echo "	BalancerMember" \
		    "\"unix:$dir/run/$1-$n.sock|fcgi://$1-$n\"" \
		    "flushpackets=on timeout=360 retry=1"
	done
	echo "	ProxySet lbmethod=bybusyness"
	echo "</Proxy>"
}

apache_sockets() {
	balancer auth "$auth_procs"
	balancer browser "$browser_procs"
	cat <<-CONF
		Define POPPY_GUARDED "$(echo $guarded |
		    sed 's/\./\\./g; s/ /|/g')"
		Define POPPY_COOKIE "$cookie"
	CONF
}

# Apache asks one address; the guards share it.
apache_gate() {
	cat <<-CONF
		AuthnzFcgiDefineProvider authnz poppy fcgi://127.0.0.1:$guard_port/
		Define POPPY_GATE $(cat "$dir/secrets/gate")
	CONF
}
