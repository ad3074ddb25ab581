import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import fc from "fast-check";
import { parse, stringify } from "smol-toml";
import { describe, expect, onTestFinished, test } from "vitest";
import { noRequirements } from "../src/config/requirements.ts";
import { withoutValueAt, withValueAt } from "../src/config/table.ts";
import { editToml } from "../src/config/toml-edit.ts";
import { type ConfigEdit, fileVersion, writeConfig } from "../src/config/write.ts";

const edit = (text: string, path: string[], value: unknown) => editToml(text, [{ path, value }], parse);

describe("an edited TOML text", () => {
  test("keeps comments, order and layout around a changed value", () => {
    const text = '# mine\nmodel   = "a" # the good one\n\n[limits]\nidle = "1s"\n# last\n';
    expect(edit(text, ["model"], "b")).toBe('# mine\nmodel   = "b" # the good one\n\n[limits]\nidle = "1s"\n# last\n');
    expect(edit(text, ["limits", "idle"], "2s")).toBe(text.replace('"1s"', '"2s"'));
  });

  test("adds a new key after those of its table, or before the first table", () => {
    const text = '# mine\n\n# waits\n[limits]\nidle = "1s"\n\n[tui]\n';
    expect(edit(text, ["limits", "wall"], "1m")).toBe(
      '# mine\n\n# waits\n[limits]\nidle = "1s"\nwall = "1m"\n\n[tui]\n',
    );
    expect(edit(text, ["model"], "x")).toBe(
      `# mine\n\nmodel = "x"\n\n# waits${text.slice(text.indexOf("\n[limits]"))}`,
    );
    expect(edit("", ["model"], "x")).toBe('model = "x"\n');
    expect(edit('model = "a"', ["limits", "idle"], "1s")).toBe('model = "a"\n\n[limits]\nidle = "1s"\n');
  });

  test("extends inline tables and dotted keys in their own form", () => {
    expect(edit('limits = { idle = "1s" } # both\n', ["limits", "wall"], "2m")).toBe(
      'limits = { idle = "1s", wall = "2m" } # both\n',
    );
    expect(edit('limits.idle = "1s"\nmodel = "a"\n', ["limits", "wall"], "2m")).toBe(
      'limits.idle = "1s"\nlimits.wall = "2m"\nmodel = "a"\n',
    );
  });

  test("removes a key, or a table with its content, and nothing else", () => {
    const text =
      'model = "a"\n\n# one\n[mcp_servers.one]\ncommand = "x" # it\n\n# inner\n[mcp_servers.one.env]\nA = "1"\n\n[tui]\n';
    expect(edit(text, ["model"], undefined)).toBe(text.slice('model = "a"\n\n'.length));
    const rest = edit(text, ["mcp_servers", "one"], undefined);
    expect(parse(rest)).toEqual({ model: "a", tui: {} });
    expect(rest).toContain("# one");
  });

  test("preserves multi-line values, quoted keys and Windows line ends", () => {
    const text = 'a = """\n[no]\n\\"""" # x\nb = [ # [\n  "]",\n]\n"c \\u0041" = \'#\'\n[d]\n';
    expect(parse(edit(text, ["c A"], 1))).toMatchObject({ "c A": 1, a: '[no]\n"""'.slice(0, -2) });
    expect(edit(text, ["b"], [2])).toContain('b = [2]\n"c');
    expect(edit("a = 1\r\n[b]\r\nc = 1\r\n", ["b", "d"], 2)).toBe("a = 1\r\n[b]\r\nc = 1\r\nd = 2\r\n");
  });

  test("is rejected inside a list, which can only be written as a whole", () => {
    const text = "[[skills.config]]\nname = 'a'\n\n[[skills.config]]\nname = 'b'\n";
    expect(() => edit(text, ["skills", "config", "name"], "c")).toThrow("skills.config is a list");
    expect(parse(edit(text, ["skills", "config"], [{ name: "c" }]))).toEqual({ skills: { config: [{ name: "c" }] } });
  });

  test("has exactly the requested meaning, for any edit", () => {
    const key = fc.constantFrom("a", "b", "c d", "e.f", 'g"', "#");
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string(), { maxLength: 3 }));
    const table = fc.letrec((tie) => ({
      table: fc.dictionary(key, fc.oneof({ depthSize: "small" }, leaf, tie("table")), { maxKeys: 4 }),
    })).table as fc.Arbitrary<Record<string, unknown>>;
    const path = fc.array(key, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(table, path, fc.option(leaf, { nil: undefined }), (before, where, value) => {
        const text = stringify(before);
        let edited: string;
        try {
          edited = edit(text, where, value);
        } catch (error) {
          expect((error as Error).message).toContain("is a list");
          return;
        }
        const wanted = value === undefined ? withoutValueAt(before, where) : withValueAt(before, where, value);
        expect(withoutEmpty(parse(edited))).toEqual(withoutEmpty(wanted));
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
    );
  });
});

const withoutEmpty = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, withoutEmpty(inner)] as const);
  return Object.fromEntries(entries.filter(([, inner]) => JSON.stringify(inner) !== "{}"));
};

async function configFile(text?: string) {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  const path = join(directory.path, "config.toml");
  if (text !== undefined) writeFileSync(path, text);
  const write = (edits: Partial<ConfigEdit>[], more = {}) =>
    writeConfig({
      path,
      edits: edits.map((one) => ({ key: "", value: null, merge: "replace", ...one })),
      expectedVersion: undefined,
      requirements: noRequirements,
      ...more,
    });
  return { path, write, text: () => readFileSync(path, "utf8") };
}

describe("a configuration file", () => {
  test("is created where it is missing, for its owner only", async () => {
    const file = await configFile();
    const written = await file.write([
      { key: "model", value: "x" },
      { key: "limits.idle", value: "3s" },
    ]);
    expect(file.text()).toBe('model = "x"\n\n[limits]\nidle = "3s"\n');
    expect(statSync(file.path).mode & 0o777).toBe(0o600);
    expect(written).toMatchObject({ kind: "written", version: fileVersion(file.path) });
  });

  test("keeps the keys of a table with upsert, and loses them with replace", async () => {
    const file = await configFile('[limits]\nidle = "1s"\n');
    await file.write([{ key: "limits", value: { wall: "1m" }, merge: "upsert" }]);
    expect(parse(file.text())).toEqual({ limits: { idle: "1s", wall: "1m" } });
    await file.write([{ key: "limits", value: { wall: "2m" } }]);
    expect(parse(file.text())).toEqual({ limits: { wall: "2m" } });
    await file.write([{ key: "limits.wall" }]);
    expect(parse(file.text())).toEqual({ limits: {} });
  });

  test("that has changed since it was read is not written", async () => {
    const file = await configFile('model = "a"\n');
    const expectedVersion = fileVersion(file.path);
    expect(await file.write([{ key: "model", value: "b" }], { expectedVersion })).toMatchObject({ kind: "written" });
    const late = await file.write([{ key: "model", value: "c" }], { expectedVersion });
    expect(late).toMatchObject({ kind: "refused", reason: "version-conflict" });
    expect(file.text()).toBe('model = "b"\n');
  });

  test("rejects invalid values, unknown keys and values that are not allowed, and is not changed", async () => {
    const before = 'model = "a"\nold_key = 1\n';
    const file = await configFile(before);
    const requirements = {
      ...noRequirements,
      rules: [{ key: ["sandbox_mode"], allowed: ["read-only"], name: "allowed_sandbox_modes", paths: ["/r"] }],
    };
    const cases: [Partial<ConfigEdit>, string, string][] = [
      [{ key: "sandbox_mode", value: "loose" }, "invalid", "sandbox_mode must be one of"],
      [{ key: "limits.idle", value: "soon" }, "invalid", "limits.idle must be a duration"],
      [{ key: "modle", value: "x" }, "unknown-key", "There is no key modle. Did you mean model?"],
      [{ key: "model..x", value: "x" }, "invalid", "is not a key"],
      [{ key: "model", value: { a: null } }, "invalid", "TOML cannot say"],
      [{ key: "sandbox_mode", value: "danger-full-access" }, "not-allowed", "allowed_sandbox_modes"],
    ];
    for (const [one, reason, message] of cases) {
      const refused = await file.write([{ key: "review_model", value: "r" }, one], { requirements });
      expect(refused).toMatchObject({ kind: "refused", reason, message: expect.stringContaining(message) });
    }
    expect(file.text()).toBe(before);
    expect(await file.write([{ key: "model", value: "b" }])).toMatchObject({ kind: "written" });
  });

  test("that is not TOML is named and not changed", async () => {
    const file = await configFile("model = \n");
    expect(await file.write([{ key: "model", value: "b" }])).toMatchObject({ kind: "refused", reason: "invalid" });
    expect(file.text()).toBe("model = \n");
  });
});
