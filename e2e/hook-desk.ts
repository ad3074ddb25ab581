// A desk whose repository has hooks, and a guard of migrations/ in both dialects.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { call, type Reply } from "@agentcli/testkit";
import { expect } from "vitest";
import { type Desk, type DeskOptions, desk } from "./harness.ts";

const sample = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../examples/sample/${name}`, import.meta.url)), "utf8");

const migration = { "migrations/001.sql": "create table items;\n" };

export const guard = {
  ".agentcli/hooks.json": sample(".agentcli/hooks.json"),
  ".agentcli/hooks/protect-migrations.mjs": sample(".agentcli/hooks/protect-migrations.mjs"),
  ...migration,
};
export const refusal = "files in migrations/ are never changed once they exist; leave them as they are";

const platformScript = `const { hook_event_name: event, command, tool_input: input } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const text = { beforeShellExecution: command, beforeMCPExecution: input }[event] ?? input.file_path;
const deny = /migrations/.test(text) && !/^cat /.test(text);
console.log("looking at", text);
console.log(JSON.stringify(deny ? { permission: "deny", agent_message: ${JSON.stringify(refusal)} } : { permission: "allow" }));
`;
const asked = { command: "node .platform/guard.cjs", timeout: 10, failClosed: true };

export const platformGuard = {
  ".platform/hooks.json": JSON.stringify({
    version: 1,
    hooks: {
      beforeShellExecution: [{ ...asked, matcher: "migrations" }],
      beforeMCPExecution: [{ ...asked, matcher: "MCP:(write|edit|move)" }],
      preToolUse: [{ ...asked, matcher: "^(Write|Delete)$" }],
    },
  }),
  ".platform/guard.cjs": platformScript,
  ...migration,
};

export const run = (cmd: string): Reply => call("exec_command", { cmd });
export const patch = "*** Begin Patch\n*** Add File: migrations/002.sql\n+drop table items;\n*** End Patch\n";

/** A desk whose repository has hooks that its user trusts. */
export async function trustingDesk(options: DeskOptions): Promise<Desk> {
  const at = await desk(options);
  const { code, stderr } = await at.run(["hooks", "trust", "--all"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return at;
}

export function write(directory: string, name: string, text: string): void {
  mkdirSync(dirname(join(directory, name)), { recursive: true });
  writeFileSync(join(directory, name), text);
}

export const agentcliHooks = (hooks: Record<string, object[]>): string =>
  JSON.stringify({
    hooks: Object.fromEntries(
      Object.entries(hooks).map(([event, list]) => [
        event,
        [{ hooks: list.map((hook) => ({ type: "command", ...hook })) }],
      ]),
    ),
  });

export const unchanged = (at: Desk): void => {
  expect(existsSync(join(at.repository, "migrations/002.sql"))).toBe(false);
  expect(readFileSync(join(at.repository, "migrations/001.sql"), "utf8")).toBe(migration["migrations/001.sql"]);
};
