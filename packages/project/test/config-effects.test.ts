// No setting is ignored in silence: each key works, or warns at each start and is refused by --strict-config.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Shape } from "@agentcli/protocol";
import { configShape } from "@agentcli/protocol/config-shapes";
import { describe, expect, test } from "vitest";
import { inspected } from "../src/config/files.ts";
import { withValueAt } from "../src/config/table.ts";

/** Keys without effect, with a value that says so and, if there is one, a value that is how it always works. */
const warning: Record<string, [value: unknown, works?: unknown]> = {
  "agents.interrupt_message": [true],
  "model_providers.any.supports_websockets": [true, false],
  "features.shell_tool": [false, true],
  "features.view_image": [false, true],
  "features.unified_exec": [false, true],
  "features.skill_search": [true, false],
  "features.plugins": [true, false],
  "features.network_proxy": [true],
  cli_auth_credentials_store: ["keyring", "file"],
  tui: [{ theme: "dark" }],
};

function* keysOf(shape: Shape, path: string[] = []): Generator<[key: string, shape: Shape]> {
  const inner = Object.entries(shape.properties ?? {});
  const others: [string, Shape][] = shape.additionalProperties ? [["any", shape.additionalProperties]] : [];
  if (path.length > 0 && inner.length + others.length === 0) yield [path.join("."), shape];
  else if (shape.noEffect) yield [path.join("."), shape];
  else for (const [key, of] of [...inner, ...others]) yield* keysOf(of, [...path, key]);
}

const keys = [...keysOf(configShape)];
const pathOf = (key: string) => key.split(".");
const inspect = (key: string, value: unknown, unknownKeys: "warn" | "refuse") =>
  inspected({ table: withValueAt({}, pathOf(key), value), source: "-c", declared: "config", unknownKeys });

test("the keys without effect are exactly those of the table", () => {
  const idle = keys.filter(([, { noEffect }]) => noEffect).map(([key]) => key);
  expect(idle.toSorted()).toEqual(Object.keys(warning).toSorted());
});

describe.each(Object.entries(warning))("%s", (key, [value, works]) => {
  test("warns, and is refused by --strict-config", async () => {
    const { warnings } = await inspect(key, value, "warn");
    expect(warnings).toEqual([expect.stringMatching(/^-c: .* has no effect in agentcli\.$/)]);
    await expect(inspect(key, value, "refuse")).rejects.toThrow("has no effect in agentcli. Fix or remove it.");
  });

  test("is accepted as it always works", async () => {
    if (works !== undefined) expect((await inspect(key, works, "refuse")).warnings).toEqual([]);
  });
});

test("every other key is read by the program", () => {
  const sources = ["app-server", "cli", "host", "mcp", "models", "project", "workspace"].flatMap((name) =>
    filesIn(join(import.meta.dirname, "../..", name, "src")),
  );
  const code = sources.map((path) => readFileSync(path, "utf8")).join("\n");
  const unread = keys
    .filter(([, { noEffect }]) => !noEffect)
    .flatMap(([key]) =>
      pathOf(key)
        .filter((part) => part !== "any")
        .slice(-1),
    )
    .filter((name) => !new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(code));
  expect(unread).toEqual([]);
});

test("approval policies of older clients are read as on-request", async () => {
  for (const policy of ["on-failure", "untrusted"]) {
    const { table, warnings } = await inspect("approval_policy", policy, "warn");
    expect(table).toEqual({ approval_policy: "on-request" });
    expect(warnings).toEqual([`-c: approval_policy = "${policy}" is treated as "on-request".`]);
  }
});

const filesIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(directory, name));
