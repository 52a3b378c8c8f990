// twin - a second web server before the programs of a stack, at another port,
// and without something that it should have.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { SERVER } from './settings.mjs';
import { until } from './tap.mjs';
import { freePort } from './world.mjs';

// How each server's files change. Of the include's copy in b.poppy, all else of
// the server's own file in b.web.
const changes = {
	lighttpd: {
		nothing: () => {},
		guard: (b) => { b.web = b.web.replaceAll(
		    /^include "(sockets|poppy)\.conf"$/mg, ''); },
		doctor: (b) => { b.poppy = b.poppy.replace(
		    /^.*"\/poppy\/doctor\/".*$/m, ''); },
		path: (b, path) => { b.poppy = b.poppy.replace(
		    new RegExp(`^.*"${path}" =>.*$`, 'm'), ''); },
		policy: (b, how) => { b.web = 'server.modules += ( ' +
		    `"mod_setenv" )\n${b.web.replace(/server\.modules = /,
			'server.modules += ')}\nsetenv.${how}-response-header ` +
		    '= ( "Content-Security-Policy" => "form-action ' +
		    '\'self\'" )\n'; },
		header: (b, name) => { b.web = 'server.modules += ( "mod_setenv" )' +
		    '\n' + b.web.replace(/server\.modules = /,
			'server.modules += ') +
		    `\nsetenv.set-request-header = ( "${name}" => "" )\n`; },
	},
	apache: {
		nothing: () => {},
		// The old way: a rewrite keeps Authorization as a variable, which
		// an internal redirect renames.
		rewrite: (b) => {
			b.poppy = b.poppy.replaceAll(/CGIPassAuth On/g, '');
			b.web = b.web.replace('RewriteEngine On', '$&\n' +
			    'RewriteCond %{ENV:REDIRECT_STATUS} ^$\n' +
			    'RewriteRule ^ - ' +
			    '[E=HTTP_AUTHORIZATION:%{HTTP:Authorization}]');
		},
		guard: (b) => { b.web = b.web.replaceAll(
		    /^\s*Include ".*\/(sockets|poppy)\.conf"$/mg, ''); },
		doctor: (b) => { b.poppy = b.poppy.replace(
		    /^.*"\/poppy\/doctor\/".*$/m, ''); },
		path: (b, path) => { b.poppy = b.poppy.replace(
		    new RegExp(`^ProxyPass "${path}" (.*\\\\\n)*.*$`, 'm'),
		    ''); },
		policy: (b, how) => { b.web = b.web.replace('</VirtualHost>',
		    `Header ${how} Content-Security-Policy ` +
		    '"form-action \'self\'"\n$&'); },
		header: (b, name) => {
			if (name === 'Authorization')
				b.poppy = b.poppy.replaceAll(/CGIPassAuth On/g,
				    '');
			else
				b.web = b.web.replace('</VirtualHost>',
				    `RequestHeader unset ${name} early\n$&`);
		},
	},
};

const COMMAND = { lighttpd: ['lighttpd', '-D', '-f'],
	apache: ['apache2', '-D', 'FOREGROUND', '-f'] };

// Start it; what: of changes above. { port, stop }.
export async function twin(w, what, name)
{
	const port = await freePort(), conf = `${w.dir}/conf`;
	const read = (f) => readFileSync(`${conf}/${f}`, 'utf8');
	const runtime = `${w.dir}/twin-${port}`;
	const b = { web: read(`${SERVER}.conf`).replaceAll(`${w.port}`,
	    `${port}`).replace('apache.id', `twin-${port}.id`)
	    .replace(/^DefaultRuntimeDir .*$/m,
		`DefaultRuntimeDir "${runtime}"`), poppy: read('poppy.conf') };

	changes[SERVER][what](b, name);
	mkdirSync(runtime);
	writeFileSync(`${conf}/poppy-${port}.conf`, b.poppy);
	writeFileSync(`${conf}/twin-${port}.conf`,
	    b.web.replace('poppy.conf"', `poppy-${port}.conf"`));
	const [program, ...args] = COMMAND[SERVER];
	const child = spawn(program, [...args, `${conf}/twin-${port}.conf`],
	    { stdio: 'ignore', env: { ...process.env,
		PATH: `${process.env.PATH}:/usr/sbin:/sbin` } });

	w.children.push(child);
	if (!await until(() => answers(port), 10000))
		throw new Error(`no twin of ${SERVER}`);
	return { port, stop: () => child.kill('SIGTERM') };
}

function answers(port)
{
	return new Promise((ok) => {
		const s = net.connect(port, '127.0.0.1', () => {
			s.destroy();
			ok(true);
		});

		s.on('error', () => ok(false));
	});
}
