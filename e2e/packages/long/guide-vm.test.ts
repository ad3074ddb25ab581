// The commands of the guide to a virtual machine, one after the other as they stand, on a new Debian: minutes, not seconds.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually, projectRoot, temporaryDirectory, waitForExit } from "@agentcli/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Machine, startMachine } from "../images/machine.ts";

const registryPort = 4873;
const guide = readFileSync(join(projectRoot, "docs/guide-vm.md"), "utf8");
/** What a reader puts in. Names below localhost lead to the machine itself, and Caddy signs their certificates. */
const name = "platform.localhost";
const key = "sk-guide-9d4c2b7f";
const filledIn = (text: string) => text.replaceAll("platform.example.com", name).replaceAll("…", key);

let scratch: Awaited<ReturnType<typeof temporaryDirectory>>;
let machine: Machine;
const printed = new Map<string, string>();

beforeAll(async () => {
  scratch = await temporaryDirectory();
  machine = await startMachine(scratch.path);
  await publish();
  for (const [, kind, block = ""] of guide.matchAll(/^ *```(\w+)\n([\s\S]*?)^ *```/gm)) await follow(kind, block);
}, 3_600_000);
afterAll(async () => {
  await machine?.stop();
  await scratch.remove();
}, 600_000);

/** The package is not published: npm finds it, and nothing else, at a registry of the test. */
async function publish(): Promise<void> {
  const packed = join(scratch.path, "packed");
  mkdirSync(packed);
  const cwd = join(projectRoot, "packages/platform");
  await promisify(execFile)("npm", ["pack", "--silent", "--pack-destination", packed], { cwd });
  const program = join(projectRoot, "e2e/packages/images/registry.mjs");
  const registry = machine.startBeside(process.execPath, [program, packed, String(registryPort)]);
  if (registry.stdout) await once(registry.stdout, "data");
  await machine.execute(`echo @agentcli:registry=http://127.0.0.1:${registryPort}/ >> /root/.npmrc`);
}

/** Settings go into the file that the text above them names. */
async function follow(kind: string | undefined, block: string): Promise<void> {
  const lines = filledIn(block).split("\n");
  const texts = lines.map((line) => line.trim()).filter((line) => line !== "");
  if (kind === "toml")
    return writeFileSync(join(machine.root, "var/lib/platform/config.toml"), `${texts.join("\n")}\n`);
  expect([kind, texts.every((line) => line.startsWith("# "))]).toEqual(["console", true]);
  for (const line of texts.map((text) => text.slice(2))) printed.set(line, await machine.execute(line));
}

const outputOf = (part: string) => [...printed].find(([line]) => line.includes(part))?.[1] ?? "";

/** Over TLS, from the network of the machine. Certificates for names below localhost are signed by an authority of Caddy's own. */
async function ask(path: string, ...flags: string[]): Promise<string> {
  const authority = join(machine.root, "var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt");
  const trusted = ["--cacert", authority, "--resolve", `${name}:443:127.0.0.1`];
  return (await waitForExit(machine.startBeside("curl", ["--silent", ...trusted, ...flags, `https://${name}${path}`])))
    .stdout;
}

test("every command of the guide works, and none is left out", () => {
  expect(printed.size).toBe([...guide.matchAll(/^ +# /gm)].length);
  const judgements = outputOf("platform doctor");
  expect(judgements).toMatch(/^ok +server: runs at https:/m);
  expect(judgements).toMatch(/^ok +model: gpt/m);
  expect(judgements).not.toContain("FAIL");
});

test("the platform is ready behind TLS, and starts again with the machine", async () => {
  await eventually(async () => (await ask("/readyz")).includes("ready"), { timeoutMs: 300_000, intervalMs: 500 });
  expect(await machine.execute("systemctl is-active platform caddy")).toBe("active\nactive\n");
  expect(await machine.execute("systemctl is-enabled platform caddy")).toBe("enabled\nenabled\n");
  expect(await machine.execute("journalctl --unit platform --no-pager")).not.toContain(key);
});

test("the link that the last command prints logs in, once", async () => {
  const [, token = ""] = new RegExp(`https://${name}/login\\?token=(\\S+)`).exec(outputOf("login-link")) ?? [];
  expect(await ask(`/login?token=${token}`)).toContain(`value="${token}"`);
  const logIn = () => ask("/login", "--include", "--data", `token=${token}`);
  expect(await logIn()).toMatch(/^HTTP\/2 303[\s\S]*set-cookie: __Host-/);
  expect(await logIn()).toMatch(/^HTTP\/2 401/);
});

test("systemctl reports a server that does not start, and stops one that runs", async () => {
  await machine.execute("systemctl stop platform");
  expect(await machine.execute("systemctl show platform --property Result")).toBe("Result=success\n");
  const settings = join(machine.root, "var/lib/platform/config.toml");
  const right = readFileSync(settings, "utf8");
  writeFileSync(settings, right.replace("public_url", "publick_url"));
  await expect(machine.execute("systemctl start platform")).rejects.toThrow(/Job for platform.service failed/);
  writeFileSync(settings, right);
  await machine.execute("systemctl start platform");
  expect(await machine.execute("test -e /var/lib/platform/server.json && echo ready")).toBe("ready\n");
});
