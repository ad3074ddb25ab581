// Who may look at a preview: the owner of the agent gets a ticket for one use, and for it a pass that the browser keeps.
// Both are known to the server that drives the run, and worth nothing after it.
import { randomBytes } from "node:crypto";
import type { Principal } from "../foundation/index.ts";

/** For whom it was issued. */
export interface PassHolder {
  agentId: string;
  principal: Principal;
}

export interface Passes {
  /** For one use within some minutes. */
  issueTicket(holder: PassHolder): string;
  /** Null for one that was used, has expired, or is for another agent. */
  useTicket(agentId: string, ticket: string): { pass: string; holder: PassHolder } | null;
  /** Null for one that has expired, or is for another agent. */
  find(agentId: string, pass: string | undefined): PassHolder | null;
}

const ticketMs = 10 * 60_000;
const passMs = 8 * 3_600_000;
const maxEntries = 10_000;
/** So that those of one agent do not displace those of all others. */
const maxPerAgent = 500;

export function openPasses(now: () => number = Date.now): Passes {
  const tickets = openTable(ticketMs, now);
  const passes = openTable(passMs, now);
  return {
    issueTicket: tickets.add,
    useTicket(agentId, ticket) {
      const holder = tickets.find(ticket);
      if (holder?.agentId !== agentId) return null;
      tickets.remove(ticket);
      return { pass: passes.add(holder), holder };
    },
    find(agentId, pass) {
      const holder = pass === undefined ? undefined : passes.find(pass);
      return holder?.agentId === agentId ? holder : null;
    },
  };
}

/** The oldest entries go first. */
function openTable(lifeMs: number, now: () => number) {
  const entries = new Map<string, PassHolder & { until: number }>();
  const makeRoom = (agentId: string): void => {
    const own = [...entries].filter(([, entry]) => entry.agentId === agentId);
    for (const [name] of own.slice(0, Math.max(0, own.length - maxPerAgent + 1))) entries.delete(name);
    for (const [name, { until }] of entries) if (until <= now() || entries.size >= maxEntries) entries.delete(name);
  };
  return {
    add(holder: PassHolder): string {
      makeRoom(holder.agentId);
      const secret = randomBytes(32).toString("base64url");
      entries.set(secret, { ...holder, until: now() + lifeMs });
      return secret;
    },
    find(secret: string): PassHolder | undefined {
      const entry = entries.get(secret);
      return entry && entry.until > now() ? entry : undefined;
    },
    remove: (secret: string) => void entries.delete(secret),
  };
}
