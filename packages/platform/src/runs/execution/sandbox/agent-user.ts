// The user that the commands of an agent run as: one for each agent, in a range that no distribution assigns.
import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

export const firstAgentUser = 1_900_000_000;
const userCount = 2 ** 27;

/** The owner of the agent's directory once it has one; otherwise a user that owns no other agent's directory. */
export function agentUser(agentDirectory: string): number {
  const owner = statSync(agentDirectory).uid;
  return isAgentUser(owner) ? owner : freeUser(agentDirectory);
}

const isAgentUser = (id: number) => id >= firstAgentUser && id < firstAgentUser + userCount;

function freeUser(agentDirectory: string): number {
  const parent = dirname(agentDirectory);
  const taken = new Set(
    readdirSync(parent).map((name) => statSync(join(parent, name), { throwIfNoEntry: false })?.uid),
  );
  // Two servers that choose at the same moment choose differently.
  let offset = createHash("sha256").update(basename(agentDirectory)).digest().readUInt32BE() % userCount;
  while (taken.has(firstAgentUser + offset)) offset = (offset + 1) % userCount;
  return firstAgentUser + offset;
}
