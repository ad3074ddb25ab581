// Git over HTTP as git itself speaks it: fetch and push with a key of the team.
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { Context, Hono } from "hono";
import { startGit } from "../git/index.ts";
import { alreadySent, type Env } from "../http/index.ts";
import type { Log } from "../telemetry/index.ts";
import type { Door } from "./door.ts";
import type { GitHost } from "./host.ts";
import type { HostedRepository } from "./repositories.ts";

export interface SmartHttpOptions {
  host: GitHost;
  door: Door;
  log: Log;
}

type Service = "upload-pack" | "receive-pack";

const serviceLimitMs = 30 * 60_000;

export function serveGit(app: Hono<Env>, { host, door, log }: SmartHttpOptions): void {
  app.get("/git/:repository{[^/]+\\.git}/info/refs", async (context) => {
    const service = readService(context.req.query("service"));
    // The older protocol over plain files is not spoken.
    if (service === undefined) return context.text("This host speaks git's smart protocol only.", 403);
    const repository = await admit(context, door, service);
    return repository instanceof Response ? repository : advertise(context, { repository, service, log });
  });
  for (const service of ["upload-pack", "receive-pack"] as const) {
    app.post(`/git/:repository{[^/]+\\.git}/git-${service}`, async (context) => {
      const repository = await admit(context, door, service);
      if (repository instanceof Response) return repository;
      await exchange(context, { repository, service, log });
      if (service === "receive-pack") await host.notePush(repository);
      return alreadySent();
    });
  }
}

const readService = (text: string | undefined): Service | undefined =>
  text === "git-upload-pack" ? "upload-pack" : text === "git-receive-pack" ? "receive-pack" : undefined;

function admit(context: Context<Env>, door: Door, service: Service): Promise<HostedRepository | Response> {
  context.set("route", `/git/:repository/${service}`);
  const name = context.req.param("repository")?.replace(/\.git$/, "") ?? "";
  return door.forGit(context, { name, scope: service === "upload-pack" ? "repositories:read" : "repositories:write" });
}

interface Serving {
  repository: HostedRepository;
  service: Service;
  log: Log;
}

async function advertise(context: Context<Env>, serving: Serving): Promise<Response> {
  const { incoming, outgoing } = context.env;
  const { service } = serving;
  writeHead(outgoing, `application/x-git-${service}-advertisement`);
  // The newer protocol needs no introduction.
  if (protocolOf(incoming) !== "version=2") outgoing.write(`${packet(`# service=git-${service}\n`)}0000`);
  await serve({ ...serving, args: ["--advertise-refs"] }, { incoming, outgoing, input: null });
  return alreadySent();
}

const packet = (text: string) => `${(text.length + 4).toString(16).padStart(4, "0")}${text}`;

async function exchange(context: Context<Env>, serving: Serving): Promise<void> {
  const { incoming, outgoing } = context.env;
  writeHead(outgoing, `application/x-git-${serving.service}-result`);
  await serve({ ...serving, args: [] }, { incoming, outgoing, input: incoming });
}

function writeHead(outgoing: ServerResponse, contentType: string): void {
  outgoing.writeHead(200, { "content-type": contentType, "cache-control": "no-cache, no-store" });
}

interface Wire {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  input: IncomingMessage | null;
}

/** What goes wrong in here, git tells its other half by itself; what is left is to hang up. */
async function serve({ repository, service, log, args }: Serving & { args: string[] }, wire: Wire): Promise<void> {
  const { incoming, outgoing, input } = wire;
  const { directory } = repository;
  const protocol = protocolOf(incoming);
  const git = startGit({
    place: { directory },
    args: [service, "--stateless-rpc", ...args, directory],
    ...(protocol !== undefined && { variables: { GIT_PROTOCOL: protocol } }),
  });
  outgoing.on("close", () => {
    // Git may still be on its way out when all that it had to say is sent.
    if (!outgoing.writableFinished) git.destroy(new Error("The client has gone."));
  });
  const ended = git.ended({ args: [service], limitMs: serviceLimitMs });
  try {
    if (input === null) git.stdin.end();
    await Promise.all([ended, pipeline(git.stdout, outgoing), ...(input === null ? [] : [feed(input, git.stdin)])]);
  } catch (error) {
    git.destroy(error as Error);
    log.warn("git.exchange_ended", { repository: repository.id, service, reason: (error as Error).message });
    outgoing.destroy();
  }
}

/** Git may have all it needs before the end of what it is sent. */
async function feed(input: IncomingMessage, stdin: NodeJS.WritableStream): Promise<void> {
  const isGzip = /^(?:x-)?gzip$/i.test(input.headers["content-encoding"] ?? "");
  try {
    await (isGzip ? pipeline(input, createGunzip(), stdin) : pipeline(input, stdin));
  } catch (error) {
    if (!/^(?:EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/.test((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}

/** Only what git itself would send: it becomes a variable of a process. */
function protocolOf({ headers }: IncomingMessage): string | undefined {
  const asked = String(headers["git-protocol"] ?? "");
  return /(?:^|:)version=2(?:$|:)/.test(asked) ? "version=2" : /^version=1$/.test(asked) ? "version=1" : undefined;
}
