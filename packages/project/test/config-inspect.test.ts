import type { Shape } from "@agentcli/protocol";
import { configShape } from "@agentcli/protocol/config-shapes";
import Ajv from "ajv/dist/2020.js";
import fc from "fast-check";
import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";
import schema from "../../protocol/generated/config.schema.json" with { type: "json" };
import { inspect } from "../src/config/inspect.ts";
import { parseOverride, readOverrides } from "../src/config/overrides.ts";
import { leavesOf, mergeTables, type Table, withoutValueAt, withValueAt } from "../src/config/table.ts";

const numRuns = Number(process.env.FUZZ_RUNS ?? 200);
const isValid = new Ajv({ strict: false, validateFormats: false }).compile(schema);

/** All declared keys; a sample name where any key is allowed. */
function* pathsOf(shape: Shape, path: string[] = []): Generator<string[]> {
  if (path.length > 0) yield path;
  for (const [key, inner] of Object.entries(shape.properties ?? {})) yield* pathsOf(inner, [...path, key]);
  if (shape.additionalProperties) yield* pathsOf(shape.additionalProperties, [...path, "any id"]);
}

const keys = [...pathsOf(configShape)];
const value = fc.oneof(
  fc.constantFrom("read-only", "never", "10m", "off", "trusted", "chat", "auto", "", 0, 1, -1, 101, 0.5, true, false),
  fc.jsonValue({ maxDepth: 2 }),
);
const table = fc
  .array(fc.tuple(fc.constantFrom(...keys), value), { maxLength: 6 })
  .map((entries) => entries.reduce<Table>((result, [path, value]) => withValueAt(result, path, value), {}));

test("inspection and the published schema reject the same values", () => {
  fc.assert(
    fc.property(table, (candidate) => {
      expect(inspect(candidate, "config").wrong.length === 0).toBe(isValid(candidate));
    }),
    { numRuns: numRuns * 5 },
  );
});

test("inspecting any file never fails and names only existing keys", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.anything(), { maxKeys: 8 }), (candidate) => {
      for (const { path } of inspect(candidate, "config").unknown)
        expect(Object.hasOwn(candidate, path[0] ?? "")).toBe(true);
    }),
    { numRuns },
  );
});

test("keys of the object prototype are unknown like any other", () => {
  const candidate = parse('constructor = 1\n"__proto__" = 2\n[limits]\ntoString = "1s"\n');
  expect(inspect(candidate, "config").unknown.map(({ path }) => path.join("."))).toEqual([
    "constructor",
    "__proto__",
    "limits.toString",
  ]);
});

test.each([
  [
    'sandbox_mode = "readonly"',
    'sandbox_mode must be one of read-only, workspace-write, danger-full-access, not "readonly"',
  ],
  ["model = 3", "model must be string, not a number"],
  ['limits.idle = "soon"', 'limits.idle must be a duration such as 500ms, 30s, 10m, 1h, or off, not "soon"'],
  ["model_providers.a.request_max_retries = 101", "model_providers.a.request_max_retries must be 100 or less, not 101"],
  ["model_context_window = 0", "model_context_window must be more than 0, not 0"],
  ['sandbox_workspace_write = "on"', "sandbox_workspace_write must be a table, not text"],
  [
    "sandbox_workspace_write.writable_roots = [1]",
    "sandbox_workspace_write.writable_roots.0 must be string, not a number",
  ],
  ['projects."/a b".trust_level = "yes"', 'projects."/a b".trust_level must be one of trusted, untrusted, not "yes"'],
  ["limits = []", "limits must be a table, not a list"],
  ["notify = 2026-01-01", "notify must be a list, not a date"],
])("%s is reported with a readable message", (text, sentence) => {
  expect(inspect(parse(text), "config").wrong).toMatchObject([{ message: sentence }]);
});

describe("unknown keys", () => {
  test("the nearest known key of the same table is suggested", () => {
    const found = inspect(parse('modle = "x"\n[limits]\nfirst-bite = "1s"\n[features]\nhook = true\n'), "config");
    expect(found).toEqual({
      wrong: [],
      unknown: [
        { path: ["modle"], meant: "model" },
        { path: ["limits", "first-bite"], meant: "first-byte" },
        { path: ["features", "hook"], meant: "hooks" },
      ],
      idle: [],
    });
  });

  test("tables with free names accept any name, but not any member", () => {
    const found = inspect(
      parse('[agents.tester]\ndescription = "tests"\nmodle = "x"\n[tui.anything]\ngoes = 1\n'),
      "config",
    );
    expect(found.unknown.map(({ path }) => path)).toEqual([["agents", "tester", "modle"]]);
  });
});

describe("-c", () => {
  test.each([
    ["model=gpt", ["model"], "gpt"],
    ['model = "a=b"', ["model"], "a=b"],
    ["a.b.c=[1, 2]", ["a", "b", "c"], [1, 2]],
    ["x={ y = true }", ["x"], { y: true }],
    ["x='it'", ["x"], "it"],
    ["x=it's", ["x"], "it's"],
    ["x=", ["x"], ""],
    ["x=1\ny=2", ["x"], "1\ny=2"],
  ])("%j", (override, path, expected) => {
    expect(parseOverride(override, parse)).toEqual({ path, value: expected });
  });

  test("later ones win, and a value on the path is replaced by a table", () => {
    expect(readOverrides(["a=1", "a.b=2", "a.c=3", "a.b=4"], parse)).toEqual({ a: { b: 4, c: 3 } });
  });

  test("any text is accepted or rejected with a message that names it", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          readOverrides([text], parse);
        } catch (error) {
          expect(error).toMatchObject({ name: "ConfigError", message: expect.stringContaining(text) });
        }
      }),
      { numRuns },
    );
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test("no key reaches the prototype of objects", () => {
    const table = mergeTables(
      { a: {} },
      readOverrides(["__proto__.polluted=1", "constructor.prototype.polluted=1"], parse),
    );
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(Object.keys(table)).toEqual(["a", "__proto__", "constructor"]);
  });
});

test("leaves rebuild their table, and removing all of them leaves only empty tables", () => {
  fc.assert(
    fc.property(table, (original) => {
      const leaves = [...leavesOf(original)];
      expect(leaves.reduce<Table>((result, { path, value }) => withValueAt(result, path, value), {})).toEqual(original);
      const emptied = leaves.reduce<Table>((result, { path }) => withoutValueAt(result, path), original);
      for (const leaf of leavesOf(emptied)) expect(leaf.value).toEqual({});
    }),
    { numRuns },
  );
});
