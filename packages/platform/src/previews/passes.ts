// Who may look at a preview: the owner of the agent gets a ticket for one use, and for it a pass that the browser keeps.
// Both are known to the server that drives the run, and worth nothing after it.
import { randomBytes } from "node:crypto";

export interface Passes {
  /** For one use within some minutes. */
  issueTicket(agentId: string): string;
  /** Null for one that was used, has expired, or is for another agent. */
  useTicket(agentId: string, ticket: string): string | null;
  isValid(agentId: string, pass: string | undefined): boolean;
}

const ticketMs = 10 * 60_000;
const passMs = 8 * 3_600_000;
const maxEntries = 10_000;

export function openPasses(now: () => number = Date.now): Passes {
  const tickets = openTable(ticketMs, now);
  const passes = openTable(passMs, now);
  return {
    issueTicket: tickets.add,
    useTicket(agentId, ticket) {
      if (tickets.find(ticket) !== agentId) return null;
      tickets.remove(ticket);
      return passes.add(agentId);
    },
    isValid: (agentId, pass) => pass !== undefined && passes.find(pass) === agentId,
  };
}

/** The oldest entries go first. */
function openTable(lifeMs: number, now: () => number) {
  const entries = new Map<string, { agentId: string; until: number }>();
  return {
    add(agentId: string): string {
      for (const [name, { until }] of entries) if (until <= now() || entries.size >= maxEntries) entries.delete(name);
      const secret = randomBytes(32).toString("base64url");
      entries.set(secret, { agentId, until: now() + lifeMs });
      return secret;
    },
    find(secret: string): string | undefined {
      const entry = entries.get(secret);
      return entry && entry.until > now() ? entry.agentId : undefined;
    },
    remove: (secret: string) => void entries.delete(secret),
  };
}
