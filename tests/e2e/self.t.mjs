// The tests' own tools: they must be right before they may judge.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import crypto from 'node:crypto';
import { proves, run, test } from './lib/tap.mjs';
import { ALGS, jws, jwsHmac, jwsNone, makeKey, tampered, thumbprint }
	from './lib/jose.mjs';
import { bytesOf, splitUrl } from './lib/http.mjs';

const HASH = { ES256: 'sha256', ES384: 'sha384', RS256: 'sha256',
	PS256: 'sha256', EdDSA: null };

function verifies(alg, key, jwt)
{
	const [h, p, s] = jwt.split('.');

	return crypto.verify(HASH[alg], Buffer.from(`${h}.${p}`), {
		key: crypto.createPublicKey({ key: key.pub, format: 'jwk' }),
		dsaEncoding: 'ieee-p1363',
		...(alg === 'PS256' && {
			padding: crypto.constants.RSA_PKCS1_PSS_PADDING }),
	}, Buffer.from(s, 'base64url'));
}

test('the list has all rows, each once, with words of its own', [], (t) => {
	const rows = readFileSync(new URL('../requirements', import.meta.url),
	    'utf8').split('\n').filter((l) => l !== '' && !l.startsWith('#'));

	t.eq(rows.length, 373, 'rows');
	t.eq(new Set(rows.map((l) => l.split('\t')[0])).size, 373, 'ids');
	for (const l of rows)
		t.match(l, /^(R-\d(\.\d+)?-\d+|A-\d+)\t\S.{2,60}$/, 'row');
});

test('proves() refuses rows that are not in the list', [], (t) => {
	for (const bad of ['R-4.3-99', 'R-4.3-8 ', '', 'a-1']) {
		let threw = false;

		try {
			proves(bad);
		} catch {
			threw = true;
		}
		t.ok(threw, `took ${bad}`);
	}
});

test('thumbprint of RFC 7638, 3.1', [], (t) => {
	t.eq(thumbprint({ kty: 'RSA', n: '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps' +
	    '2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZC' +
	    'iFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65' +
	    'YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1' +
	    'n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_' +
	    'xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw', e: 'AQAB', alg: 'RS256',
	    kid: '2011-04-29' }), 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
	    'thumbprint');
});

for (const alg of ALGS)
	test(`${alg}: signs, and a changed bit shows`, [], (t) => {
		const key = makeKey(alg);
		const jwt = jws(key, { typ: 'JWT' }, { a: 1 });

		t.ok(verifies(alg, key, jwt), 'own signature');
		t.ok(!verifies(alg, key, tampered(jwt)), 'tampered signature');
		t.ok(!verifies(alg, key, tampered(jwt, 1)), 'tampered payload');
		t.ok(!verifies(alg, makeKey(alg), jwt), 'other key');
	});

test('unsigned and HMAC forgeries look as they should', [], (t) => {
	t.match(jwsNone({}, {}), /^[\w-]+\.[\w-]+\.$/, 'none');
	t.eq(jwsHmac('s', {}, {}).split('.').length, 3, 'HS256');
});

test('URLs are not normalised', [], (t) => {
	t.eq(splitUrl('https://a:1/x/../%2e?q').target, '/x/../%2e?q', 'target');
	t.eq(bytesOf({ target: '//x', host: 'h', headers: [['A', '1'],
		['A', '2']] }).toString(),
	    'GET //x HTTP/1.1\r\nHost: h\r\nA: 1\r\nA: 2\r\n\r\n', 'bytes');
});

// What counts all tests must count every way in which they can go wrong.
const collect = (args, input) => spawnSync(fileURLToPath(new URL('../collect',
    import.meta.url)), args, { input, encoding: 'utf8' });
const COUNTS = [
	['two of two', '1..2\nok 1 - a\nok 2 - b\n', 0, 2, 0],
	['one failed', '1..2\nok 1 - a\nnot ok 2 - b\n# why\n', 1, 1, 1],
	['short of the plan', '1..3\nok 1 - a\nok 2 - b\n', 0, 2, 1],
	['more than the plan', '1..1\nok 1\nok 2\n', 0, 2, 1],
	['no plan', 'ok 1 - a\n', 0, 1, 1],
	['nothing at all', '', 0, 0, 1],
	['an empty plan', '1..0\n', 0, 0, 1],
	['a crash after the last point', '1..1\nok 1 - a\n', 139, 1, 1],
	['a skip', '1..1\nok 1 - a # SKIP no reason\n', 0, 0, 1],
	['a bail out', '1..1\nok 1 - a\nBail out! x\n', 1, 1, 1],
	['words that look alike', '1..1\nokay\nok 1 - a\n', 0, 1, 0],
];
for (const [why, tap, status, ok, bad] of COUNTS)
	test(`counting: ${why}`, [], (t) => {
		const points = collect(['tap', 's', String(status)], tap).stdout;
		const sum = collect(['count'], points);

		t.eq(sum.stdout, `${ok} passed, ${bad} failed\n`, 'sum');
		t.eq(sum.status, bad > 0 || ok === 0 ? 1 : 0, 'exit status');
	});

test('a row is proved only if every point that names it holds', [], (t) => {
	const rows = collect(['rows'], [
		'ok\te2e/x: [R-3-1 R-3-2] a', 'failed\te2e/y: [R-3-1] b',
		'ok\te2e/y: no row', 'ok\te2e/agent.t.mjs: [R-3-3] c',
		''].join('\n')).stdout;

	t.eq(rows, 'R-3-1\tfailed\nR-3-2\tok\n', 'rows');
});

await run();
