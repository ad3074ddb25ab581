// Memories of automations over HTTP, for people: list, read, write, delete, history.
import { z } from "zod";
import { type Api, ApiError, principalName, schema, teamKey } from "../../foundation/index.ts";
import type { AutomationHost } from "../host.ts";
import { type Memories, type MemoryEntry, openMemories } from "../memories/store.ts";
import type { AutomationRow } from "../store.ts";
import { one, tag } from "./automations.ts";

const path = "/v1/automations/{automationId}/memories";
const named = () => one().extend({ name: z.string().min(1).max(200) });

export function addMemoryRoutes(api: Api, host: AutomationHost): void {
  addList(api, host);
  addRead(api, host);
  addWrite(api, host);
  addRemove(api, host);
  addHistory(api, host);
}

export async function memoriesOf({ platform: { db, vault } }: AutomationHost, row: AutomationRow): Promise<Memories> {
  return openMemories({ db, key: await teamKey(db, vault, row.team_id), automationId: row.id });
}

const entryOf = ({ name, version, bytes, author, updatedAt }: MemoryEntry) => ({
  ...{ name, version, bytes, author, updatedAt: updatedAt.toISOString() },
});

const missing = (name: string) =>
  new ApiError("memory_not_found", `There is no memory ${JSON.stringify(name.slice(0, 100))}.`);

function addList(api: Api, host: AutomationHost): void {
  api.route(
    {
      method: "get",
      path,
      tag,
      scope: "agents:read",
      params: one,
      summary: "List the memories of an automation, by name",
      answer: {
        status: 200,
        schema: schema("automations", "AutomationMemoryList"),
        description: "Without their texts",
      },
      problems: ["automation_not_found"],
    },
    async ({ params, principal }) => {
      const memories = await memoriesOf(host, await host.access.find(principal, params.automationId, "read"));
      return { items: (await memories.list()).map(entryOf) };
    },
  );
}

function addRead(api: Api, host: AutomationHost): void {
  api.route(
    {
      method: "get",
      path: `${path}/{name}`,
      tag,
      scope: "agents:read",
      params: named,
      summary: "Read a memory of an automation",
      answer: { status: 200, schema: schema("automations", "AutomationMemory"), description: "The memory" },
      problems: ["automation_not_found", "memory_not_found"],
    },
    async ({ params, principal }) => {
      const memories = await memoriesOf(host, await host.access.find(principal, params.automationId, "read"));
      const memory = await memories.read(params.name);
      if (memory === null) throw missing(params.name);
      return { ...entryOf(memory), text: memory.text };
    },
  );
}

function addWrite(api: Api, host: AutomationHost): void {
  api.route(
    {
      method: "put",
      path: `${path}/{name}`,
      tag,
      scope: "agents:write",
      params: named,
      body: schema("automations", "WriteMemory"),
      summary: "Write a memory of an automation; the former version stays in its history",
      answer: { status: 200, schema: schema("automations", "AutomationMemory"), description: "The memory" },
      problems: ["automation_not_found", "team_admin_required"],
    },
    async ({ params, principal, body: { text } }) => {
      const memories = await memoriesOf(host, await host.access.find(principal, params.automationId, "manage"));
      return { ...entryOf(await memories.write(params.name, { text, author: principalName(principal) })), text };
    },
  );
}

function addRemove(api: Api, host: AutomationHost): void {
  api.route(
    {
      method: "delete",
      path: `${path}/{name}`,
      tag,
      scope: "agents:write",
      params: named,
      summary: "Delete a memory of an automation; its history stays",
      answer: { status: 200, schema: schema("common", "Acknowledged"), description: "Its name" },
      problems: ["automation_not_found", "memory_not_found", "team_admin_required"],
    },
    async ({ params: { automationId, name }, principal }) => {
      const memories = await memoriesOf(host, await host.access.find(principal, automationId, "manage"));
      if (!(await memories.remove(name, principalName(principal)))) throw missing(name);
      return { id: name };
    },
  );
}

function addHistory(api: Api, host: AutomationHost): void {
  api.route(
    {
      method: "get",
      path: `${path}/{name}/history`,
      tag,
      scope: "agents:read",
      params: named,
      summary: "List the versions of a memory, latest first",
      answer: {
        status: 200,
        schema: schema("automations", "AutomationMemoryHistory"),
        description: "A version without a text is a removal",
      },
      problems: ["automation_not_found"],
    },
    async ({ params, principal }) => {
      const memories = await memoriesOf(host, await host.access.find(principal, params.automationId, "read"));
      const items = await memories.history(params.name);
      return { items: items.map((item) => ({ ...entryOf(item), ...(item.text !== null && { text: item.text }) })) };
    },
  );
}
