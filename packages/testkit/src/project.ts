// The repository these tests belong to, and the programs built from it.
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const projectRoot = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
export const cliProgram = join(projectRoot, "packages/cli/bin/agentcli.cjs");
export const platformProgram = join(projectRoot, "packages/platform/bin/platform.mjs");
export const workerProgram = join(projectRoot, "packages/worker/bin/agent.cjs");
