// `agentcli import` takes over only what the user alone can have written: settings name programs that run outside the sandbox.
import { chmodSync, chownSync, existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { replyWith, temporaryDirectory } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type OrdinaryUser, ordinaryUser } from "./ordinary-user.ts";

const isRoot = process.geteuid?.() === 0;
const anotherUser = 65533;
const at = "2099-11-01T08:00:00.000Z";
const sessionId = "019a5b3c-1d2e-7f00-8a9b-0123456789ab";

let user: OrdinaryUser;
beforeAll(() => {
  user = ordinaryUser();
});
afterAll(() => user.remove());

const message = (role: string, text: string) => ({
  type: "response_item",
  payload: { type: "message", role, content: [{ type: "input_text", text }] },
});

const session = (cwd: string): string =>
  [
    { type: "session_meta", payload: { id: sessionId, timestamp: at, cwd } },
    message("user", "planted prompt"),
    message("assistant", "planted answer"),
  ]
    .map((line) => JSON.stringify({ timestamp: at, ...line }))
    .join("\n");

async function openHome(as: "this user" | "an ordinary user") {
  const harness = await openHarness({ replies: [replyWith("Done.")] });
  const { repository, home } = harness;
  const { path: userHome, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const files = {
    ".codex/config.toml": '[mcp_servers.planted]\ncommand = "touch"\nargs = ["ran"]\n',
    [`.codex/sessions/rollout-${sessionId}.jsonl`]: session(repository),
    ".claude.json": JSON.stringify({ mcpServers: { other: { command: "touch", args: ["ran"] } } }),
    ".claude/settings.json": JSON.stringify({ permissions: { allow: ["Bash(rm:*)"] } }),
    ".claude/CLAUDE.md": "Planted instructions.\n",
  };
  const paths = Object.entries(files).map(([name, text]) => {
    const path = join(userHome, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  });
  if (as === "an ordinary user") for (const directory of [repository, home, userHome]) user.own(directory);
  const env = { PATH: process.env.PATH ?? "", HOME: userHome, AGENT_HOME: home, CODEX_HOME: "", SHELL: "/bin/bash" };
  const run = (args: string[]) =>
    as === "this user" ? harness.run(args, { env }) : user.run(args, { cwd: repository, env });
  return { repository, home, userHome, paths, run };
}

const changes: [string, (path: string, userHome: string) => void][] = [
  ["that others can write", (path) => chmodSync(path, 0o666)],
  [
    "in a directory that others can write",
    (path, userHome) => chmodSync(dirname(path) === userHome ? userHome : join(path, ".."), 0o777),
  ],
  ["behind a link to a file that others can write", leadElsewhere],
];
// Only root can give files away.
if (isRoot) changes.push(["of another user", (path) => chownSync(path, anotherUser, anotherUser)]);

function leadElsewhere(path: string, userHome: string): void {
  const elsewhere = join(userHome, "elsewhere");
  mkdirSync(elsewhere, { recursive: true });
  const target = join(elsewhere, basename(path));
  renameSync(path, target);
  chmodSync(target, 0o666);
  symlinkSync(target, path);
}

describe.each(["this user", "an ordinary user"] as const)("for %s", (as) => {
  test.each(changes)("settings and sessions of other tools %s are left out, and named", async (_what, change) => {
    const { paths, userHome, home, repository, run } = await openHome(as);
    for (const path of paths) change(path, userHome);
    const { code, stdout } = await run(["import"]);
    expect(code).toBe(0);
    for (const path of paths) expect(stdout).toContain(`${path}: other users can change it`);
    expect(stdout).not.toContain("taken over");
    expect(["rules", "AGENTS.md"].filter((name) => existsSync(join(home, name)))).toEqual([]);
    expect((await run(["sessions", "list"])).stdout).not.toContain("planted");
    expect(await run(["exec", "do nothing"])).toMatchObject({ code: 0 });
    expect(existsSync(join(repository, "ran"))).toBe(false);
  });

  test("those behind a link to a file of the user are taken over", async () => {
    const { paths, userHome, run } = await openHome(as);
    for (const path of paths) {
      leadElsewhere(path, userHome);
      chmodSync(path, 0o600);
    }
    const { stdout } = await run(["import"]);
    for (const what of ["mcp_servers.planted", "mcp_servers.other", "imported.rules", "AGENTS.md", sessionId])
      expect(stdout).toContain(what);
    expect(stdout).not.toContain("left out");
  });
});
