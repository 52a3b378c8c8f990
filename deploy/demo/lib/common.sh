# What stack, run and cert share: words for people, processes that can be
# found and ended again, who runs what.

die() {
	echo "$prog: $*" >&2
	exit 1
}

# The folder must be reached by the database's and the web server's users.
web=$(id -un)
[ "$(id -u)" != 0 ] || web=www-data

as_web() {
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid "$web" --regid "$web" --init-groups -- "$@"
	else
		"$@"
	fi
}

as_pg() {
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid postgres --regid postgres --init-groups -- "$@"
	else
		"$@"
	fi
}

# need PROGRAM PACKAGE: a program of a Debian package, or what to install.
need() {
	command -v "$1" >/dev/null 2>&1 || [ -x "$1" ] ||
	    die "$1 is missing: apt-get install --no-install-recommends $2"
}

# When a process began, in ticks since boot: with its id it names one process,
# also after the id was given to another.
began() {
	sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20
}

# launch NAME COMMAND...: in the background, in a session of its own so that
# the terminal's Ctrl-C is not for it, with what it says in log/NAME.out.
launch() {
	name=$1
	shift
	setsid "$@" </dev/null >>"$dir/log/$name.out" 2>&1 &
	echo "$! $(began $!)" >"$dir/run/$name.pid"
}

# running FILE: is the process of this pid file alive?
running() {
	[ -f "$1" ] && read -r pid at <"$1" || return 1
	[ -n "$at" ] && [ "$(began "$pid")" = "$at" ] &&
	    [ "$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null |
	    cut -c1)" != Z ]
}

# end FILE...: ask the processes to stop, insist after ten seconds.
end() {
	for f in "$@"; do
		if running "$f"; then
			kill -TERM "$pid" 2>/dev/null || :
		fi
	done
	for f in "$@"; do
		tries=0
		while running "$f" && [ $tries -lt 100 ]; do
			sleep 0.1
			tries=$((tries + 1))
		done
		if running "$f"; then
			kill -KILL "$pid" 2>/dev/null || :
		fi
		rm -f "$f"
	done
}

# wait_for WHAT NAME TEST...: until the test holds, the process is gone, or
# twenty seconds are over; then the end of its log says why.
wait_for() {
	what=$1 name=$2
	shift 2
	tries=0
	until "$@" >/dev/null 2>&1; do
		if ! running "$dir/run/$name.pid" || [ $tries -ge 200 ]; then
			tail -n 5 "$dir/log/$name.out" "$dir/log/$name.log" \
			    2>/dev/null >&2 || :
			die "$what does not start; its log is in $dir/log"
		fi
		sleep 0.1
		tries=$((tries + 1))
	done
}

# Who listens on a port, as "name (process 123)"; nothing if nobody does.
listener() {
	ss -Hltnp "sport = :$1" 2>/dev/null |
	    sed -n 's/.*users:(("\([^"]*\)",pid=\([0-9]*\).*/\1 (process \2)/p' |
	    head -n 1
}

# The port must be free on both loopback addresses.
need_port() {
	ss -Hltn "sport = :$1" 2>/dev/null | grep -q . || return 0
	who=$(listener "$1")
	die "port $1 is taken by ${who:-another user's process}: end it," \
	    "or choose another one with --port"
}

# fill TEMPLATE NAME=VALUE...: the template with each @NAME@ replaced.
fill() {
	awk 'BEGIN {
		for (i = 2; i < ARGC; i++) {
			at = index(ARGV[i], "=")
			key[i] = "@" substr(ARGV[i], 1, at - 1) "@"
			val[i] = substr(ARGV[i], at + 1)
		}
		n = ARGC
		ARGC = 2
	}
	{
		for (i = 2; i < n; i++)
			while ((at = index($0, key[i])) > 0)
				$0 = substr($0, 1, at - 1) val[i] \
				    substr($0, at + length(key[i]))
		print
	}' "$@"
}

# built NAME: the program of that name in the build folder.
built() {
	for f in "$prefix/$1" "$prefix"/*/*/"$1"; do
		if [ -f "$f" ] && [ -x "$f" ]; then
			echo "$f"
			return
		fi
	done
	die "$1 is not in $prefix: build it first, or say where it is" \
	    "with --prefix"
}

# take NAME: a copy of a built program in the stack, where all users may run it.
take() {
	program=$(built "$1")
	rm -f "$dir/bin/$1"
	cp "$program" "$dir/bin/$1"
	chmod 755 "$dir/bin/$1"
}
