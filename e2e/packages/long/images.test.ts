// The images of deploy/, built by buildah and run by dockerd: the demo passes in them. Makes a base system: minutes, not seconds.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, projectRoot, temporaryDirectory } from "@agentcli/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { type Images, openImages } from "../images/base.ts";
import { type Engine, startEngine } from "../images/engine.ts";
import { buildOthers, compileObjectStore, standIns } from "../images/others.ts";

const deploy = join(projectRoot, "deploy/docker");
const client = join(projectRoot, "e2e/packages/images/demo-client.mjs");
const compose = () => parse(readFileSync(join(deploy, "compose.yml"), "utf8"));

let scratch: Awaited<ReturnType<typeof temporaryDirectory>>;
let images: Images;
let engine: Engine;
let objectStore: Promise<string>;
beforeAll(async () => {
  scratch = await temporaryDirectory();
  objectStore = compileObjectStore(scratch.path);
  objectStore.catch(() => {}); // Reported by the test that awaits it.
  images = openImages(scratch.path);
  const release = join(projectRoot, "scripts/release-dry.mjs");
  execFileSync(process.execPath, [release, "--out", join(images.context, "release"), "--parts", "npm"]);
  for (const name of ["platform", "worker"]) images.build(name, join(deploy, `${name}.Dockerfile`));
  engine = await startEngine(join(scratch.path, "engine"));
  for (const name of ["platform", "worker"]) load(name);
}, 1_800_000);
afterAll(async () => {
  await engine?.stop();
  images?.remove();
  await scratch.remove();
}, 1_800_000);

function load(tag: string): void {
  const archive = join(scratch.path, `${tag}.tar`);
  images.save(tag, archive);
  engine.docker("load", "--input", archive);
}

/** Starts the platform as the compose file does, with other variables. */
function start(name: string, variables: Record<string, string>): string {
  const options = (compose().services.platform.security_opt as string[]).flatMap((each) => ["--security-opt", each]);
  const env = Object.entries(variables).flatMap(([key, value]) => ["--env", `${key}=${value}`]);
  return engine.docker("run", "--detach", "--name", name, ...options, ...env, "platform").trim();
}

/** A key, and the URL of the sample repository. */
function prepare(container: string): { key: string; sample: string } {
  engine.docker("cp", join(projectRoot, "examples/sample"), `${container}:/tmp/sample`);
  const platform = (...args: string[]) => engine.docker("exec", container, "platform", ...args).trim();
  const key = platform("keys", "create", "--name", "test");
  return { key, sample: platform("repos", "create", "sample", "--from", "/tmp/sample") };
}

const isHealthy = (container: string) => () =>
  engine.docker("inspect", "--format", "{{.State.Health.Status}}", container).trim() === "healthy";

test("in the image of the platform the demo passes, as an ordinary user", { timeout: 600_000 }, async () => {
  start("one", { PLATFORM_MODEL: "practice", PLATFORM_LISTEN: "127.0.0.1:7420" });
  await eventually(isHealthy("one"), { timeoutMs: 300_000, intervalMs: 500 });
  expect(engine.docker("exec", "one", "id", "--user").trim()).toBe("10001");
  const { key, sample } = prepare("one");
  engine.docker("cp", client, "one:/tmp/demo-client.mjs");
  const shown = engine.docker("exec", "one", "node", "/tmp/demo-client.mjs", "http://127.0.0.1:7420", key, sample);
  expect(shown).toContain("FINISHED with a pull request");
  engine.docker("stop", "one");
  expect(engine.docker("inspect", "--format", "{{.State.ExitCode}}", "one").trim()).toBe("0");
});

test("the image of the platform does not start where others could read keys on the way", async () => {
  const container = start("open", { PLATFORM_MODEL: "practice" });
  expect(engine.docker("wait", container).trim()).toBe("2");
  const output = execFileSync("sh", ["-c", `docker logs ${container} 2>&1`], { encoding: "utf8" });
  expect(output).toContain('listen = "0.0.0.0:7420" is reachable from other machines without encryption');
});

test("the image of a worker has its program, git and the sandbox, for an ordinary user", () => {
  const options = ["--security-opt", "seccomp=unconfined", "--security-opt", "systempaths=unconfined"];
  const inWorker = (...args: string[]) => engine.docker("run", "--rm", ...options, "worker", ...args);
  expect(inWorker("agent", "worker", "start", "--help")).toContain("--pool");
  const sandbox = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "id", "-u"];
  expect(inWorker(...sandbox).trim()).toBe("10001");
});

/** The compose file with images of this machine. Debian's docker-compose does not know the option systempaths. */
function localCompose(directory: string): string {
  const file = compose();
  for (const [service, image] of Object.entries(standIns)) file.services[service].image = image;
  delete file.services.platform.build;
  Object.assign(file.services.platform, { image: "platform", privileged: true });
  delete file.services.platform.security_opt;
  file.services.platform.environment.PLATFORM_MODEL = "practice";
  mkdirSync(join(directory, "docker"), { recursive: true });
  cpSync(join(projectRoot, "deploy/proxy"), join(directory, "proxy"), { recursive: true });
  writeFileSync(join(directory, "docker/compose.yml"), stringify(file));
  return join(directory, "docker/compose.yml");
}

test("the compose file brings up a platform with TLS, PostgreSQL and an object store, and the demo passes", {
  timeout: 1_800_000,
}, async () => {
  buildOthers(images, await objectStore);
  for (const image of Object.values(standIns)) load(image);
  const file = localCompose(join(scratch.path, "deploy"));
  const secrets = {
    DOMAIN: "localhost",
    POSTGRES_PASSWORD: "p4ssword",
    OBJECT_STORE_SECRET: "s3cret",
    AGENT_API_KEY: "x",
  };
  Object.assign(process.env, secrets);
  engine.compose([file], "up", "--detach");
  try {
    const container = engine.compose([file], "ps", "--quiet", "platform").trim();
    await eventually(isHealthy(container), { timeoutMs: 300_000, intervalMs: 500 });
    const { key, sample } = prepare(container);
    const proxy = engine.compose([file], "ps", "--quiet", "proxy").trim();
    const certificate = join(scratch.path, "root.crt");
    const authority = "/data/caddy/pki/authorities/local/root.crt";
    await eventually(() => engine.docker("cp", `${proxy}:${authority}`, certificate));
    const trusted = ["env", `NODE_EXTRA_CA_CERTS=${certificate}`, process.execPath];
    const shown = engine.inNetwork(...(trusted as [string]), client, "https://localhost", key, sample);
    expect(shown).toContain("FINISHED with a pull request");
    const objects = engine.compose([file], "ps", "--quiet", "objects").trim();
    expect(engine.docker("exec", objects, "find", "/data/platform", "-type", "f").split("\n").length).toBeGreaterThan(
      3,
    );
  } finally {
    engine.compose([file], "down", "--volumes");
    for (const name of Object.keys(secrets)) delete process.env[name];
  }
});
