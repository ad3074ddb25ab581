import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { parseCommandLine } from "@agentcli/command-line";
import { temporaryRepository } from "@agentcli/testkit";
import { openHostPrograms } from "@agentcli/workspace";
import fc from "fast-check";
import { parse } from "smol-toml";
import { expect, onTestFinished, test } from "vitest";
import { run } from "../src/commands/config/show.ts";
import { choosePaint } from "../src/output/paint.ts";
import { humanReporter } from "../src/output/reporter.ts";
import { openWriter } from "../src/output/writer.ts";
import { syntax } from "../src/syntax.ts";

const numRuns = Number(process.env.FUZZ_RUNS ?? 200);

/** Layers from low to high, as files below the repository or as something on the command line. */
const layers = [
  { name: "system", file: "system/config.toml" },
  { name: "user", file: "home/config.toml" },
  { name: "profile", file: "home/ci.config.toml" },
  { name: "project", file: ".agentcli/config.toml" },
  { name: "inner project", file: "inner/.agentcli/config.toml" },
  { name: "-c" },
  { name: "flag" },
] as const;
type LayerName = (typeof layers)[number]["name"];

interface Key {
  path: string[];
  /** A value that names its layer. */
  value(layer: number): unknown;
  flag?(layer: number): string[];
  isForbiddenInProjects?: true;
}

const keys: Key[] = [
  { path: ["model"], value: (layer) => `model ${layer}`, flag: (layer) => ["--model", `model ${layer}`] },
  { path: ["limits", "idle"], value: (layer) => `${layer}s`, flag: (layer) => ["--limit", `idle=${layer}s`] },
  { path: ["limits", "wall"], value: (layer) => `${layer}m`, flag: (layer) => ["--limit", `wall=${layer}m`] },
  { path: ["model_context_window"], value: (layer) => layer + 1 },
  { path: ["model_reasoning_effort"], value: (layer) => `effort "${layer}"` },
  { path: ["tui", "colours", "deep"], value: (layer) => [layer] },
  { path: ["model_providers", "mine", "name"], value: (layer) => `name ${layer}`, isForbiddenInProjects: true },
];

type Entries = { key: number; layer: number }[];
const anyEntries = fc.uniqueArray(fc.record({ key: fc.nat(keys.length - 1), layer: fc.nat(layers.length - 1) }), {
  selector: ({ key, layer }) => `${key} ${layer}`,
  maxLength: 25,
});

test("config show --origin always names the layer that wins", async () => {
  const fixture = await openFixture();
  await fc.assert(
    fc.asyncProperty(anyEntries, fc.boolean(), fc.boolean(), async (entries, isTrusted, isIgnored) => {
      fixture.write(entries);
      const switches = [...(isTrusted ? ["--trust-project"] : []), ...(isIgnored ? ["--ignore-user-config"] : [])];
      const shown = await fixture.show([...commandLine(entries), "--profile", "ci", ...switches]);
      for (const [index, key] of keys.entries()) {
        const winner = winnerOf(index, entries, { isTrusted, isIgnored });
        const line = shown.split("\n").find((candidate) => candidate.startsWith(`${key.path.join(".")} = `));
        if (winner === undefined) expect(line ?? "# default").toMatch(/# default$/);
        else
          expect(line).toBe(`${key.path.join(".")} = ${inToml(key.value(winner))}  # ${fixture.origin(winner, key)}`);
      }
    }),
    { numRuns },
  );
});

test("the output is TOML with the same values", async () => {
  const fixture = await openFixture();
  const shown = await fixture.show(["-c", 'tui={ "a b"=[{ x=1.5 }], when=2026-01-01T00:00:00Z, none={} }', "--origin"]);
  expect(parse(shown)).toMatchObject({
    sandbox_mode: "read-only",
    tui: { "a b": [{ x: 1.5 }], when: new Date("2026-01-01T00:00:00Z"), none: {} },
  });
});

test("secrets are masked, names of variables are not", async () => {
  const fixture = await openFixture();
  writeFileSync(
    join(fixture.root, "home/config.toml"),
    `[model_providers.a]
env_key = "MY_KEY"
base_url = "https://me:hunter2@models.example/v1"
http_headers = { Authorization = "Bearer s3cret", X-Api-Key = "s3cret", X-Team = "blue" }
query_params = { token = "s3cret" }
env_http_headers = { X-Token = "TOKEN_VARIABLE" }
[mcp_servers.b]
bearer_token_env_var = "B_TOKEN"
env = { DB_PASSWORD = "s3cret" }
[shell_environment_policy]
set = { GITHUB_TOKEN = "s3cret" }
`,
  );
  for (const format of [["--origin"], ["--json"]]) {
    const shown = await fixture.show(format);
    expect(shown).not.toMatch(/s3cret|hunter2/);
    for (const name of ["MY_KEY", "blue", "TOKEN_VARIABLE", "B_TOKEN", "https://me:"]) expect(shown).toContain(name);
  }
});

const inToml = (value: unknown): string => (Array.isArray(value) ? `[${value}]` : JSON.stringify(value));

function winnerOf(
  key: number,
  entries: Entries,
  { isTrusted, isIgnored }: Record<string, boolean>,
): number | undefined {
  const counts = (name: LayerName) => {
    if (name === "project" || name === "inner project") return isTrusted && !keys[key]?.isForbiddenInProjects;
    if (name === "user" || name === "profile") return !isIgnored;
    return name !== "flag" || keys[key]?.flag !== undefined;
  };
  const setIn = entries.filter((entry) => entry.key === key).map(({ layer }) => layer);
  return setIn.filter((layer) => counts(layers[layer]?.name as LayerName)).sort((a, b) => b - a)[0];
}

function commandLine(entries: Entries): string[] {
  return entries.flatMap(({ key: index, layer }) => {
    const { path, value, flag } = keys[index] as Key;
    if (layers[layer]?.name === "-c") return ["-c", `${path.join(".")}=${inToml(value(layer))}`];
    return layers[layer]?.name === "flag" ? (flag?.(layer) ?? []) : [];
  });
}

async function openFixture() {
  const repository = await temporaryRepository();
  onTestFinished(repository.remove);
  const root = repository.path;
  for (const folder of ["system", "home", ".agentcli", "inner/.agentcli"])
    mkdirSync(join(root, folder), { recursive: true });
  const write = (entries: Entries) => {
    for (const [layer, source] of layers.entries()) {
      if (!("file" in source)) continue;
      const lines = entries
        .filter((entry) => entry.layer === layer)
        .map(({ key }) => `${keys[key]?.path.join(".")} = ${inToml(keys[key]?.value(layer))}\n`);
      rmSync(join(root, source.file), { force: true });
      if (lines.length > 0 || source.name === "profile") writeFileSync(join(root, source.file), lines.join(""));
    }
  };
  const origin = (layer: number, { path }: Key) => {
    const source = layers[layer];
    if (source && "file" in source) return join(root, source.file);
    return source?.name === "-c" ? "-c" : path[0] === "model" ? "--model" : "--limit";
  };
  return { root, write, origin, show: (args: string[]) => show(args, root) };
}

async function show(args: string[], root: string): Promise<string> {
  const line = parseCommandLine(["config", "show", "--origin", ...args], syntax);
  if (line.kind !== "command") throw new Error("config show is a command");
  const quiet = openWriter(new PassThrough().resume(), () => {});
  let printed = "";
  await run(line.invocation, {
    environment: {
      variables: {},
      agentHome: join(root, "home"),
      userHome: root,
      systemDirectory: join(root, "system"),
      cwd: join(root, "inner"),
      programs: openHostPrograms({ path: process.env.PATH, home: root, untrusted: [] }),
    },
    reporter: humanReporter({ out: quiet, err: quiet }, { paint: choosePaint("never", {}), version: "0" }),
    print: async (text) => {
      printed += text;
    },
    scrub: (text) => text,
    syntax: async () => syntax,
    version: "0",
    directory: root,
    signal: new AbortController().signal,
  });
  return printed;
}
