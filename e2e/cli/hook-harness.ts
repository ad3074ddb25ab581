// A harness whose repository has hooks: a guard of migrations/ in both dialects.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { call, type Reply } from "@agentcli/testkit";
import { type Harness, type HarnessOptions, openHarness } from "@agentcli/testkit/cli";
import { expect } from "vitest";

const sample = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../examples/sample/${name}`, import.meta.url)), "utf8");

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

/** A harness whose repository has hooks that its user trusts. */
export async function openTrustingHarness(options: HarnessOptions): Promise<Harness> {
  const harness = await openHarness(options);
  const { code, stderr } = await harness.run(["hooks", "trust", "--all"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return harness;
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

export const expectUnchanged = (harness: Harness): void => {
  expect(existsSync(join(harness.repository, "migrations/002.sql"))).toBe(false);
  expect(readFileSync(join(harness.repository, "migrations/001.sql"), "utf8")).toBe(migration["migrations/001.sql"]);
};
