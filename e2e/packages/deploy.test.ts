import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "@agentcli/testkit";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { parse } from "yaml";

const deploy = join(projectRoot, "deploy");
const textOf = (...path: string[]) => readFileSync(join(deploy, ...path), "utf8");

test("the values of the chart satisfy its schema, which refuses a public URL without TLS and unknown keys", () => {
  const values = parse(textOf("helm/platform/values.yaml"));
  const validate = new Ajv({ strict: true }).compile(JSON.parse(textOf("helm/platform/values.schema.json")));
  expect(validate(values), JSON.stringify(validate.errors)).toBe(true);
  for (const wrong of [{ publicUrl: "http://platform.example.com" }, { replica: 2 }, { trustedProxies: [] }])
    expect(validate({ ...values, ...wrong })).toBe(false);
});

test("templates of the chart use values that there are", () => {
  const values = parse(textOf("helm/platform/values.yaml")) as Record<string, unknown>;
  for (const name of readdirSync(join(deploy, "helm/platform/templates"))) {
    for (const [, path = ""] of textOf("helm/platform/templates", name).matchAll(/\.Values\.([\w.]+)/g)) {
      const found = path.split(".").reduce<unknown>((table, key) => (table as Record<string, unknown>)?.[key], values);
      expect(found, `${path} in ${name}`).toBeDefined();
    }
  }
});

test("variables in deployment files are settings of the platform", () => {
  const page = readFileSync(join(projectRoot, "docs/platform-config.md"), "utf8");
  const others = ["PLATFORM_DATA", "PLATFORM_BACKEND_URL", "PLATFORM_API_KEY"];
  const files = readdirSync(deploy, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const used = files.flatMap((entry) => [
    ...readFileSync(join(entry.parentPath, entry.name), "utf8").matchAll(/\bPLATFORM_[A-Z_]*[A-Z]\b/g),
  ]);
  const names = [...new Set(used.map(([name]) => name))];
  expect(names).toContain("PLATFORM_RATE_LIMITS_TRUSTED_PROXIES");
  for (const name of names) expect(others.includes(name) || page.includes(`\`${name}\``), name).toBe(true);
});

test("in the compose file only the proxy is reachable, and the platform trusts the network of the proxy alone", () => {
  const { services, networks } = parse(textOf("docker/compose.yml"));
  const open = Object.keys(services).filter((name) => services[name].ports);
  expect(open).toEqual(["proxy"]);
  expect(services.platform.environment.PLATFORM_RATE_LIMITS_TRUSTED_PROXIES).toBe(networks.front.ipam.config[0].subnet);
  expect(services.platform.environment.PLATFORM_PUBLIC_URL).toMatch(/^https:/);
  expect(services.postgres.networks).toEqual(["back"]);
});
