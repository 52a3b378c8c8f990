# The demo's certificate authority, and certificates of it.

make_ca() {
	[ ! -f "$dir/ca/ca.pem" ] || return 0
	mkdir -p "$dir/ca"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
	    -sha256 -days 825 -subj "/CN=poppy-fcgi demo authority" \
	    -addext basicConstraints=critical,CA:TRUE,pathlen:0 \
	    -addext keyUsage=critical,keyCertSign,cRLSign \
	    -keyout "$dir/ca/ca.key" -out "$dir/ca/ca.pem" 2>"$dir/ca/log" ||
	    die "openssl can't make the authority; see $dir/ca/log"
	chmod 600 "$dir/ca/ca.key"
	chmod 644 "$dir/ca/ca.pem"
}

# subject_names NAME...: the names as openssl's subjectAltName.
subject_names() {
	list=''
	for n in "$@"; do
		case $n in
		*[!0-9.]*) case $n in
			*:*) kind=IP ;;
			*[!A-Za-z0-9.*_-]*) die "$n is no host name" ;;
			*) kind=DNS ;;
			esac ;;
		*) kind=IP ;;
		esac
		list="$list${list:+,}$kind:$n"
	done
	echo "$list"
}

# make_cert FILE NAME...: FILE.pem with the chain, FILE.key beside it.
make_cert() {
	cert=$1
	shift
	mkdir -p "$(dirname "$cert")"
	names=$(subject_names "$@")
	printf '%s\n' "subjectAltName=$names" "basicConstraints=CA:FALSE" \
	    "keyUsage=digitalSignature" \
	    "extendedKeyUsage=serverAuth,clientAuth" >"$cert.ext"
	(umask 077 && openssl req -new -newkey ec \
	    -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
	    -keyout "$cert.key" -out "$cert.csr") 2>"$cert.log" &&
	    openssl x509 -req -in "$cert.csr" -CA "$dir/ca/ca.pem" \
	    -CAkey "$dir/ca/ca.key" -set_serial "0x$(openssl rand -hex 16)" \
	    -days 397 -sha256 -extfile "$cert.ext" -out "$cert.crt" \
	    2>>"$cert.log" ||
	    die "openssl can't make the certificate; see $cert.log"
	cat "$cert.crt" "$dir/ca/ca.pem" >"$cert.pem"
	rm -f "$cert.ext" "$cert.csr" "$cert.crt" "$cert.log"
}
