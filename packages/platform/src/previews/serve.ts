// Serves previews: the host name says which port of which agent, a pass or a key says whether it may be seen.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type Admission, ApiError, type HostHandler, type Principal } from "../foundation/index.ts";
import type { Principals } from "../identity/index.ts";
import type { LiveMachine, LiveMachines } from "../runs/index.ts";
import { type PreviewTarget, previewOrigin, readPreviewHost } from "./address.ts";
import { type ForwardTarget, forwardRequest, forwardSocket, passCookie, readPass } from "./forward.ts";
import type { Passes } from "./passes.ts";

export interface PreviewHost {
  admission: Pick<Admission, "admitOutside">;
  live: LiveMachines;
  passes: Passes;
  principals: Principals;
  /** Throws ApiError unless the principal owns the agent. */
  findOwned(principal: Principal, agentId: string): Promise<{ id: string }>;
  publicUrl(): string;
}

/** A ticket in the address becomes a cookie of the preview's own host name. */
export const ticketPath = "/.platform-preview";

export const openHostHandler = (host: PreviewHost): HostHandler => ({
  matches: (name) => readPreviewHost(name) !== null,
  request(request, response) {
    serve(host, request, response).catch((error: unknown) => answer(response, error));
  },
  upgrade(request, stream, head) {
    authorize(host, request).then(
      (target) => forwardSocket(request, stream, { ...target, head }),
      (error: unknown) => refuse(stream, error),
    );
  },
});

async function serve(host: PreviewHost, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const target = targetOf(request);
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://preview");
  if (pathname !== ticketPath) return forwardRequest(request, response, await authorize(host, request));
  const secret = searchParams.get("ticket") ?? "";
  const pass = await host.admission.admitOutside({ request, secret }, async () => enter(host, target, secret));
  const secure = host.publicUrl().startsWith("https:") ? "; Secure" : "";
  response.writeHead(303, {
    location: "/",
    "set-cookie": `${passCookie}=${pass}; Path=/; HttpOnly; SameSite=Lax${secure}`,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
  });
  response.end();
}

function enter({ passes }: PreviewHost, { agentId }: PreviewTarget, ticket: string): string {
  const pass = passes.useTicket(agentId, ticket);
  if (pass === null) throw new ApiError("unauthorized", expired);
  return pass;
}

const expired = "This link was used already, or has expired. Open the preview from the page of the agent again.";

/** Throws ApiError. The key is checked first: a caller who may not see the agent does not learn whether it runs. */
async function authorize(host: PreviewHost, request: IncomingMessage): Promise<ForwardTarget> {
  const target = targetOf(request);
  // A page asks for many things at once: requests with a pass are not counted.
  const hasPass = host.passes.isValid(target.agentId, readPass(request.headers));
  const secret = request.headers.authorization ?? request.headers.cookie;
  if (!hasPass) await host.admission.admitOutside({ request, secret }, () => checkKey(host, request, target));
  const origin = previewOrigin(host.publicUrl(), target);
  return { ...target, ...findLive(host, target), origin, hasPlatformKey: !hasPass };
}

function targetOf({ headers }: IncomingMessage): PreviewTarget {
  const target = readPreviewHost(headers.host);
  if (target === null || target.port < 1 || target.port > 65_535)
    throw new ApiError("not_found", "There is no such preview.");
  return target;
}

async function checkKey(host: PreviewHost, { headers }: IncomingMessage, { agentId }: PreviewTarget): Promise<void> {
  const authentication = await host.principals.authenticate(headers.authorization);
  if (authentication.kind === "refused")
    throw new ApiError("unauthorized", "Previews are for the owner of the agent. Open it from the page of the agent.");
  await host.findOwned(authentication.principal, agentId);
}

function findLive({ live }: PreviewHost, { agentId, port }: PreviewTarget): LiveMachine {
  const machine = live.find(agentId);
  if (machine === undefined)
    throw new ApiError(
      "machine_not_running",
      "The agent's machine does not run on this server now. Send the agent a prompt first.",
    );
  if (!machine.config.ports?.some((each) => each.port === port))
    throw new ApiError(
      "not_found",
      `Port ${port} is not one of "ports" in the environment of the agent. Add it there.`,
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
  stream.end(
    `HTTP/1.1 ${status} Refused\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ${length}\r\nconnection: close\r\n\r\n${text}`,
  );
}

function explain(error: unknown): { status: number; text: string } {
  const problem = error instanceof ApiError ? error : new ApiError("internal", "Internal error. Try again.");
  return { status: problem.status, text: `${problem.message}\n` };
}
