// What the person who approves a command is shown, and what an approval for the session covers.
import type { ApprovalQuestion } from "@agentcli/engine";
import { describe, expect, test } from "vitest";
import type { Client } from "../src/method.ts";
import { openApprover } from "../src/threads/approver.ts";

type Asked = { method: string; params: { command?: string; commandActions?: { command: string }[] } };

/** A client that accepts everything for the session. */
function accepting() {
  const asked: Asked[] = [];
  const client: Partial<Client> = {
    closed: new AbortController().signal,
    notify: () => {},
    ask: ((method: string, params: Asked["params"]) => {
      asked.push({ method, params });
      return { requestId: asked.length, answer: Promise.resolve({ decision: "acceptForSession" }) };
    }) as unknown as Client["ask"],
  };
  const approver = openApprover({
    asked: () => client as Client,
    cancel: () => {},
    agentHome: "/nowhere",
    warn: (message) => expect.fail(message),
  });
  return { approver, asked };
}

const question = (args: object): ApprovalQuestion => ({
  ...{ threadId: "thread", turnId: "turn", callId: "call", name: "exec_command", mcp: undefined, reason: "why" },
  args,
  settings: { cwd: "/work", shell: "/bin/bash" } as ApprovalQuestion["settings"],
});

const plain = { cmd: "make test", sandbox_permissions: "require_escalated" };
const approve = (approver: ReturnType<typeof accepting>["approver"], args: object) =>
  approver.approve(question(args), new AbortController().signal);

describe("the question about a command", () => {
  test("names the shell where the model has chosen one, also in what clients show as the command", async () => {
    const { approver, asked } = accepting();
    await approve(approver, { ...plain, shell: "./planted" });
    const [{ params } = expect.fail("nothing was asked")] = asked;
    for (const shown of [params.command, params.commandActions?.[0]?.command])
      expect(shown).toBe("./planted -lc 'make test'");
  });

  test("is the command itself in the user's shell", async () => {
    const { approver, asked } = accepting();
    await approve(approver, plain);
    expect(asked[0]?.params.commandActions).toEqual([{ type: "unknown", command: "make test" }]);
  });
});

describe("an approval for the session", () => {
  test("holds for the same command, and for the user's shell by its name", async () => {
    const { approver } = accepting();
    await approve(approver, plain);
    for (const args of [plain, { ...plain, shell: "/bin/bash" }, { ...plain, login: true }, { ...plain, workdir: "." }])
      expect(approver.remembers(question(args))).toBe(true);
  });

  test.each([
    ["command", { cmd: "make test; rm -r x" }],
    ["shell", { shell: "./planted" }],
    ["kind of shell", { login: false }],
    ["directory", { workdir: "other" }],
    ["permission", { sandbox_permissions: "use_default" }],
  ])("does not hold for another %s", async (_, change) => {
    const { approver } = accepting();
    await approve(approver, plain);
    expect(approver.remembers(question({ ...plain, ...change }))).toBe(false);
    const reverse = accepting().approver;
    await approve(reverse, { ...plain, ...change });
    expect(reverse.remembers(question(plain))).toBe(false);
  });
});
