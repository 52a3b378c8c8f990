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
}
