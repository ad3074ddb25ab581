// Users, teams, keys and sessions: who a request comes from, and what was done by whom.
import type { Authenticate, ServerContext, Subject } from "../foundation/index.ts";
import { addAuditRoute, keepAnchor } from "./audit/index.ts";
import { openAuthentication } from "./authenticate.ts";
import { invitationRetention } from "./invitations/index.ts";
import { type OidcLogin, openOidc } from "./oidc/index.ts";
import { openPrincipals, type Principals } from "./principals/index.ts";
import {
  addInvitationRoutes,
  addKeyRoutes,
  addMemberRoutes,
  addServiceAccountRoutes,
  addSessionRoutes,
} from "./routes/index.ts";
import {
  openSessionAuthenticator,
  openSessions,
  type SessionAuthenticator,
  type Sessions,
  sessionRetention,
} from "./sessions/index.ts";

export interface Identity extends Subject {
  principals: Principals;
  sessions: Sessions;
  sessionAuthenticator: SessionAuthenticator;
  authenticate: Authenticate;
  /** The provider that users log in with; null without one. */
  oidc: OidcLogin | null;
}

export function openIdentity(context: ServerContext): Identity {
  const { db, vault, settings, network, publicUrl, now } = context;
  const principals = openPrincipals({ db, vault, now });
  const sessions = openSessions(db, now);
  const sessionAuthenticator = openSessionAuthenticator(sessions, settings);
  return {
    principals,
    sessions,
    sessionAuthenticator,
    authenticate: openAuthentication({ principals, sessionAuthenticator }),
    oidc: settings.oidc && openOidc({ platform: context, settings: settings.oidc, policy: network, publicUrl }),
    retention: [
      ...sessionRetention(db, settings.retention.sessionDays),
      invitationRetention(db, settings.retention.sessionDays),
    ],
    routes(api) {
      const host = { db, sessions, principals, provider: settings.oidc?.name ?? null, publicUrl };
      addAuditRoute(api, db);
      addMemberRoutes(api, host);
      addInvitationRoutes(api, host);
      addKeyRoutes(api, host);
      addServiceAccountRoutes(api, host);
      addSessionRoutes(api, host);
    },
    activities: [{ role: "every server", start: () => keepAnchor(context) }],
  };
}
