-- What each host told of its settings: see poppy_api.host_tell().
SET LOCAL ROLE poppy_owner;

CREATE TABLE poppy.host_settings (
	host		text PRIMARY KEY
			CHECK (octet_length(host) BETWEEN 1 AND 255),
	settings	bytea NOT NULL CHECK (octet_length(settings) = 32),
	master		bytea CHECK (octet_length(master) = 8),
	told_at		bigint NOT NULL
);
