# Debian packages: what is missing gets installed, and starts nothing.

# Services of packages that came with this installation stay off, now and
# after the next boot: the demo starts its own.
services_off() {
	[ -d /run/systemd/system ] || return 0
	for p; do
		case $p in
		lighttpd | php8.2-fpm | pgbouncer) systemctl -q disable "$p" || : ;;
		postgresql-15) systemctl -q disable postgresql || : ;;
		esac
	done
}

# policy-rc.d with status 101 forbids starting; one that is there stays.
install_packages() {
	missing=''
	for p in $(sed 's/#.*//' "$here/packages"); do
		dpkg-query -W -f '${Status}\n' "$p" 2>/dev/null |
		    grep -q ' installed$' || missing="$missing $p"
	done
	[ -n "$missing" ] || return 0
	[ "$(id -u)" = 0 ] || die "these packages are missing; as root run:" \
	    "apt-get install --no-install-recommends$missing"
	say "installing$missing"
	policy=/usr/sbin/policy-rc.d
	if [ ! -e $policy ]; then
		made_policy=1
		printf '#!/bin/sh\nexit 101\n' >$policy
		chmod 755 $policy
	fi
	export DEBIAN_FRONTEND=noninteractive
	rc=0
	{ apt-get -q update && apt-get -qy -o DPkg::Lock::Timeout=300 \
	    install --no-install-recommends $missing; } \
	    </dev/null >"$var/packages.log" 2>&1 || rc=$?
	forget_policy
	[ $rc = 0 ] || {
		tail -n 15 "$var/packages.log" >&2
		die "packages can't be installed; all of it is in" \
		    "$var/packages.log"
	}
	services_off $missing
}

forget_policy() {
	[ -z "${made_policy-}" ] || rm -f /usr/sbin/policy-rc.d
	made_policy=''
}
