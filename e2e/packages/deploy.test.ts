import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot, temporaryDirectory, workerProgram } from "@agentcli/testkit";
import { Ajv } from "ajv";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";

const deploy = join(projectRoot, "deploy");
const textOf = (...path: string[]) => readFileSync(join(deploy, ...path), "utf8");

const wrongValues = {
  platform: [{ publicUrl: "http://platform.example.com" }, { replica: 2 }, { trustedProxies: [] }],
  "agent-workers": [{ backendUrl: "http://platform.example.com" }, { pool: "fast" }, { pools: [""] }],
};
const charts = Object.keys(wrongValues) as (keyof typeof wrongValues)[];

test.each(charts)(
  "the values of the chart %s satisfy its schema, which refuses an address without TLS and unknown keys",
  (chart) => {
    const values = parse(textOf("helm", chart, "values.yaml"));
    const validate = new Ajv({ strict: true }).compile(JSON.parse(textOf("helm", chart, "values.schema.json")));
    expect(validate(values), JSON.stringify(validate.errors)).toBe(true);
    for (const wrong of wrongValues[chart]) expect(validate({ ...values, ...wrong })).toBe(false);
  },
);

test.each(charts)("templates of the chart %s use values that there are", (chart) => {
  const values = parse(textOf("helm", chart, "values.yaml")) as Record<string, unknown>;
  for (const name of readdirSync(join(deploy, "helm", chart, "templates"))) {
    for (const [, path = ""] of textOf("helm", chart, "templates", name).matchAll(/\.Values\.([\w.]+)/g)) {
      const found = path.split(".").reduce<unknown>((table, key) => (table as Record<string, unknown>)?.[key], values);
      expect(found, `${path} in ${name}`).toBeDefined();
    }
  }
});

test("variables in deployment files are settings of the platform", () => {
  const page = readFileSync(join(projectRoot, "docs/platform-config.md"), "utf8");
  const workers = readFileSync(join(projectRoot, "docs/workers.md"), "utf8");
  const others = ["PLATFORM_DATA"];
  const files = readdirSync(deploy, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const used = files.flatMap((entry) => [
    ...readFileSync(join(entry.parentPath, entry.name), "utf8").matchAll(/\bPLATFORM_[A-Z_]*[A-Z]\b/g),
  ]);
  const names = [...new Set(used.map(([name]) => name))];
  expect(names).toContain("PLATFORM_RATE_LIMITS_TRUSTED_PROXIES");
  for (const name of names)
    expect(others.includes(name) || workers.includes(name) || page.includes(`\`${name}\``), name).toBe(true);
});

test("in the compose file only the proxy is reachable, and the platform trusts the network of the proxy alone", () => {
  const { services, networks } = parse(textOf("docker/compose.yml"));
  const open = Object.keys(services).filter((name) => services[name].ports);
  expect(open).toEqual(["proxy"]);
  expect(services.platform.environment.PLATFORM_RATE_LIMITS_TRUSTED_PROXIES).toBe(networks.front.ipam.config[0].subnet);
  expect(services.platform.environment.PLATFORM_PUBLIC_URL).toMatch(/^https:/);
  expect(services.postgres.networks).toEqual(["back"]);
});

test("systemd finds nothing to object to in the units", async () => {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const verify = (...files: string[]) => spawnSync("systemd-analyze", ["verify", ...files], { encoding: "utf8" });
  const units = readdirSync(join(deploy, "systemd")).map((name) => join(deploy, "systemd", name));
  const { error, status, stderr } = verify(...units);
  expect(error, "Install it: sudo apt-get install -y systemd").toBeUndefined();
  expect([status, stderr.split("\n").filter((line) => line.includes(deploy))]).toEqual([0, []]);
  const wrong = join(path, "platform.service");
  writeFileSync(wrong, textOf("systemd/platform.service").replace("TimeoutStopSec", "TimeoutStopSecs"));
  expect(verify(wrong).stderr).toMatch(/Unknown key.*'TimeoutStopSecs'/);
});

test("in the compose file the platform keeps objects in a bucket that is there, with a secret that is given", () => {
  const { services } = parse(textOf("docker/compose.yml"));
  const { PLATFORM_OBJECT_STORE_BUCKET: bucket, AWS_ACCESS_KEY_ID: id } = services.platform.environment;
  expect(services.objects.volumes).toEqual([`objects:/data/${bucket}`]);
  expect(services.objects.environment.ROOT_ACCESS_KEY).toBe(id);
  expect(services.platform.environment.AWS_SECRET_ACCESS_KEY).toContain("${OBJECT_STORE_SECRET");
  expect(services.objects.environment.ROOT_SECRET_KEY).toContain("${OBJECT_STORE_SECRET");
});

test("workers in deployment files are started with flags that there are, and open no port", () => {
  const { services } = parse(textOf("docker/compose-workers.yml"));
  expect(services.worker.ports).toBeUndefined();
  const files = readdirSync(deploy, { recursive: true, encoding: "utf8" }).filter((name) => /worker/.test(name));
  const lines = files
    .filter((name) => /\.(service|yml|yaml|tpl)$/.test(name))
    .flatMap((name) =>
      textOf(name)
        .split("\n")
        .filter((line) => !line.trim().startsWith("#")),
    );
  const flags = lines.flatMap((line) =>
    [...line.matchAll(/(?:^|[\s,[])--([a-z][a-z-]*)/g)].map(([, flag = ""]) => flag),
  );
  expect(flags).toContain("session-token");
  const help = ["start", "controller"]
    .map((name) => execFileSync(process.execPath, [workerProgram, "worker", name, "--help"], { encoding: "utf8" }))
    .join("");
  for (const flag of flags) expect(help).toMatch(new RegExp(`--${flag}\\b`));
});

test("a worker Pod gets the token of its claim, and neither the key of the controller nor that of the cluster", () => {
  const pod = textOf("helm/agent-workers/templates/_worker.tpl");
  expect(pod).toContain("automountServiceAccountToken: false");
  expect(pod).not.toContain("secretRef");
  const spawn = textOf("helm/agent-workers/files/spawn.mjs");
  expect(spawn).toContain("PLATFORM_AUTH_TOKEN");
  expect(spawn).not.toContain("PLATFORM_API_KEY");
});

test("the commands that the page shows name files that there are, and set every variable that the compose file needs", () => {
  const page = readFileSync(join(projectRoot, "docs/deploy.md"), "utf8");
  const lines = [...page.matchAll(/^.*docker .*-f (\S+).*$/gm)];
  for (const [, file = ""] of lines) expect(readFileSync(join(projectRoot, file), "utf8")).not.toBe("");
  expect(lines.map(([, file]) => file)).toEqual(["deploy/docker/platform.Dockerfile", "deploy/docker/compose.yml"]);
  const set = [...(lines.at(-1)?.[0] ?? "").matchAll(/([A-Z_]+)=/g)].map(([, name]) => name);
  const needed = [...textOf("docker/compose.yml").matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
  expect(set.sort()).toEqual([...new Set(needed)].sort());
});
