// The document of the web app for a visitor, with what a browser without JavaScript shows instead.
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Env } from "../foundation/index.ts";
import type { PageHost } from "./host.ts";
import { type Html, html } from "./html.ts";
import { navigation } from "./layout.ts";
import { isAdmin, teamNameOf, type Visitor } from "./session.ts";
import type { AppSession, WebApp } from "./web-files.ts";

export interface AppAnswer {
  visitor: Visitor;
  fallback?: Html;
  status?: ContentfulStatusCode;
}

export type AnswerApp = (context: Context<Env>, answer: AppAnswer) => Promise<Response>;

export const openAppShell =
  (host: PageHost, app: WebApp): AnswerApp =>
  async (context, { visitor, fallback = needsScript, status = 200 }) => {
    const session = await sessionOf(host, context, visitor);
    return app.document(context, { session, fallback: html`${navigation(visitor)}${fallback}` }, status);
  };

const needsScript = html`<p>This page needs JavaScript. Enable it, or use the <a href="/docs/api">API</a>.</p>`;

async function sessionOf({ platform: { db } }: PageHost, context: Context<Env>, visitor: Visitor): Promise<AppSession> {
  const { principal, formToken } = visitor;
  const notice = context.get("notice") ?? null;
  const { userId, email } = principal;
  return { userId, email, team: await teamNameOf(db, visitor), isAdmin: isAdmin(visitor), formToken, notice };
}
