// Ids as the platform writes them. A wrong one is refused here, with words that say what it should be.
import { ConfigurationError } from "./errors.ts";

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const agent = new RegExp(`^bc-${uuid}$`, "i");
const run = new RegExp(`^run-${uuid}$`, "i");

export const checkAgentId = (id: string, operation: string): string => check(id, agent, "bc-<uuid>", operation);
export const checkRunId = (id: string, operation: string): string => check(id, run, "run-<uuid>", operation);

export const isCloudAgentId = (id: string): boolean => /^bc-/i.test(id);

/** Part of a path, so nothing that could lead elsewhere. */
const localAgent = /^(?!bc-)[a-z0-9][\w.-]{0,99}$/i;
const localShape = "agent-<uuid>, or at most 100 letters, digits, dots, dashes and underscores";
export const checkLocalAgentId = (id: string, operation: string): string =>
  check(id, localAgent, localShape, operation);

function check(id: string, pattern: RegExp, shape: string, operation: string): string {
  if (pattern.test(id)) return id.toLowerCase();
  throw new ConfigurationError(`${JSON.stringify(id)} is not a valid id: it must look like ${shape}.`, {
    code: "invalid_id",
    operation,
  });
}
