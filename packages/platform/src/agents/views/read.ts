// Agents as the API shows them, decrypted.
import type { AgentListItem } from "@agentcli/protocol/api";
import { decodeCursor, encodeCursor, type PlatformContext } from "../../foundation/index.ts";
import type { Principal } from "../../identity/index.ts";
import type { AgentAccess } from "../access.ts";
import type { AgentFilter } from "../store.ts";
import { listItemOf } from "./views.ts";

interface ReadContext {
  platform: PlatformContext;
  access: AgentAccess;
  publicUrl(): string;
}

export interface AgentPage {
  items: AgentListItem[];
  nextCursor?: string;
}

export async function readAgentPage(
  { platform: { vault }, access, publicUrl }: ReadContext,
  principal: Principal,
  cursor: string | undefined,
  filter: Omit<AgentFilter, "after">,
): Promise<AgentPage> {
  const { agents, next } = await access.list(principal, { ...filter, after: decodeCursor(cursor) });
  const items = await Promise.all(
    agents.map(async (row) => listItemOf(row, await vault.unwrap(row.data_key), publicUrl())),
  );
  return { items, ...(next && { nextCursor: encodeCursor(next) }) };
}
