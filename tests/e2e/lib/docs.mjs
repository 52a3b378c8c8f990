// docs - the HTTPS server of agents: documents, and every way to be hostile.
import https from 'node:https';

export class Docs {
	constructor(server, base)
	{
		this.server = server;
		this.base = base;
		this.pages = new Map();
		this.count = new Map();
		this.connections = 0;
		server.on('connection', () => this.connections++);
	}

	// cert, key: PEM. host: the name in the base URL.
	static start({ cert, key, host = 'localhost', port = 0,
		address = '127.0.0.1' })
	{
		return new Promise((ok, fail) => {
			let docs;
			const server = https.createServer({ cert, key },
			    (req, res) => docs.serve(req, res));

			server.on('error', fail);
			server.listen(port, address, () => {
				docs = new Docs(server,
				    `https://${host}:${server.address().port}`);
				ok(docs);
			});
		});
	}

	// page: an object (sent as JSON), a text, or function (req, res).
	set(path, page)
	{
		this.pages.set(path, page);
	}

	hits(path)
	{
		return this.count.get(path) ?? 0;
	}

	serve(req, res)
	{
		// What comes back from a sign-in has a query.
		const page = this.pages.get(req.url) ??
		    this.pages.get(req.url.split('?')[0]);

		this.count.set(req.url, this.hits(req.url) + 1);
		if (page === undefined) {
			res.writeHead(404);
			res.end('none');
		} else if (typeof page === 'function') {
			page(req, res);
		} else {
			res.writeHead(200, { 'Content-Type': 'application/json',
				...this.headers });
			res.end(typeof page === 'string' ? page :
			    JSON.stringify(page));
		}
	}

	stop()
	{
		this.server.closeAllConnections?.();
		return new Promise((ok) => this.server.close(ok));
	}
}
