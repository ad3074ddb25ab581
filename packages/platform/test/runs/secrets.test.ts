// Redaction of conversations: every variable of a run except common words.
import { scrubber } from "@agentcli/engine";
import fc from "fast-check";
import { expect, test } from "vitest";
import { secretsIn } from "../../src/runs/execution/secrets.ts";

const runs = Number(process.env.FUZZ_RUNS ?? 200);
const shown = (variables: Record<string, string>, text: string): string => scrubber(secretsIn(variables))(text);

test.each([
  ["NODE_ENV", "production"],
  ["RAILS_ENV", "development"],
  ["CI_DEBUG", "enabled"],
  ["LANG", "en_US.UTF-8"],
  ["NODE_VERSION", "20.20.1"],
  ["API_URL", "http://localhost:3000"],
  ["PREFIX", "/usr/local"],
  ["DB_KIND", "postgresql"],
])("%s=%s is not redacted", (name, value) => {
  expect(shown({ [name]: value }, `It is ${value}.`)).toBe(`It is ${value}.`);
});

test.each([
  ["API_KEY", "production"],
  ["PGPASSWORD", "postgres"],
  ["SESSION", "localhost"],
  ["PLAIN", "hunter2"],
  ["PLAIN", "true1234"],
  ["PLAIN", "correcthorse"],
  ["PLAIN", "correct horse battery staple"],
  ["PLAIN", "123456"],
  ["PLAIN", "production1"],
  ["PLAIN", "http://localhost:3000/hook/a8f2"],
  ["PLAIN", "/usr/local/k3y"],
])("%s=%s is redacted", (name, value) => {
  expect(shown({ [name]: value }, `It is ${value}.`)).toBe(`It is [REDACTED].`);
});

test("parts that programs extract from a value are redacted too", () => {
  const line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC";
  const pem = `-----BEGIN PRIVATE KEY-----\n${line}\n-----END PRIVATE KEY-----\n`;
  expect(shown({ A: "postgres://me:p%40ssword@db.example/x" }, "the word is p@ssword or p%40ssword")).not.toMatch(
    /ssword/,
  );
  expect(shown({ A: pem }, `> ${line}`)).toBe("> [REDACTED]");
  const account = JSON.stringify({ client: "a-long-client-name", private_key: pem });
  expect(shown({ A: account }, `> ${line} a-long-client-name`)).toBe("> [REDACTED] [REDACTED]");
});

test("any other value is redacted", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[ -~]{2,20}[a-z][0-9][A-Z][ -~]{1,20}$/), (secret) => {
      expect(shown({ PLAIN: secret }, `<${secret}>`)).not.toContain(secret);
    }),
    { numRuns: runs },
  );
});
