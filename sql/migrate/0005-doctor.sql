-- Agents of poppyctl doctor: see poppy_api.doctor_publish(), which keeps them
-- few.
SET LOCAL ROLE poppy_owner;

CREATE TABLE poppy.doctor (
	id		text PRIMARY KEY CHECK (id ~ '^[A-Za-z0-9_-]{22}$'),
	client_id	text NOT NULL UNIQUE
			CHECK (octet_length(client_id) <= 2048 AND
			client_id LIKE 'https://_%' AND right(client_id, 41) =
			'/poppy/doctor/' || id || '.json'),
	metadata	text NOT NULL CHECK (octet_length(metadata) <= 8192),
	jwks		text NOT NULL CHECK (octet_length(jwks) <= 8192),
	expires_at	bigint NOT NULL
);
