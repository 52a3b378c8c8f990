// oauth - an OAuth client from npm, unchanged, in the name of a test agent.
import { fetchFrom, npm } from './npm.mjs';

const ES256 = { name: 'ECDSA', namedCurve: 'P-256' };

// The agent's key as the Web Crypto that such clients want.
async function pair(key)
{
	const { subtle } = globalThis.crypto;

	return {
		privateKey: await subtle.importKey('jwk', key.secret, ES256,
		    false, ['sign']),
		publicKey: await subtle.importKey('jwk', key.pub, ES256, true,
		    ['verify']),
	};
}

export class OAuth {
	// seen: what it asked, [method, URL, status].
	static async make(w, agent, user)
	{
		const o = new OAuth();

		o.lib = await npm('oauth4webapi');
		o.seen = [];
		o.client = { client_id: agent.id };
		o.agent = agent;
		o.user = user;
		o.auth = o.lib.PrivateKeyJwt({ kid: agent.kid,
			key: (await pair(agent.key)).privateKey });
		o.dpop = o.lib.DPoP(o.client, await pair(user.key));
		o.opts = { [o.lib.customFetch]: fetchFrom(w.ca, o.seen) };
		o.proved = { ...o.opts, DPoP: o.dpop };
		o.as = await o.discover(new URL(w.base));
		return o;
	}

	async discover(issuer)
	{
		const res = await this.lib.discoveryRequest(issuer,
		    { algorithm: 'oauth2', ...this.opts });

		return this.lib.processDiscoveryResponse(issuer, res);
	}

	// A Session by the JWT-bearer grant; form: more fields, proof: by DPoP.
	async session(form = {}, opts = this.proved)
	{
		const { lib, as, client, auth, agent, user } = this;
		const res = await lib.genericTokenEndpointRequest(as, client, auth,
		    'urn:ietf:params:oauth:grant-type:jwt-bearer',
		    { assertion: agent.sessionAssertion(user), ...form }, opts);

		return lib.processGenericTokenEndpointResponse(as, client, res);
	}

	call(token, url, method = 'GET')
	{
		return this.lib.protectedResourceRequest(token, method,
		    new URL(url), new Headers(), null, this.proved);
	}

	// The code flow: flow is asked by this client, person decides. What the
	// client makes of the reply.
	async direct(flow, session, { scope, ...decision } = {})
	{
		const { lib, as, client } = this;
		const verifier = lib.generateRandomCodeVerifier();
		const state = lib.generateRandomState();
		const url = new URL(as.authorization_endpoint);

		for (const [k, v] of Object.entries({ client_id: client.client_id,
			redirect_uri: flow.redirect, response_type: 'code',
			scope, state, code_challenge_method: 'S256',
			code_challenge: await lib.calculatePKCECodeChallenge(
			    verifier) }))
			url.searchParams.set(k, v);
		const person = flow.person();
		const res = await person.decide(await person.consent(url.href),
		    decision);
		const params = lib.validateAuthResponse(as, client,
		    new URL(res.header('location')), state);
		return lib.processAuthorizationCodeResponse(as, client,
		    await lib.authorizationCodeGrantRequest(as, client, this.auth,
			params, flow.redirect, verifier, { ...this.proved,
				additionalParameters: { session_id: session } }));
	}

	async refresh(token, more = {})
	{
		const { lib, as, client } = this;

		return lib.processRefreshTokenResponse(as, client,
		    await lib.refreshTokenGrantRequest(as, client, this.auth,
			token, { ...this.proved, additionalParameters: more }));
	}

	async revoke(token)
	{
		const { lib, as, client } = this;

		return lib.processRevocationResponse(await lib.revocationRequest(
		    as, client, this.auth, token, this.opts));
	}

	async device(scope)
	{
		const { lib, as, client } = this;

		return lib.processDeviceAuthorizationResponse(as, client,
		    await lib.deviceAuthorizationRequest(as, client, this.auth,
			{ scope }, this.opts));
	}

	async poll(device_code, session)
	{
		const { lib, as, client } = this;

		return lib.processDeviceCodeResponse(as, client,
		    await lib.deviceCodeGrantRequest(as, client, this.auth,
			device_code, { ...this.proved, additionalParameters:
			    { session_id: session } }));
	}
}
