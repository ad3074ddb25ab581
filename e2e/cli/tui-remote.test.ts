// The terminal interface on a server that is far away, and dies: what stays on the terminal is what a local run leaves there.
import { existsSync, rmSync } from "node:fs";
import { createServer, connect as dial, type Socket } from "node:net";
import { join } from "node:path";
import { call, replyWith, temporaryDirectory } from "@agentcli/testkit";
import { type Harness, openHarness } from "@agentcli/testkit/cli";
import { expect, onTestFinished, test } from "vitest";
import { type MemoryTerminal, openMemoryTerminal } from "../support/terminal.ts";

const roundTripMs = 200;

/** Listens at a path and passes everything on to another, each way half of a round trip later. */
async function openFarAway(path: string, target: string): Promise<void> {
  const server = createServer((near) => {
    const far = dial(target);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("data", (bytes) => void setTimeout(() => to.write(bytes), roundTripMs / 2));
      from.on("close", () => void setTimeout(() => to.destroy(), roundTripMs / 2));
      from.on("error", () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
}

const paragraphs = Array.from({ length: 120 }, (_, index) => `Paragraph ${index} of the answer, 日本語.`).join("\n\n");

/** The same for each run: commands, an edit, a long answer, one that never ends, and one after it. */
const openScenario = (): Promise<Harness> =>
  openHarness({
    replies: [
      call("update_plan", { plan: [{ step: "Count", status: "in_progress" }] }),
      call("exec_command", { cmd: "seq 1 400" }),
      call("apply_patch", { input: "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n*** End Patch" }),
      replyWith(paragraphs, { deltas: 60 }),
      { messages: ["It begins like this.\n\nAnd it never gets to its end"], deltas: 12, stall: 14 },
      replyWith("Now it is done."),
    ],
    files: { "a.txt": "one\n" },
  });

async function play(terminal: MemoryTerminal, breakOff: () => Promise<void>): Promise<string[]> {
  const send = async (text: string, answer: string) => {
    await expect.poll(terminal.screen).toContain("Ask for a change");
    terminal.type(text);
    await expect.poll(terminal.screen).toContain(`› ${text}`);
    terminal.type("\r");
    await expect.poll(() => terminal.lines().join("\n")).toContain(answer);
  };
  await send("count and change", "Paragraph 119 of the answer");
  await send("and again", "It begins like this.");
  await breakOff();
  await expect.poll(() => terminal.lines().join("\n")).toContain("■ Interrupted.");
  await send("go on", "Now it is done.");
  await expect.poll(terminal.screen).toContain("Ask for a change");
  terminal.type("\u0004");
  expect(await terminal.ended).toBe(0);
  await expect.poll(() => terminal.lines().join("\n")).toContain("To continue:");
  return terminal.lines();
}

/** What differs between any two runs: names of directories and threads, and times. */
const comparable = (lines: string[], { repository }: Harness): string[] =>
  lines
    .map((line) =>
      line.replaceAll(repository, "DIRECTORY").replace(/\b\d+(?:\.\d+)?s\b|[\da-f]{8}(?:-[\da-f]{4,12}){4}/g, "…"),
    )
    .filter((line) => !/worked for/.test(line) && line.trim() !== "");

test("over 200 ms and through a killed and restarted server, the terminal shows what it shows of a local run", async () => {
  const local = await openScenario();
  const here = openMemoryTerminal({ cwd: local.repository, env: { AGENT_HOME: local.home } });
  const expected = comparable(await play(here, async () => here.type("\u001b")), local);

  const remote = await openScenario();
  const [socket, far] = [join(remote.home, "server.sock"), join(remote.home, "far.sock")];
  const serve = async () => {
    const server = remote.start(["app-server", "--listen", `unix://${socket}`]);
    let log = "";
    server.stderr?.on("data", (bytes) => {
      log += bytes;
    });
    onTestFinished(() => void server.kill("SIGKILL"));
    await expect.poll(() => log).toContain("listening on");
    return server;
  };
  const server = await serve();
  await openFarAway(far, socket);
  const args = ["--remote", `unix://${far}`, "-C", remote.repository];
  const there = openMemoryTerminal({ cwd: remote.repository, env: { AGENT_HOME: remote.home }, args });
  const shown = await play(there, async () => {
    server.kill("SIGKILL");
    await expect.poll(there.screen).toContain("Connecting again");
    rmSync(socket, { force: true });
    await serve();
  });
  expect(comparable(shown, remote)).toEqual(expected);
  expect(expected.join("\n")).toContain("✓ seq 1 400");
});

test("what is typed before the server answers is shown at once, and sent when it does", async () => {
  const harness = await openHarness({ replies: [replyWith("Here I am.")] });
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  const [late, real] = ["late.sock", "real.sock"].map((name) => join(directory.path, name)) as [string, string];
  const waiting: Socket[] = [];
  const server = createServer((near) => void waiting.push(near.on("error", () => {})));
  await new Promise<void>((resolve) => server.listen(late, resolve));
  onTestFinished(() => void server.close());
  const program = harness.start(["app-server", "--listen", `unix://${real}`]);
  onTestFinished(() => void program.kill("SIGKILL"));
  await expect.poll(() => existsSync(real)).toBe(true);
  const options = { cwd: harness.repository, env: { AGENT_HOME: harness.home } };
  const terminal = openMemoryTerminal({ ...options, args: ["--remote", `unix://${late}`, "-C", harness.repository] });
  await expect.poll(() => waiting.length).toBe(1);
  await expect.poll(terminal.screen).toMatch(/Ask for a change[\s\S]*starting…/);
  terminal.type("are you theere\u001b[D\u001b[D\u001b[D\u007f");
  await expect.poll(terminal.screen).toContain("› are you there");
  terminal.type("\r");
  const far = dial(real).on("error", () => {});
  const [near] = waiting;
  near?.pipe(far).pipe(near);
  await expect.poll(terminal.screen).toContain("Here I am.");
  expect(terminal.lines().join("\n")).toContain("› are you there");
  terminal.type("\u0004");
  expect(await terminal.ended).toBe(0);
});
