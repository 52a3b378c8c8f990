/*
 * auth - poppy-auth: discovery documents and the OAuth endpoints.
 */
#ifndef AUTH_H
#define AUTH_H

#include "core/poppy/app.h"
#include "core/poppy/pages.h"
#include "core/web/route.h"

/* Made once from the settings: pf_app(rq)->own. */
struct auth {
	const struct pf_pages *pages;	/* what customers see */
	struct pf_mount mounts[8];
	size_t nmounts;
	struct pf_strs documents;	/* poppy.json of each of set.domains */
	struct pf_str metadata;		/* RFC 8414; PF_NOSTR without issuer */
	struct pf_strs resources;	/* RFC 9728 of each of set.apis;
					 * PF_NOSTR if it is no MCP server */
	struct pf_str cache_control;	/* of the documents */
};

static inline const struct auth *
auth_of(const struct pf_req *rq)
{
	return pf_app(rq)->own;
}

extern const struct pf_routes auth_root_routes;		/* under "" */
extern const struct pf_routes auth_issuer_routes;	/* under the issuer */
extern const struct pf_routes auth_oauth_routes;	/* under mounts.oauth */
extern const struct pf_routes auth_pages_routes;	/* under mounts.pages */
extern const struct pf_routes auth_mediated_routes;	/* there, if offered */
extern const struct pf_routes auth_doctor_routes;	/* /poppy/doctor */

/* documents.c: write them; PF_E_MEM. */
PF_MUST enum pf_rc auth_write_documents(struct pf_app *app, struct auth *auth);

/* discovery.c */
enum pf_rc auth_poppy_json(struct pf_req *rq);
enum pf_rc auth_metadata(struct pf_req *rq);
enum pf_rc auth_resource(struct pf_req *rq);

/* cors.c: what a browser must know of any reply, an error's too. */
void auth_cors(struct pf_req *rq);

/* doctor.c */
enum pf_rc auth_doctor(struct pf_req *rq);

/* authorize.c, consent.c: Direct Sign-In */
enum pf_rc auth_authorize(struct pf_req *rq);
enum pf_rc auth_consent(struct pf_req *rq);
enum pf_rc auth_consent_answer(struct pf_req *rq);

/* login.c, ticket.c */
enum pf_rc auth_login(struct pf_req *rq);
enum pf_rc auth_login_sent(struct pf_req *rq);
enum pf_rc auth_ticket(struct pf_req *rq);
enum pf_rc auth_logout(struct pf_req *rq);

/* device_page.c */
enum pf_rc auth_device_page(struct pf_req *rq);
enum pf_rc auth_device_answer(struct pf_req *rq);

/* agents_page.c */
enum pf_rc auth_agents(struct pf_req *rq);
enum pf_rc auth_agents_sent(struct pf_req *rq);

/* mediated.c: Mediated Sign-In */
enum pf_rc auth_mediated(struct pf_req *rq);
enum pf_rc auth_mediated_code(struct pf_req *rq);
/* If it is on and its codes can't be sent. */
void auth_mediated_warn(const struct pf_settings *s);

/* pages.c: the style sheet */
enum pf_rc auth_style(struct pf_req *rq);

/* token.c, device.c, revoke.c */
enum pf_rc auth_token(struct pf_req *rq);
enum pf_rc auth_device(struct pf_req *rq);
enum pf_rc auth_revoke(struct pf_req *rq);

#endif
