// Threads of the terminal interface: resumed, forked, on a server elsewhere that dies and comes back, shared by two terminals.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, onTestFinished, test } from "vitest";
import { listenAddress } from "../app-server/client.ts";
import { openMemoryTerminal, openTmux } from "../support/terminal.ts";

test("an earlier thread is chosen from a list, and an earlier message is edited in a fork", async () => {
  const { repository, home, requests } = await openHarness({
    replies: [replyWith("Answer one."), replyWith("Answer two."), replyWith("Answer three.")],
  });
  const env = { AGENT_HOME: home };
  const first = openTmux({ cwd: repository, env, args: ["the first question"] });
  await expect.poll(first.screen).toContain("Answer one.");
  await expect.poll(first.screen).toContain("Ask for a change");
  first.type("the second question");
  first.keys("Enter");
  await expect.poll(first.screen).toContain("Answer two.");
  first.type("a draft");
  await expect.poll(first.screen).toContain("› a draft");
  first.keys("C-c", "C-c");
  await expect.poll(first.screen).toContain("exit code 0");

  const again = openTmux({ cwd: repository, env, args: ["resume"] });
  await expect.poll(again.screen).toMatch(/Resume type to narrow[\s\S]*❯ the first question/);
  again.keys("Enter");
  await expect.poll(again.screen).toContain("› a draft");
  expect(again.history()).toMatch(
    /› the first question[\s\S]*Answer one\.[\s\S]*› the second question[\s\S]*Answer two\./,
  );
  again.keys("C-u");
  await expect.poll(again.screen).toContain("Ask for a change");
  again.keys("Up");
  await expect.poll(again.screen).toMatch(/› the second question\n.*scripted/);
  again.keys("C-u");
  await expect.poll(again.screen).toContain("Ask for a change");
  again.keys("Escape");
  await expect.poll(again.screen).toContain("Press Escape again");
  again.keys("Escape");
  await expect.poll(again.screen).toContain("❯ the second question");
  again.keys("Enter");
  await expect.poll(again.screen).toContain("Forked from");
  again.type(", in other words");
  await expect.poll(again.screen).toContain("› the second question, in other words");
  again.keys("Enter");
  await expect.poll(again.screen).toContain("Answer three.");
  const sent = JSON.stringify(requests().at(-1)?.body);
  expect(sent).toContain("Answer one.");
  expect(sent).not.toContain("Answer two.");
});

test("a paste of 5,000 lines is one mark, and is sent whole", async () => {
  const { repository, home, requests } = await openHarness({ replies: [replyWith("Read.")] });
  const terminal = openTmux({ cwd: repository, env: { AGENT_HOME: home } });
  await expect.poll(terminal.screen).toContain("Ask for a change");
  const lines = Array.from({ length: 5000 }, (_, index) => `pasted line ${index + 1}`);
  terminal.paste(lines.join("\n"));
  await expect.poll(terminal.screen).toContain("[Pasted text #1: 5,000 lines]");
  terminal.keys("Enter");
  await expect.poll(terminal.screen).toContain("Read.");
  expect(JSON.stringify(requests()[0]?.body)).toContain(lines.join("\\n"));
});

test("two terminals on one server show the same thread, through the death of the server and its restart", async () => {
  const waits = call("exec_command", { cmd: "until [ -e go ]; do sleep 0.05; done", yield_time_ms: 60_000 });
  const { repository, home, start, run } = await openHarness({
    replies: [replyWith("Answer one."), waits, replyWith("Answer after the restart.")],
  });
  const socket = join(home, "server.sock");
  const serve = async () => {
    const server = start(["app-server", "--listen", `unix://${socket}`]);
    let log = "";
    server.stderr?.on("data", (bytes) => {
      log += bytes;
    });
    onTestFinished(() => void server.kill("SIGKILL"));
    await expect.poll(() => log).toContain("listening on");
    return server;
  };
  const server = await serve();
  const remote = ["--remote", `unix://${socket}`];
  const env = { AGENT_HOME: home };
  const one = openTmux({ cwd: repository, env, args: [...remote, "-C", repository, "the first question"] });
  await expect.poll(one.screen).toContain("Answer one.");
  const listed = await run(["agents", ...remote]);
  expect(listed.stdout).toMatch(/^[\w-]+ {2}idle +.* the first question$/m);
  const id = listed.stdout.split(" ")[0] ?? "";
  const two = openMemoryTerminal({ cwd: repository, env, args: ["resume", id, ...remote] });
  await expect.poll(two.screen).toContain("Answer one.");
  one.type("wait for it");
  one.keys("Enter");
  await expect.poll(one.screen).toContain("running until");
  await expect.poll(two.screen).toContain("running until");
  server.kill("SIGKILL");
  await expect.poll(one.screen).toContain("Connecting again");
  rmSync(socket, { force: true });
  await serve();
  await expect.poll(one.screen).toContain("■ Interrupted.");
  await expect.poll(two.screen).toContain("■ Interrupted.");
  writeFileSync(join(repository, "go"), "");
  await expect.poll(one.screen).toContain("Ask for a change");
  one.type("go on");
  one.keys("Enter");
  await expect.poll(one.screen).toContain("Answer after the restart.");
  await expect.poll(two.screen).toContain("Answer after the restart.");
  const marks = (text: string) =>
    text
      .split("\n")
      .filter((line) => /^[›•✗■] (?!Ask)/.test(line))
      .map((line) => line.trim());
  await expect.poll(one.screen).toContain("Ask for a change");
  await expect.poll(two.screen).toContain("Ask for a change");
  expect(marks(two.lines().join("\n"))).toEqual(marks(one.history()));
});

test("a server on a port is used with its token; without it, or with another, the message says what to do", async () => {
  const { repository, home, start, run } = await openHarness({ replies: [replyWith("Answer over a port.")] });
  const server = start(["app-server", "--listen", "ws://127.0.0.1:0"]);
  onTestFinished(() => void server.kill("SIGKILL"));
  const remote = ["--remote", await listenAddress(server)];
  const given = [...remote, "--remote-auth-token-file", join(home, "app-server-control", "ws-token")];
  const env = { AGENT_HOME: home };
  const terminal = openTmux({ cwd: repository, env, args: [...given, "-C", repository, "hello"] });
  await expect.poll(terminal.screen).toContain("Answer over a port.");
  const refused = openTmux({ cwd: repository, env, args: remote });
  await expect.poll(refused.screen).toContain("exit code 3");
  expect(refused.screen().replaceAll("\n", "")).toContain(
    `ERROR: The app server at ${remote[1]} needs a token: --remote-auth-token-env VARIABLE`,
  );
  writeFileSync(join(home, "other-token"), "wrong");
  const { code, stderr } = await run(["agents", ...remote, "--remote-auth-token-file", join(home, "other-token")]);
  expect({ code, stderr }).toMatchObject({ code: 3, stderr: expect.stringContaining("refused this token") });
});

/** All that the program sends of its own: colours, cursor, erasing below, frames, modes, links. */
const ownSequences =
  /\u001b\[(?:\d+(?:;\d+)*m|\?(?:2026|25|2004)[hl]|\d+[ABC]|[JK])|\u001b\]8;;[!-~]*\u001b\\|\u0007|\r\n?/g;
const hostile =
  "\u001b]52;c;ZXZpbA==\u0007\u001b]0;title\u0007\u001b[2J\u009b3J\u202e\u001b[31mred\u0000\u0008 [x](https://a.b/\u001b]8;;)";

test("hostile output, random keys and random sizes leave the terminal obeying nothing, and restored after a signal", async () => {
  const command = call("exec_command", {
    cmd: String.raw`printf '\033]52;c;ZXZpbA==\007\033[2J\033[3J\302\2333J\r\033cend\n'`,
  });
  const { repository, home } = await openHarness({
    replies: {
      replies: [command, replyWith(`Done ${hostile}`), replyWith(hostile.repeat(40), { deltas: 30 })],
      repeat: "loop",
    },
  });
  const terminal = openMemoryTerminal({
    cwd: repository,
    env: { AGENT_HOME: home },
    args: [`go on ${hostile.replaceAll("\u0000", "")}`],
  });
  await expect.poll(terminal.screen).toContain("Done \\u001b]52");
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const keys = [
    "a",
    "é",
    "日",
    " ",
    "\r",
    "\t",
    "\u001b",
    "\u001b[A",
    "\u001b[B",
    "\u001b[C",
    "\u001b[D",
    "\u007f",
    "\u001b[1;5D",
    "\u0001",
    "\u0005",
    "\u0017",
    "\u0015",
    "\u000a",
    "\u001b[200~p\nq\u001b[201~",
    "\u001b[?1;2c",
    "\u001b[99",
    "@",
    "$",
    "\u001b]11;rgb:0/0/0\u0007",
    "\u0012",
  ];
  for (let count = 0; count < Number(process.env.FUZZ_RUNS ?? 300); count++) {
    terminal.type(keys[random(keys.length)] ?? "");
    if (count % 25 === 0) terminal.resize(20 + random(200), 5 + random(60));
  }
  terminal.resize(80, 30);
  await expect.poll(() => terminal.written().length).toBeGreaterThan(8000);
  terminal.type("\u001b[200~still alive\u001b[201~");
  await expect.poll(terminal.screen).toContain("still alive");
  terminal.kill("SIGTERM");
  expect(await terminal.ended).toBe(143);
  const written = terminal.written();
  expect(written.replace(ownSequences, "")).not.toMatch(/(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
  expect(written).not.toMatch(/\u001b\[[23]J/);
  expect(written.lastIndexOf("\u001b[?2004l")).toBeGreaterThan(written.lastIndexOf("\u001b[?2004h"));
});

test("init writes an AGENTS.md from the project, and does not overwrite one", async () => {
  const { run, repository } = await openHarness({
    files: {
      "package.json": JSON.stringify({ scripts: { test: "vitest", build: "tsc" } }),
      "README.md": "# Thing\n\nCounts things.\n",
      "src/a.ts": "",
    },
  });
  expect(await run(["init"])).toMatchObject({ code: 0, stdout: expect.stringContaining("Wrote ") });
  const text = readFileSync(join(repository, "AGENTS.md"), "utf8");
  expect(text).toContain("Counts things.");
  expect(text).toContain("- `npm run build`\n- `npm run test`");
  expect(text).toContain("- `src/`");
  expect(await run(["init"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("exists. --force writes it anew."),
  });
});
