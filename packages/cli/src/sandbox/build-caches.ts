// Where the build caches of sandboxed commands are: in the agent home, which commands cannot see otherwise.
import { join } from "node:path";
import type { Environment } from "@agentcli/host";

export const buildCaches = ({ agentHome }: Pick<Environment, "agentHome">): string =>
  join(agentHome, "cache", "builds");
