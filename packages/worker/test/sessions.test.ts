// Sessions of a worker: a machine for one agent never gets another, also after a restart, and an idle one ends.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test, vi } from "vitest";
import { openSessions, type SessionOptions } from "../src/sessions.ts";

async function optionsFor(more: Partial<SessionOptions> = {}): Promise<SessionOptions> {
  const folder = await temporaryDirectory();
  onTestFinished(folder.remove);
  const hooks = { onStart: undefined, onEnd: undefined, variables: process.env, log() {} };
  return { ...hooks, idleTimeoutMs: 0, isSingleUse: true, usedFile: `${folder.path}/used-by`, ...more };
}

function open(options: SessionOptions) {
  const sessions = openSessions(options, () => false);
  onTestFinished(sessions.close);
  return sessions;
}

test("a single-use worker refuses a second agent, and takes further runs of the first", async () => {
  const sessions = open(await optionsFor());
  await sessions.claimed("bc-one", "run-1");
  await expect(sessions.claimed("bc-two", "run-2")).rejects.toMatchObject({ code: "already_used" });
  await sessions.claimed("bc-one", "run-3");
  await sessions.released("bc-one");
  expect(await sessions.over).toBe("The agent of this worker is done.");
  await expect(sessions.claimed("bc-two", "run-4")).rejects.toMatchObject({ code: "already_used" });
});

test("a single-use worker that is started again takes its agent, refuses any other, and ends then", async () => {
  const options = await optionsFor();
  await open(options).claimed("bc-one", "run-1");
  await open(options).claimed("bc-one", "run-1");
  const again = open(options);
  await expect(again.claimed("bc-two", "run-2")).rejects.toMatchObject({ code: "already_used" });
  expect(await again.over).toBe("The agent of this worker is done.");
});

test("any number of agents use a worker that is not for one alone", async () => {
  const sessions = open(await optionsFor({ isSingleUse: false }));
  await sessions.claimed("bc-one", "run-1");
  await sessions.claimed("bc-two", "run-2");
  expect(sessions.isActive()).toBe(true);
});

test("a clock that is set an hour forward does not make a worker idle", async () => {
  vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const sessions = open(await optionsFor({ isSingleUse: false, idleTimeoutMs: 60_000 }));
  let reason = "";
  void sessions.over.then((text) => {
    reason = text;
  });
  await sessions.claimed("bc-one", "run-1");
  sessions.finished("bc-one");
  vi.setSystemTime(Date.now() + 3_600_000);
  await vi.advanceTimersByTimeAsync(59_000);
  expect(reason).toBe("");
  await vi.advanceTimersByTimeAsync(2_000);
  expect(reason).toBe("No agent has used this worker for 60 seconds.");
});

test("commands of the operator run no program that an agent can have written, and have no key", async () => {
  const folder = await temporaryDirectory();
  onTestFinished(folder.remove);
  const at = (path: string) => join(folder.path, path);
  // Where agents work, and where npx puts the programs of a project.
  const planted = ["data/bin", "project/node_modules/.bin"].map(at);
  for (const directory of planted) {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "cat"), `#!/bin/sh\necho planted >> ${at("ran")}\n`, { mode: 0o755 });
  }
  const variables = { ...process.env, PATH: [...planted, process.env.PATH].join(":"), PLATFORM_API_KEY: "secret" };
  const onStart = `echo "$PLATFORM_AGENT_ID \${PLATFORM_API_KEY-none}" | cat >> ${at("ran")}`;
  const sessions = open(await optionsFor({ variables, onStart, usedFile: at("data/used-by") }));
  await sessions.claimed("bc-one", "run-1");
  expect(readFileSync(at("ran"), "utf8")).toBe("bc-one none\n");
});
