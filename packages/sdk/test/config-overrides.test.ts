import fc from "fast-check";
import { parse } from "smol-toml";
import { expect, test } from "vitest";
import { readOverrides } from "../../project/src/config/overrides.ts";
import type { Table } from "../../project/src/config/table.ts";
import { type ConfigObject, type ConfigValue, configOverrides } from "../src/config-overrides.ts";

test("nested tables become dotted keys with TOML values", () => {
  expect(
    configOverrides({
      model: "gpt",
      sandbox_workspace_write: { network_access: true, writable_roots: ["/a", "/b"] },
      "agents.max_concurrent_threads_per_session": 3,
      features: {},
      nothing: undefined,
      prices: { "gpt-5.4": { input: 1.5 } },
    }),
  ).toEqual([
    'model="gpt"',
    "sandbox_workspace_write.network_access=true",
    'sandbox_workspace_write.writable_roots=["/a", "/b"]',
    "agents.max_concurrent_threads_per_session=3",
    "features={}",
    'prices={"gpt-5.4" = {"input" = 1.5}}',
  ]);
});

test.each([
  [{ a: null }, "config a is null"],
  [{ a: { b: Number.NaN } }, "config a.b is NaN"],
  [{ a: [1, Number.POSITIVE_INFINITY] }, "config a[1] is Infinity"],
  [{ a: [undefined] }, "config a[0] is undefined"],
  [{ a: new Date(0) }, "which has no TOML form"],
  [{ "": 1 }, 'config key ""'],
  [{ "a..b": 1 }, 'config key "a..b"'],
  [{ "a=b": 1 }, 'config key "a=b"'],
  [{ a: "\ud800" }, "half of a surrogate pair"],
])("%j is refused", (config, message) => {
  expect(() => configOverrides(config as unknown as ConfigObject)).toThrow(message);
});

test("the program reads the overrides back to the same table", () => {
  const text = fc.string({ unit: "grapheme" });
  const key = fc.oneof(text, fc.constantFrom("a", "b.c", "__proto__", "constructor", " x", "=", "", "\u007f"));
  const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
  const { value } = fc.letrec<{ value: ConfigValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      number,
      fc.boolean(),
      fc.array(tie("value")),
      fc.dictionary(key, tie("value"), { noNullPrototype: true }),
    ),
  }));
  const top = text.filter((name) => name !== "" && name.trim() === name && !/[.=]/.test(name));
  fc.assert(
    fc.property(fc.dictionary(top, value, { noNullPrototype: true }), (config) => {
      const readBack = readOverrides(configOverrides(config as ConfigObject), (toml) => parse(toml) as Table);
      expect(comparable(readBack)).toEqual(comparable(config));
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
  );
});

/** Without differences that TOML does not keep: the sign of zero, and the prototypes of tables. */
function comparable(value: unknown): unknown {
  if (Object.is(value, -0)) return 0;
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== "object" || value === null) return value;
  return new Map(
    Object.entries(value)
      .map(([key, inner]): [string, unknown] => [key, comparable(inner)])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
