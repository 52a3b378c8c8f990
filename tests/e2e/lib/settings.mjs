// settings - poppy.conf of the tests' stacks.

export const SERVER = process.env.POPPY_TEST_SERVER ?? 'lighttpd';

// What the shop's pages are to an agent's browser, as in the demo; the doors that
// the bridge shuts by itself (login and such) are left to it.
const SITE = {
	closed: [{ path: '/checkout.php' }],
	rules: [
		{ path: '/style.css', open: true },
		{ path: '/favicon.svg', open: true },
		{ path: '/robots.txt', open: true },
		{ path: '/picture.php', open: true },
		{ path: '/orders.php', scopes: ['poppy:read'] },
		{ path: '/order.php', scopes: ['poppy:read'] },
		{ path: '/order.php', methods: ['POST'], scopes: ['poppy:write'] },
		{ path: '/addresses.php', scopes: ['addresses'] },
		{ path: '/addresses.php', methods: ['POST'],
			scopes: ['addresses', 'poppy:write'] },
		{ path: '/account.php', signed_in: true },
		{ path: '/account.php', methods: ['POST'],
			scopes: ['poppy:write'] },
		{ path: '/cart.php', methods: ['GET', 'POST'] },
		{ path: '/currency.php', methods: ['POST'] },
		{ path: '/login.php', methods: ['GET', 'POST'] },
		{ path: '/', methods: ['GET'] },
	],
};

// The settings of a test's stack. bend() may change them.
export function settings(dir, port, bend = () => {})
{
	const at = (host) => `https://${host}:${port}`;
	const c = {
		organization: { name: 'Test Company' },
		issuer: at('localhost'),
		hosts: [
			{ host: 'localhost', base: at('localhost'),
				domain: 'localhost' },
			{ host: 'www.localhost', base: at('www.localhost'),
				domain: 'localhost' },
			{ host: 'shop2.localhost', base: at('shop2.localhost'),
				domain: 'shop2.localhost' },
			{ host: 'api.localhost', base: at('api.localhost') },
		],
		database: { conninfo: `host=${dir}/pg dbname=shop` },
		secrets: `${dir}/secrets`,
		gate: SERVER === 'apache' ? 'gate' : '',
		listen: { auth: `${dir}/run/auth.sock`,
			browser: `${dir}/run/browser.sock`,
			guard: `${dir}/run/guard.sock` },
		workers: { auth: 4, browser: 2, guard: 4 },
		log: 'debug',
		// All tests come from one address: counted, and never reached.
		limits: { token_per_address: 1000000,
			refused_per_address: 1000000, open_per_address: 1000000,
			calls_per_session: 1000000 },
		agents: { ports: ['*'], allow_networks: ['127.0.0.0/8', '::1/128'],
			extra_ca: `${dir}/ca/ca.pem`,
			// All agents of all tests are on one host.
			new_per_hour: 10000, new_per_domain: 10000,
			new_per_address: 10000 },
		apis: [{ type: 'openapi', url: `${at('localhost')}/api/openapi.json`,
			description: 'Stock of each article' }],
		guard: [{ prefix: '/api/', api: 'openapi', rules: [
			{ path: '/api/openapi.json', methods: ['GET'], open: true },
			{ path: '/api/stock.php', methods: ['GET'] },
			{ path: '/api/whoami.php', methods: ['GET'] },
			{ path: '/api/reserved.php', methods: ['GET'],
				scopes: ['poppy:read'] },
			{ path: '/api/orders.php', methods: ['GET'],
				scopes: ['poppy:read'] },
			{ path: '/api/addresses.php', methods: ['GET'],
				scopes: ['addresses'] }] }],
		browser: { enabled: true },
		site: structuredClone(SITE),
	};

	bend(c);
	// Without Sessions nobody joins one.
	if (!c.issuer) {
		delete c.browser;
		delete c.site;
	}
	return c;
}
