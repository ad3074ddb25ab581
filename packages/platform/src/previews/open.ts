// Previews: the ports and terminals of a machine while a run uses it, for the owner of the agent alone.
import { z } from "zod";
import {
  type Api,
  ApiError,
  type Call,
  type Forwarding,
  principalName,
  recordAuditEvent,
  type ServerContext,
  type Subject,
  schema,
} from "../foundation/index.ts";
import { findDriver, type MachineInUse, type MachinesInUse } from "../runs/index.ts";
import { previewOrigin } from "./address.ts";
import { openPasses, type Passes } from "./passes.ts";
import { openHostHandler, ticketPath } from "./serve.ts";
import { listTerminals, readTerminal, typeInto, waitForScreen } from "./terminals.ts";
import { openTypedLog, type TypedLog } from "./typed.ts";
import type { VisitHost } from "./visits.ts";

export interface PreviewsOptions extends VisitHost {
  machinesInUse: MachinesInUse;
}

interface RouteHost extends PreviewsOptions {
  passes: Passes;
  typed: TypedLog;
  publicUrl(): string;
  db: ServerContext["db"];
  forwarding: Forwarding;
  /** Null: this server, or none. */
  findOtherDriver(agentId: string): Promise<string | null>;
}

export function openPreviews(context: ServerContext, options: PreviewsOptions): Subject {
  const { publicUrl, db, nodeId, forwarding } = context;
  const findOtherDriver = async (agentId: string) => {
    const driver = await findDriver(db, agentId);
    return driver === nodeId ? null : driver;
  };
  const typed = openTypedLog(({ agentId, terminal }) =>
    // Not the text: it may be a password.
    recordAuditEvent(db, { action: "terminal.typed", subject: agentId, data: { terminal } }),
  );
  const host: RouteHost = { ...options, publicUrl, db, forwarding, findOtherDriver, passes: openPasses(), typed };
  return {
    routes(api) {
      api.hosts.push(openHostHandler({ ...host, admission: api.admission }));
      addPorts(api, host);
      addTerminals(api, host);
      addTerminal(api, host);
      addScreen(api, host);
      addInput(api, host);
    },
  };
}

const tag = "Agents";
const ofAgent = () => z.object({ id: z.string() });
const ofTerminal = () => z.object({ id: z.string(), name: z.string() });
const common = { tag, sharing: "own" } as const;

interface FoundMachine {
  agentId: string;
  /** Undefined: no run uses it. */
  machine: MachineInUse | undefined;
}

/** Answered by the server that drives the run: it alone can reach the machine. */
async function whereItRuns<Answer>(
  host: RouteHost,
  { params, principal, context, rawBody }: Call<{ id: string }, unknown, unknown>,
  answer: (found: FoundMachine) => Promise<Answer>,
): Promise<Answer | Response> {
  const { id: agentId } = await host.findOwned(principal, params.id);
  const machine = host.machinesInUse.find(agentId);
  const isFinal = machine !== undefined || host.forwarding.forwarded(context.env.incoming) !== null;
  const driver = isFinal ? null : await host.findOtherDriver(agentId);
  return driver === null ? answer({ agentId, machine }) : host.forwarding.call(context, rawBody, driver);
}

function running({ machine }: FoundMachine): MachineInUse {
  if (machine) return machine;
  throw new ApiError("machine_not_running", "No run of the agent uses a machine now. Send the agent a prompt first.");
}

function addPorts(api: Api, host: RouteHost): void {
  api.route(
    {
      ...common,
      method: "get",
      path: "/v1/agents/{id}/ports",
      summary: "List the ports of the agent's machine, with an address for its owner each; empty while no run uses it",
      scope: "agents:read",
      params: ofAgent,
      answer: { status: 200, schema: schema("previews", "AgentPorts"), description: "The ports" },
    },
    (call) =>
      whereItRuns(host, call, async ({ agentId, machine }) => {
        const { principal } = call;
        const items = (machine?.config.ports ?? []).map(({ name, port }) => {
          const origin = previewOrigin(host.publicUrl(), { agentId, port });
          const ticket = host.passes.issueTicket({ agentId, principal });
          return { name, port, origin, url: `${origin}${ticketPath}?ticket=${ticket}` };
        });
        return { items };
      }),
  );
}

function addTerminals(api: Api, host: RouteHost): void {
  api.route(
    {
      ...common,
      method: "get",
      path: "/v1/agents/{id}/terminals",
      summary: "List the terminals of the agent's machine; empty while no run uses it",
      scope: "agents:read",
      params: ofAgent,
      answer: { status: 200, schema: schema("previews", "AgentTerminals"), description: "The terminals" },
    },
    (call) => whereItRuns(host, call, async ({ machine }) => ({ items: machine ? await listTerminals(machine) : [] })),
  );
}

function addTerminal(api: Api, host: RouteHost): void {
  api.route(
    {
      ...common,
      method: "get",
      path: "/v1/agents/{id}/terminals/{name}",
      summary: "Read what a terminal shows, with the lines before",
      scope: "agents:read",
      params: ofTerminal,
      answer: { status: 200, schema: schema("previews", "TerminalText"), description: "Its text" },
      problems: ["machine_not_running"],
    },
    (call) =>
      whereItRuns(host, call, async (found) => ({ text: await readTerminal(running(found), call.params.name) })),
  );
}

function addScreen(api: Api, host: RouteHost): void {
  api.route(
    {
      ...common,
      method: "get",
      path: "/v1/agents/{id}/terminals/{name}/screen",
      summary:
        "Read what a terminal shows in colour, with its cursor; after a revision, as soon as it shows something else",
      scope: "agents:read",
      params: ofTerminal,
      query: schema("previews", "TerminalScreenQuery"),
      answer: { status: 200, schema: schema("previews", "TerminalScreen"), description: "What it shows" },
      problems: ["machine_not_running"],
    },
    (call) =>
      whereItRuns(host, call, async (found) => {
        const { params, query, context } = call;
        const gone = new AbortController();
        context.env.outgoing.once("close", () => gone.abort());
        return waitForScreen(running(found), { name: params.name, after: query.after }, gone.signal);
      }),
  );
}

function addInput(api: Api, host: RouteHost): void {
  api.route(
    {
      ...common,
      method: "post",
      path: "/v1/agents/{id}/terminals/{name}/input",
      summary: "Type into a terminal",
      scope: "agents:write",
      params: ofTerminal,
      body: schema("previews", "TerminalInput"),
      answer: { status: 204, description: "It was typed" },
      problems: ["machine_not_running"],
    },
    (call) =>
      whereItRuns(host, call, async (found) => {
        const { params, body, principal } = call;
        const machine = running(found);
        const typist = { agentId: found.agentId, terminal: params.name, actor: principalName(principal) };
        await typeInto(machine, { ...params, ...body }, () => host.typed(machine, typist));
        return null;
      }),
  );
}
