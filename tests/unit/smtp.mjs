// A mail server for the tests: node smtp.mjs MODE KEY CERT, on a free port that
// it prints. MODE: plain (offers nothing), starttls, tls, reject (no recipient
// is good), slow (never says anything). Each message is a line of JSON.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { createSecureContext, createServer as createTls, TLSSocket }
	from 'node:tls';

const [mode, keyFile, certFile] = process.argv.slice(2);
const pair = mode === 'starttls' || mode === 'tls' ?
	{ key: readFileSync(keyFile), cert: readFileSync(certFile) } : {};

function talk(socket, secure, greet)
{
	const mail = { tls: secure };
	let buffer = '', data = false;
	const say = (text) => socket.write(`${text}\r\n`);

	function upgrade()
	{
		say('220 go on');
		socket.removeAllListeners('data');
		talk(new TLSSocket(socket, { isServer: true,
			secureContext: createSecureContext(pair) }), true, false);
	}

	function line(text)
	{
		const [verb] = text.toUpperCase().split(/[ :]/);

		if (data) {
			if (text !== '.') {
				mail.data += `${text.replace(/^\./, '')}\n`;
				return;
			}
			data = false;
			console.log(JSON.stringify(mail));
			say('250 taken');
		} else if (verb === 'EHLO') {
			const more = mode === 'starttls' && !secure ?
				['STARTTLS'] : ['AUTH PLAIN'];
			say(['250-mail.test', ...more.map((m) => `250-${m}`),
				'250 8BITMIME'].join('\r\n'));
		} else if (verb === 'STARTTLS') {
			upgrade();
		} else if (verb === 'AUTH') {
			const word = text.split(' ')[2];

			if (word === undefined) {
				mail.wants = true;
				say('334 ');
			} else {
				mail.auth = Buffer.from(word, 'base64')
				    .toString().replaceAll('\0', '|');
				say('235 known');
			}
		} else if (mail.wants) {
			mail.wants = false;
			mail.auth = Buffer.from(text, 'base64').toString()
			    .replaceAll('\0', '|');
			say('235 known');
		} else if (verb === 'MAIL') {
			mail.from = text.slice(10);
			say('250 good');
		} else if (verb === 'RCPT') {
			mail.to = text.slice(8);
			say(mode === 'reject' ? '550 nobody' : '250 good');
		} else if (verb === 'DATA') {
			data = true;
			mail.data = '';
			say('354 go on');
		} else if (verb === 'QUIT') {
			say('221 bye');
			socket.end();
		} else {
			say('502 what');
		}
	}

	socket.on('error', () => {});
	socket.on('data', (bytes) => {
		buffer += bytes;
		for (let at; (at = buffer.indexOf('\r\n')) >= 0; ) {
			const one = buffer.slice(0, at);

			buffer = buffer.slice(at + 2);
			line(one);
		}
	});
	if (greet)
		say('220 mail.test');
}

const server = mode === 'tls' ?
	createTls(pair, (s) => talk(s, true, true)) :
	createServer((s) => mode === 'slow' ? s.on('error', () => {}) :
	    talk(s, false, true));

server.on('tlsClientError', () => {});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
