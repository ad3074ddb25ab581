// The pages: access, forms and assets.
import type { ProblemCode } from "@agentcli/protocol/api";
import type { Context } from "hono";
import {
  ApiError,
  answerUnserved,
  type Env,
  type ErrorRenderer,
  type ServerContext,
  type Subject,
} from "../foundation/index.ts";
import { PrincipalError, type SessionAuthenticator } from "../identity/index.ts";
import { isPractice, practiceNotice } from "../runs/index.ts";
import { addAccountPages } from "./account-routes.ts";
import { addAgentPages } from "./agent-routes.ts";
import { type AnswerApp, openAppShell } from "./app-shell.ts";
import { addDocumentation } from "./documentation.ts";
import { readFields } from "./form.ts";
import type { PageHost, PageOptions, Pages } from "./host.ts";
import { html } from "./html.ts";
import { addInstallation } from "./installation.ts";
import { answerPage } from "./layout.ts";
import { addLoginPages, askIn } from "./login-routes.ts";
import { addRepositoryPages } from "./repository-routes.ts";
import { type Visitor, visitorOf } from "./session.ts";
import { style } from "./style.css.ts";
import { openWebApp } from "./web-files.ts";

export const openPages = (context: ServerContext, options: PageOptions): Subject => ({
  routes: (api) => addPages({ ...options, platform: context, api }),
});

function addPages(host: PageHost): void {
  const { app } = host.api;
  const { sessionAuthenticator: authenticator } = host.identity;
  const asset = (type: string) => ({
    "content-type": type,
    "cache-control": "max-age=300",
    "x-content-type-options": "nosniff",
  });
  app.get("/assets/style.css", (context) => context.body(style, 200, asset("text/css; charset=utf-8")));
  const notice = isPractice(host.platform.settings) ? `Agents use ${practiceNotice}.` : undefined;
  app.use(async (context, next) => {
    context.set("notice", notice);
    await next();
  });
  app.get("/", (context) => context.redirect("/agents"));
  const pages = pagesOf(host, authenticator);
  addLoginPages(pages, host, authenticator);
  const web = openWebApp();
  const answerApp = openAppShell(host, web);
  app.get("/push-worker.js", (context) => web.worker(context));
  app.get("/assets/web/:name", (context) => web.file(context, context.req.param("name")));
  addAgentPages(pages, host, answerApp);
  addRepositoryPages(pages, host);
  addAccountPages(pages, host);
  addDocumentation(app);
  addInstallation(app);
  addMissingPage(host, authenticator, answerApp);
  host.api.renderErrors(renderForLater);
}

/** Errors that are gone after a while. They are shown to any visitor. */
const laterTitles: Partial<Record<ProblemCode, string>> = {
  rate_limited: "Too many requests",
  unavailable: "Not available right now",
};

const renderForLater: ErrorRenderer = (context, { code, message, status, extra: { retryAfter = 1 } }) => {
  const title = laterTitles[code];
  if (title === undefined || !isForBrowser(context)) return null;
  const body = html`<section class="card narrow"><h1>${title}</h1><p class="problem">${message}</p></section>`;
  const page = answerPage(context, { title, visitor: null, body }, status);
  page.headers.set("retry-after", String(retryAfter));
  return page;
};

/** Unknown paths are answered with HTML for browsers, in the app for visitors, and with JSON for other clients. */
function addMissingPage({ api }: PageHost, authenticator: SessionAuthenticator, answerApp: AnswerApp): void {
  api.app.notFound(async (context) => {
    if (!isForPeople(context)) return answerUnserved(context, api.routes);
    const visitor = await visitorOf(authenticator, context);
    if (visitor) return answerApp(context, { visitor, fallback: missingPage, status: 404 });
    return answerPage(context, { title: "Not found", visitor, body: missingPage }, 404);
  });
}

const isForPeople = (context: Context<Env>): boolean =>
  ["GET", "HEAD"].includes(context.req.method) && isForBrowser(context);

const isForBrowser = ({ req }: Context<Env>): boolean =>
  /\btext\/html\b/i.test(req.header("accept") ?? "") && !/^\/(?:v\d+|git|\.well-known)(?:\/|$)/.test(req.path);

const missingPage = html`<section class="card narrow"><h1>Not found</h1>
<p>There is no page at this address.</p>
<p><a class="action" href="/agents">Go to the agents</a></p></section>`;

function pagesOf({ api, identity: { oidc } }: PageHost, authenticator: SessionAuthenticator): Pages {
  const withVisitor = async (
    context: Context<Env>,
    show: (visitor: Visitor) => Promise<Response>,
  ): Promise<Response> => {
    const visitor = await visitorOf(authenticator, context);
    if (!visitor) return askIn(context, oidc, context.req.method === "GET" ? ownAddress(context) : "");
    api.admission.admit(context, visitor.principal);
    try {
      refuseUnstorable(context);
      return await show(visitor);
    } catch (error) {
      if (error instanceof ApiError && error.code in laterTitles) throw error;
      if (error instanceof ApiError) return answerFailure(context, visitor, error);
      if (!(error instanceof PrincipalError)) throw error;
      return answerFailure(context, visitor, new ApiError("validation_error", error.message));
    }
  };
  return {
    get: (path, show) => void api.app.get(path, (context) => withVisitor(context, (visitor) => show(context, visitor))),
    form: (path, act) =>
      void api.app.post(path, (context) =>
        withVisitor(context, async (visitor) => {
          const fields = await readFields(context, api, visitor.principal);
          if (authenticator.origin(context, visitor, fields.token) !== "own page")
            throw new ApiError("forbidden", "This form has expired. Reload the page.");
          return act(context, visitor, fields);
        }),
      ),
  };
}

/** PostgreSQL rejects NUL in queries. */
function refuseUnstorable({ req }: Context<Env>): void {
  const texts = [...Object.values(req.param()), ...Object.values(req.query())];
  if (texts.some((text) => text?.includes("\0"))) throw new ApiError("not_found", "There is no page at this address.");
}

function ownAddress({ req }: Context<Env>): string {
  const { pathname, search } = new URL(req.url);
  return `${pathname}${search}`;
}

function answerFailure(context: Context<Env>, visitor: Visitor, problem: ApiError): Response {
  const status = problem.status === 404 ? 404 : problem.status === 409 ? 409 : problem.status === 403 ? 403 : 400;
  const { helpUrl } = problem.extra.members ?? {};
  const help = typeof helpUrl === "string" && html`<p><a href="${helpUrl}">Go there</a></p>`;
  const body = html`<section class="card"><h1>That did not work</h1><p class="problem">${problem.message}</p>${help}</section>`;
  return answerPage(context, { title: "Error", visitor, body }, status);
}
