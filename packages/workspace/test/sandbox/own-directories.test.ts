// The agent home, where it or what it links to is in a directory that commands can write: what the next run reads is not theirs.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { planRules } from "../../src/sandbox/landlock/plan.ts";
import { type PolicyOptions, sandboxPolicy } from "../../src/sandbox/policy.ts";
import { bash } from "../support/commands.ts";
import { openInSandbox } from "../support/locations.ts";

let base = "";
const path = (name: string) => join(base, name);
beforeEach(() => {
  base = realpathSync(mkdtempSync("/var/tmp/own-directories-"));
  mkdirSync(path("work"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const policyFor = (home: string): PolicyOptions => ({
  mode: "workspace-write",
  root: path("work"),
  hidden: [home],
  ownDirectories: [home],
});

async function runWith(home: string, command: string): Promise<void> {
  const workspace = await openInSandbox(policyFor(home));
  try {
    await bash(workspace, command);
  } finally {
    await workspace.close();
  }
}

const plant = (home: string) => `mkdir -p ${home}; echo planted > ${home}/config.toml`;
const settingsIn = (home: string): string => {
  try {
    return readFileSync(join(home, "config.toml"), "utf8");
  } catch {
    return "none";
  }
};

describe("on bubblewrap", () => {
  test.each([
    ["a directory above it is moved away", true],
    ["it does not exist yet", false],
  ])("an agent home below a directory of the workspace is not replaced where %s", async (_, exists) => {
    const home = path("work/ci/state/agent");
    if (exists) mkdirSync(home, { recursive: true });
    await runWith(home, `mv ci ci.old; mv ci/state ci/old; rm -rf ci; ${plant(home)}`);
    expect(settingsIn(home)).toBe("none");
    await runWith(home, plant(home));
    expect(settingsIn(home)).toBe("none");
  });

  test("an agent home that is a link into the workspace is not replaced there", async () => {
    mkdirSync(path("work/dot/agent"), { recursive: true });
    symlinkSync(path("work/dot/agent"), path("home"));
    await runWith(path("home"), `mv dot dot.old; ${plant(path("work/dot/agent"))}`);
    expect(settingsIn(path("home"))).toBe("none");
  });

  test.each([
    ["settings", "config.toml"],
    ["rules", "rules/default.rules"],
  ])("%s of an agent home that are a link into the workspace are not changed, moved or replaced", async (_, name) => {
    mkdirSync(path("work/dot/rules"), { recursive: true });
    mkdirSync(path("home/rules"), { recursive: true });
    writeFileSync(path(`work/dot/${name}`), "of the user");
    symlinkSync(path(`work/dot/${name}`), path(`home/${name}`));
    const change = `echo planted >> dot/${name}; rm -f dot/${name}; echo planted > dot/${name}`;
    await runWith(path("home"), `${change}; mv dot dot.old; mkdir -p dot/rules; ${change}`);
    expect(readFileSync(path(`home/${name}`), "utf8")).toBe("of the user");
  });
});

test("an agent home behind a link of the workspace is refused, which commands could replace", async () => {
  mkdirSync(path("work/real/agent"), { recursive: true });
  symlinkSync("real", path("work/link"));
  await expect(runWith(path("work/link/agent"), "true")).rejects.toThrow(`leads through the link ${path("work/link")}`);
});

test("on Landlock, which cannot protect them, settings of an agent home that are a link into the workspace are refused", () => {
  mkdirSync(path("work/dot"));
  mkdirSync(path("home"));
  writeFileSync(path("work/dot/config.toml"), "");
  symlinkSync(path("work/dot/config.toml"), path("home/config.toml"));
  const plan = () => planRules(sandboxPolicy(policyFor(path("home"))), { temporary: "/var/tmp", euid: 1 });
  expect(plan).toThrow(`Landlock cannot protect ${path("work/dot/config.toml")} inside`);
});
