// Git's smart HTTP protocol: fetch and push with an API key of the team.
import type { IncomingMessage, ServerResponse } from "node:http";
import { PassThrough, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { Context } from "hono";
import { type Api, alreadySent, type Env, type ErrorRenderer, type Log } from "../../foundation/index.ts";
import { principalName } from "../../identity/index.ts";
import { startGit } from "../git/index.ts";
import type { Access, RepositoryAuthenticator } from "./authenticator.ts";
import type { GitHost } from "./host.ts";
import type { HostedRepository } from "./hosted-repository.ts";
import { limitRequest } from "./request-limit.ts";

export interface SmartHttpOptions {
  host: GitHost;
  authenticator: RepositoryAuthenticator;
  log: Log;
}

type Service = "upload-pack" | "receive-pack";

const serviceLimitMs = 30 * 60_000;
/** Of one that git has to keep in memory: a tree, a commit, or the result of a delta. Large files are not. */
const maxPushedObject = "256m";

export function serveGit(
  { app, renderErrors }: Pick<Api, "app" | "renderErrors">,
  { host, authenticator, log }: SmartHttpOptions,
): void {
  renderErrors(renderForGit);
  /** The response has been sent: the next push notes what this one could not. */
  const notePush = (repository: HostedRepository, actor: string) =>
    host.notePush(repository, actor).catch((error: Error) => {
      log.warn("git.push_not_noted", { repository: repository.id, reason: error.message });
    });
  app.get("/git/:repository{[^/]+\\.git}/info/refs", async (context) => {
    const service = readService(context.req.query("service"));
    // The dumb HTTP protocol is not supported.
    if (service === undefined) return context.text("This host speaks git's smart protocol only.", 403);
    const { repository } = await authenticate(context, authenticator, service);
    return advertise(context, { repository, service, log });
  });
  for (const service of ["upload-pack", "receive-pack"] as const) {
    app.post(`/git/:repository{[^/]+\\.git}/git-${service}`, async (context) => {
      const { repository, principal, confirm } = await authenticate(context, authenticator, service);
      const push = service === "receive-pack" ? host.repositories.beginPush(repository) : null;
      const exchanged = exchange(context, { repository, service, log, publish: push?.publish, confirm });
      await exchanged.finally(() => push?.end());
      if (service === "receive-pack") await notePush(repository, principalName(principal));
      return alreadySent();
    });
  }
}

const readService = (text: string | undefined): Service | undefined =>
  text === "git-upload-pack" ? "upload-pack" : text === "git-receive-pack" ? "receive-pack" : undefined;

/** Git shows text, and asks for a password only when challenged for Basic authentication. */
const renderForGit: ErrorRenderer = (context, { message, status, extra }) => {
  if (!/^\/git\/[^/]+\.git\//.test(context.req.path)) return null;
  return context.text(`${message}\n`, status, {
    ...(status === 401 && { "www-authenticate": 'Basic realm="platform", charset="UTF-8"' }),
    ...(extra.retryAfter !== undefined && { "retry-after": String(extra.retryAfter) }),
  });
};

async function authenticate(
  context: Context<Env>,
  authenticator: RepositoryAuthenticator,
  service: Service,
): ReturnType<RepositoryAuthenticator> {
  context.set("route", `/git/:repository/${service}`);
  const name = context.req.param("repository")?.replace(/\.git$/, "") ?? "";
  const scope = service === "upload-pack" ? "repositories:read" : "repositories:write";
  return authenticator(context, { name, scope });
}

interface ServiceContext {
  repository: HostedRepository;
  service: Service;
  log: Log;
  /** Before the client learns that its push was accepted; absent: git's answer is passed on as it is written. */
  publish?: (() => Promise<void>) | undefined;
  /** Of the sender of a body; see Access. */
  confirm?: Access["confirm"];
}

async function advertise(context: Context<Env>, serviceContext: ServiceContext): Promise<Response> {
  const { incoming, outgoing } = context.env;
  const { service } = serviceContext;
  writeHead(outgoing, `application/x-git-${service}-advertisement`);
  // Protocol version 2 has no service announcement.
  if (protocolOf(incoming) !== "version=2") outgoing.write(`${packet(`# service=git-${service}\n`)}0000`);
  await serve({ ...serviceContext, args: ["--advertise-refs"] }, { incoming, outgoing, input: null });
  return alreadySent();
}

const packet = (text: string) => `${(text.length + 4).toString(16).padStart(4, "0")}${text}`;

async function exchange(context: Context<Env>, serviceContext: ServiceContext): Promise<void> {
  const { incoming, outgoing } = context.env;
  writeHead(outgoing, `application/x-git-${serviceContext.service}-result`);
  await serve({ ...serviceContext, args: [] }, { incoming, outgoing, input: incoming });
}

function writeHead(outgoing: ServerResponse, contentType: string): void {
  outgoing.writeHead(200, { "content-type": contentType, "cache-control": "no-cache, no-store" });
}

interface Streams {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  input: IncomingMessage | null;
}

/** Git reports protocol errors to the client itself; on any other failure the connection is closed. */
async function serve(
  { repository, service, log, args, publish, confirm }: ServiceContext & { args: string[] },
  streams: Streams,
): Promise<void> {
  const { incoming, outgoing, input } = streams;
  const { directory } = repository;
  const protocol = protocolOf(incoming);
  const git = startGit({
    location: { directory },
    args: [service, "--stateless-rpc", ...args, directory],
    variables: {
      ...(service === "receive-pack" && { GIT_ALLOC_LIMIT: maxPushedObject }),
      ...(protocol !== undefined && { GIT_PROTOCOL: protocol }),
    },
  });
  outgoing.on("close", () => {
    // Git may still be exiting after the whole response was sent.
    if (!outgoing.writableFinished) git.destroy(new Error("The client has gone."));
  });
  const ended = git.ended({ args: [service], limitMs: serviceLimitMs });
  try {
    if (input === null) git.stdin.end();
    await Promise.all([
      ended,
      publish === undefined
        ? pipeline(git.stdout, outgoing)
        : pipeline(
            git.stdout,
            heldBack(() => ended.then(publish)),
            outgoing,
          ),
      ...(input === null ? [] : [feed(input, git.stdin, { service, confirm })]),
    ]);
  } catch (error) {
    git.destroy(error as Error);
    log.warn("git.exchange_ended", { repository: repository.id, service, reason: (error as Error).message });
    outgoing.destroy();
  }
}

/** Passes everything on once `ready` has settled, and nothing if it fails. What git says about a push is short. */
function heldBack(ready: () => Promise<void>): Transform {
  const pieces: Buffer[] = [];
  return new Transform({
    transform(piece, _encoding, done) {
      pieces.push(piece);
      done();
    },
    flush(done) {
      ready().then(() => done(null, Buffer.concat(pieces)), done);
    },
  });
}

/** Git gets the last piece of a push once its sender is confirmed. */
function heldAtEnd(confirm: Access["confirm"]): Transform {
  let last: Buffer | null = null;
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      const former = last;
      last = piece;
      done(null, former ?? undefined);
    },
    flush(done) {
      confirm().then(() => done(null, last ?? undefined), done);
    },
  });
}

interface FeedOptions {
  service: Service;
  confirm?: Access["confirm"] | undefined;
}

/** Git may close its input before the whole request body was read. */
async function feed(
  input: IncomingMessage,
  stdin: NodeJS.WritableStream,
  { service, confirm }: FeedOptions,
): Promise<void> {
  const isGzip = /^(?:x-)?gzip$/i.test(input.headers["content-encoding"] ?? "");
  const limit = limitRequest(service === "receive-pack" ? "push" : "fetch");
  try {
    const mayWait = service === "receive-pack" && confirm !== undefined && !input.complete;
    const last = mayWait ? heldAtEnd(confirm) : new PassThrough();
    await (isGzip ? pipeline(input, createGunzip(), limit, last, stdin) : pipeline(input, limit, last, stdin));
  } catch (error) {
    if (!/^(?:EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/.test((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}

/** Accepts only values that git itself sends, because the result becomes an environment variable. */
function protocolOf({ headers }: IncomingMessage): string | undefined {
  const requested = String(headers["git-protocol"] ?? "");
  return /(?:^|:)version=2(?:$|:)/.test(requested)
    ? "version=2"
    : /^version=1$/.test(requested)
      ? "version=1"
      : undefined;
}
