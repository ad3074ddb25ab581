// Serves previews: the host name says which port of which agent, a pass or a key says whether it may be seen.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type Admission, ApiError, endAnswered, type Forwarding, type HostHandler } from "../foundation/index.ts";
import { principalName } from "../identity/index.ts";
import type { MachineInUse, MachinesInUse } from "../runs/index.ts";
import { type PreviewTarget, previewOrigin, readPreviewHost } from "./address.ts";
import { type ForwardTarget, forwardRequest, forwardSocket } from "./forward.ts";
import { passCookieAt, readPass } from "./headers.ts";
import type { Passes } from "./passes.ts";
import { openVisits, type Visit, type VisitHost } from "./visits.ts";

export interface PreviewHost extends VisitHost {
  admission: Pick<Admission, "admitOutside">;
  machinesInUse: MachinesInUse;
  passes: Passes;
  publicUrl(): string;
  forwarding: Forwarding;
  /** Null: this server, or none. */
  findOtherDriver(agentId: string): Promise<string | null>;
}

/** A ticket in the address becomes a cookie of the preview's own host name. */
export const ticketPath = "/.platform-preview";

export function openHostHandler(options: PreviewHost): HostHandler {
  const host = { ...options, visits: openVisits(options) };
  return {
    matches: (name) => readPreviewHost(name) !== null,
    request(request, response) {
      serve(host, request, response).catch((error: unknown) => answer(response, error));
    },
    upgrade(request, stream, head) {
      serveSocket(host, request, { stream, head }).catch((error: unknown) => refuse(stream, error));
    },
  };
}

type ServingHost = PreviewHost & { visits: ReturnType<typeof openVisits> };

async function serveSocket(
  host: ServingHost,
  request: IncomingMessage,
  { stream, head }: { stream: Duplex; head: Buffer },
): Promise<void> {
  const driver = await findDriverOf(host, request, stream);
  if (driver !== null) return host.forwarding.socket({ request, stream, head, of: "preview" }, driver);
  forwardSocket(request, stream, { ...(await authorize(host, request, stream)), head });
}

/**
 * Null: this server answers. Another one checks the visitor itself: passes are known to the server that drives the run.
 * Counted here too, by address and by agent.
 */
async function findDriverOf(
  { machinesInUse, admission, forwarding, findOtherDriver }: ServingHost,
  request: IncomingMessage,
  until: ServerResponse | Duplex,
): Promise<string | null> {
  const { agentId } = targetOf(request);
  if (machinesInUse.find(agentId) !== undefined || forwarding.forwarded(request) !== null) return null;
  const { driver } = await admission.admitOutside({ request, until, secret: undefined }, async () => ({
    sender: `preview:${agentId}`,
    driver: await findOtherDriver(agentId),
  }));
  return driver;
}

async function serve(host: ServingHost, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const driver = await findDriverOf(host, request, response);
  if (driver !== null) return host.forwarding.request({ request, response }, driver);
  const { pathname, searchParams } = addressOf(request);
  if (pathname !== ticketPath) return forwardRequest(request, response, await authorize(host, request, response));
  const target = targetOf(request);
  const secret = searchParams.get("ticket") ?? "";
  const { pass } = await host.admission.admitOutside({ request, until: response, secret }, async () => {
    checkPort(target);
    return enter(host, target, secret);
  });
  const publicUrl = host.publicUrl();
  const secure = publicUrl.startsWith("https:") ? "; Secure" : "";
  response.writeHead(303, {
    location: "/",
    "set-cookie": `${passCookieAt(publicUrl)}=${pass}; Path=/; HttpOnly; SameSite=Lax${secure}`,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
  });
  response.end();
}

function enter({ passes }: PreviewHost, { agentId }: PreviewTarget, ticket: string): { pass: string; sender: string } {
  const entered = passes.useTicket(agentId, ticket);
  if (entered === null) throw new ApiError("unauthorized", expired);
  return { pass: entered.pass, sender: principalName(entered.holder.principal) };
}

const expired = "This link was used already, or has expired. Open the preview from the page of the agent again.";

/** Throws ApiError. Access is checked first: a caller who may not see the agent does not learn whether it runs. */
async function authorize(
  host: ServingHost,
  request: IncomingMessage,
  until: ServerResponse | Duplex,
): Promise<ForwardTarget> {
  const target = targetOf(request);
  const { headers } = request;
  const holder = host.passes.find(target.agentId, readPass(headers, passCookieAt(host.publicUrl())));
  const visit: Visit = holder ? host.visits.withPass(holder) : host.visits.withKey(headers.authorization, target);
  const secret = holder ? undefined : (headers.authorization ?? headers.cookie);
  await host.admission.admitOutside({ request, until, secret }, async () => {
    checkPort(target);
    return { sender: principalName(await visit.check()) };
  });
  const machine = findMachine(host, target);
  const ended = AbortSignal.any([machine.ended, host.visits.whenLost(visit, until)]);
  return { port: target.port, dial: machine.dial, ended, origin: previewOrigin(host.publicUrl(), target) };
}

/** Whatever cannot be read is for the machine to answer. */
function addressOf({ url = "/" }: IncomingMessage): URL {
  const base = "http://preview";
  return new URL(URL.canParse(url, base) ? url : "/", base);
}

/** Of a request whose host name matches. */
function targetOf({ headers }: IncomingMessage): PreviewTarget {
  const target = readPreviewHost(headers.host);
  if (target === null) throw new ApiError("not_found", "There is no such preview.");
  return target;
}

/** Once the request is counted. */
function checkPort({ port }: PreviewTarget): void {
  if (port < 1 || port > 65_535) throw new ApiError("not_found", "There is no such preview.");
}

function findMachine({ machinesInUse }: PreviewHost, { agentId, port }: PreviewTarget): MachineInUse {
  const machine = machinesInUse.find(agentId);
  if (machine === undefined)
    throw new ApiError("machine_not_running", "No run of the agent uses a machine now. Send the agent a prompt first.");
  if (!machine.config.ports?.some((each) => each.port === port))
    throw new ApiError(
      "not_found",
      `Port ${port} is not listed under "ports" in the environment of the agent. Add it there and send a prompt.`,
    );
  return machine;
}

function answer(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy();
  const { status, text } = explain(error);
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" });
  response.end(text);
}

/** Of a WebSocket, which is not one yet. */
function refuse(stream: Duplex, error: unknown): void {
  const { status, text } = explain(error);
  const length = Buffer.byteLength(text);
  stream.write(
    `HTTP/1.1 ${status} Refused\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ${length}\r\nconnection: close\r\n\r\n${text}`,
  );
  endAnswered(stream);
}

function explain(error: unknown): { status: number; text: string } {
  const problem = error instanceof ApiError ? error : new ApiError("internal", "Internal error. Try again.");
  return { status: problem.status, text: `${problem.message}\n` };
}
