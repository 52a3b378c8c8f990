// jose - keys and JWTs as an agent makes them, independent of the C code.
import crypto from 'node:crypto';

export const b64u = (x) => Buffer.from(x).toString('base64url');
export const sha256 = (x) => crypto.createHash('sha256').update(x).digest();
export const random = (n = 16) => b64u(crypto.randomBytes(n));
export const now = () => Math.floor(Date.now() / 1000);

const KINDS = {
	ES256: ['ec', { namedCurve: 'P-256' }],
	ES384: ['ec', { namedCurve: 'P-384' }],
	RS256: ['rsa', { modulusLength: 2048 }],
	PS256: ['rsa', { modulusLength: 2048 }],
	EdDSA: ['ed25519', {}],
};
export const ALGS = Object.keys(KINDS);

// A key pair with its public JWK; opts go to the generator.
export function makeKey(alg = 'ES256', opts = {})
{
	const [type, def] = KINDS[alg];
	// By way of DER: a generated key keeps a lock in common with the job that
	// made it, and Node 20 stands still where that is collected as garbage
	// during the key's export as a JWK.
	const { privateKey: key } = crypto.generateKeyPairSync(type, {
		...def, ...opts,
		publicKeyEncoding: { type: 'spki', format: 'der' },
		privateKeyEncoding: { type: 'pkcs8', format: 'der' } });
	const priv = crypto.createPrivateKey({ key, format: 'der',
		type: 'pkcs8' });

	return {
		alg, priv,
		pub: crypto.createPublicKey(priv).export({ format: 'jwk' }),
		secret: priv.export({ format: 'jwk' }),
	};
}

const MEMBERS = { EC: ['crv', 'kty', 'x', 'y'], RSA: ['e', 'kty', 'n'],
	OKP: ['crv', 'kty', 'x'] };

// RFC 7638: the members that count, in the order of their names.
export function thumbprint(jwk)
{
	const o = {};

	for (const m of MEMBERS[jwk.kty])
		o[m] = jwk[m];
	return b64u(sha256(JSON.stringify(o)));
}

function signature(alg, key, text)
{
	const data = Buffer.from(text);

	switch (alg) {
	case 'ES256':
		return crypto.sign('sha256', data,
		    { key, dsaEncoding: 'ieee-p1363' });
	case 'ES384':
		return crypto.sign('sha384', data,
		    { key, dsaEncoding: 'ieee-p1363' });
	case 'RS256':
		return crypto.sign('sha256', data, key);
	case 'PS256':
		return crypto.sign('sha256', data, { key,
			padding: crypto.constants.RSA_PKCS1_PSS_PADDING,
			saltLength: 32 });
	case 'EdDSA':
		return crypto.sign(null, data, key);
	default:
		throw new Error(`no such alg: ${alg}`);
	}
}

// Whatever is undefined falls out, so that { jti: undefined } removes a claim.
const text = (x) => typeof x === 'string' ? x : JSON.stringify(x);

// A compact JWS. header and payload may be objects or raw text. sign: the alg
// that is really used, when the header should claim another.
export function jws(key, header, payload, { sign = key.alg } = {})
{
	const head = typeof header === 'string' ? header :
	    text({ alg: key.alg, ...header });
	const signed = `${b64u(head)}.${b64u(text(payload))}`;

	return `${signed}.${b64u(signature(sign, key.priv, signed))}`;
}

// The well-known attacks on alg: no signature, and the public key as a secret.
export function jwsNone(header, payload)
{
	return `${b64u(text({ ...header, alg: 'none' }))}.` +
	    `${b64u(text(payload))}.`;
}

export function jwsHmac(secret, header, payload, alg = 'HS256')
{
	const signed = `${b64u(text({ ...header, alg }))}.` +
	    `${b64u(text(payload))}`;
	const mac = crypto.createHmac(alg.replace('HS', 'sha'), secret)
	    .update(signed).digest();

	return `${signed}.${b64u(mac)}`;
}

// Flip one bit of the signature.
export function tampered(jwt, part = 2)
{
	const parts = jwt.split('.');
	const b = Buffer.from(parts[part], 'base64url');

	b[b.length >> 1] ^= 1;
	parts[part] = b64u(b);
	return parts.join('.');
}
