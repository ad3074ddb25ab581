// Previews: the ports and terminals of a machine while a run uses it, for the owner of the agent alone.
import { AgentPorts, AgentTerminals, TerminalInput, TerminalText } from "@agentcli/protocol/api";
import { z } from "zod";
import {
  type Api,
  ApiError,
  type Principal,
  recordAuditEvent,
  type ServerContext,
  type Subject,
} from "../foundation/index.ts";
import type { MachineInUse, MachinesInUse } from "../runs/index.ts";
import { previewOrigin } from "./address.ts";
import { openPasses, type Passes } from "./passes.ts";
import { openHostHandler, ticketPath } from "./serve.ts";
import { listTerminals, readTerminal, typeInto } from "./terminals.ts";
import type { VisitHost } from "./visits.ts";

export interface PreviewsOptions extends VisitHost {
  machinesInUse: MachinesInUse;
}

interface RouteHost extends PreviewsOptions {
  passes: Passes;
  publicUrl(): string;
  db: ServerContext["db"];
}

export function openPreviews({ publicUrl, db }: ServerContext, options: PreviewsOptions): Subject {
  const host: RouteHost = { ...options, publicUrl, db, passes: openPasses() };
  return {
    routes(api) {
      api.hosts.push(openHostHandler({ ...host, admission: api.admission }));
      addPorts(api, host);
      addTerminals(api, host);
      addTerminal(api, host);
      addInput(api, host);
    },
  };
}

const tag = "Agents";
const ofAgent = z.object({ id: z.string() });
const ofTerminal = z.object({ id: z.string(), name: z.string() });
const common = { tag, sharing: "own" } as const;

/** Undefined: no run of this server uses it. */
async function find(
  host: RouteHost,
  principal: Principal,
  id: string,
): Promise<{ agentId: string; machine: MachineInUse | undefined }> {
  const { id: agentId } = await host.findOwned(principal, id);
  return { agentId, machine: host.machinesInUse.find(agentId) };
}

async function findRunning(host: RouteHost, principal: Principal, id: string): Promise<MachineInUse> {
  const { machine } = await find(host, principal, id);
  if (machine) return machine;
  throw new ApiError(
    "machine_not_running",
    "The agent's machine does not run on this server now. Send the agent a prompt first.",
  );
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
      answer: { status: 200, schema: AgentPorts, description: "The ports" },
    },
    async ({ params, principal }) => {
      const { agentId, machine } = await find(host, principal, params.id);
      const items = (machine?.config.ports ?? []).map(({ name, port }) => {
        const origin = previewOrigin(host.publicUrl(), { agentId, port });
        return {
          name,
          port,
          origin,
          url: `${origin}${ticketPath}?ticket=${host.passes.issueTicket({ agentId, principal })}`,
        };
      });
      return { items };
    },
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
      answer: { status: 200, schema: AgentTerminals, description: "The terminals" },
    },
    async ({ params, principal }) => {
      const { machine } = await find(host, principal, params.id);
      return { items: machine ? await listTerminals(machine) : [] };
    },
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
      answer: { status: 200, schema: TerminalText, description: "Its text" },
      problems: ["machine_not_running"],
    },
    async ({ params, principal }) => ({
      text: await readTerminal(await findRunning(host, principal, params.id), params.name),
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
      body: TerminalInput,
      answer: { status: 204, description: "It was typed" },
      problems: ["machine_not_running"],
    },
    async ({ params, body, principal }) => {
      const machine = await findRunning(host, principal, params.id);
      // Not the text: it may be a password.
      const data = { terminal: params.name, characters: body.text.length };
      await recordAuditEvent(host.db, { action: "terminal.typed", subject: params.id, data });
      await typeInto(machine, params.name, body.text);
      return null;
    },
  );
}
