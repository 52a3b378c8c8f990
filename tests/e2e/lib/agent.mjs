// agent - a Personal Agent written from the draft alone: client document, keys,
// assertions, proofs, token requests and calls. Every part can be bent.
import { ALGS, b64u, jws, makeKey, now, random, sha256 } from './jose.mjs';
import { send } from './http.mjs';

export const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
export const ASSERTION_TYPE =
    'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

// One User of the agent: an opaque ID for this company and a key of its own.
export class User {
	constructor(alg = 'ES256')
	{
		this.sub = `usr_${random(18)}`;
		this.key = makeKey(alg);
	}

	proof(method, url, { token, claims = {}, header = {}, key = this.key,
		sign } = {})
	{
		const payload = {
			jti: random(), htm: method, htu: url, iat: now(),
			ath: token === undefined ? undefined : b64u(sha256(token)),
			...claims,
		};

		return jws(key, { typ: 'dpop+jwt', jwk: key.pub, ...header },
		    payload, { sign: sign ?? key.alg });
	}
}

export class Agent {
	// docs: the server that publishes for us; world: where the company is.
	constructor(world, { alg = 'ES256', doc = {}, jwks, key, path } = {})
	{
		this.world = world;
		this.name = path ?? `a${random(9)}`;
		this.id = `${world.docs.base}/${this.name}/agent.json`;
		this.key = key ?? makeKey(alg);
		this.kid = `k-${random(6)}`;
		this.document = {
			client_id: this.id,
			client_name: 'Test Agent',
			jwks_uri: `${world.docs.base}/${this.name}/jwks.json`,
			redirect_uris: [`${world.docs.base}/${this.name}/cb`],
			token_endpoint_auth_method: 'private_key_jwt',
			...doc,
		};
		this.publish(jwks ?? this.jwks());
	}

	jwks(key = this.key, kid = this.kid)
	{
		return { keys: [{ ...key.pub, kid, use: 'sig', alg: key.alg }] };
	}

	publish(jwks = this.jwks(), document = this.document)
	{
		this.world.docs.set(`/${this.name}/agent.json`, document);
		this.world.docs.set(`/${this.name}/jwks.json`, jwks);
	}

	hits(what = 'agent.json')
	{
		return this.world.docs.hits(`/${this.name}/${what}`);
	}

	claims(sub, over = {})
	{
		return {
			iss: this.id, sub, aud: this.world.tokenEndpoint,
			iat: now(), exp: now() + 60, jti: random(), ...over,
		};
	}

	// over: claims to change, undefined to leave out. opts: header, key, sign.
	clientAssertion(over = {}, { header = {}, key = this.key, sign } = {})
	{
		return jws(key, { typ: 'JWT', kid: this.kid, ...header },
		    this.claims(this.id, over), { sign: sign ?? key.alg });
	}

	sessionAssertion(user, over = {}, { header = {}, key = this.key,
		sign } = {})
	{
		return jws(key, { typ: 'JWT', kid: this.kid, ...header },
		    this.claims(user.sub, over), { sign: sign ?? key.alg });
	}

	// The form of a Session start; over changes fields, undefined drops one.
	form(user, over = {})
	{
		const f = {
			grant_type: GRANT,
			assertion: this.sessionAssertion(user),
			client_id: this.id,
			client_assertion_type: ASSERTION_TYPE,
			client_assertion: this.clientAssertion(),
			...over,
		};

		return Object.entries(f).filter(([, v]) => v !== undefined);
	}

	// POST a token request. form: fields to change, or a list of pairs. proof:
	// a text, a list of texts (so many headers), null for none.
	async token(user, { form = {}, proof, headers = [], body, type,
		from } = {})
	{
		const pairs = Array.isArray(form) ? form : this.form(user, form);
		const url = this.world.tokenEndpoint;
		const p = proof === undefined ? user.proof('POST', url) : proof;

		return send(url, {
			ca: this.world.ca, method: 'POST', from,
			headers: [
				['Content-Type',
					type ?? 'application/x-www-form-urlencoded'],
				...[p ?? []].flat().map((v) => ['DPoP', v]),
				...headers,
			],
			body: body ?? encode(pairs),
		});
	}

	// A Session that must come to be.
	async session(user = new User(), opts = {})
	{
		const res = await this.token(user, opts);

		if (res.status !== 200)
			throw new Error(`no Session: ${res.status} ${res.text}`);
		return { user, token: res.json.access_token,
			id: res.json.session_id, res };
	}

	// A call with token and proof; each can be bent or left out (null).
	async call(s, method, url, { token = s.token, scheme = 'DPoP', proof,
		authorization, headers = [], body, target, htu, from } = {})
	{
		const bare = (htu ?? url).split('?')[0];
		const p = proof === undefined ?
		    s.user.proof(method, bare, { token: s.token }) : proof;
		const auth = authorization === undefined ?
		    `${scheme} ${token}` : authorization;

		return send(url, {
			ca: this.world.ca, method, target, body, from,
			headers: [
				...(auth === null ? [] : [['Authorization', auth]]),
				...[p ?? []].flat().map((v) => ['DPoP', v]),
				...headers,
			],
		});
	}
}

export const encode = (pairs) => pairs.map(([k, v]) =>
    `${encodeURIComponent(k)}=${encodeURIComponent(v)}`).join('&');
export { ALGS };
