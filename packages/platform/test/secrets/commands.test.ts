// `platform secrets`: values come from standard input or a file, and no output has one.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseDotenv } from "../../src/secrets/dotenv.ts";
import { listSecrets, readValue, teamKeyOf } from "../../src/secrets/store.ts";
import { command, commandWith } from "../harness/command.ts";
import { type TestServer, testServer } from "../harness/platform.ts";

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await testServer({ roles: ["api"] });
  key = await server.key();
});
afterAll(() => server.close());

async function valuesOfTeam(): Promise<Record<string, string>> {
  const { db } = server.platform;
  const { id } = await db.selectFrom("teams").select("id").where("name", "=", "default").executeTakeFirstOrThrow();
  const rows = await listSecrets(db, { teamId: id, userId: null, environmentId: null });
  const teamKey = await teamKeyOf(server.platform, id);
  return Object.fromEntries(rows.map((row) => [row.name, readValue(teamKey, row)]));
}

const canary = "canary-cli-value";

test("a value is read from standard input or a file; a single line loses its end, several lines stay as they are", async () => {
  const pem = "-----BEGIN KEY-----\nline\n-----END KEY-----\n";
  writeFileSync(join(server.platform.settings.dataDirectory, "pem"), pem);
  const printed = [
    await commandWith(`${canary}\n`, server, ["secrets", "set", "FROM_INPUT"]),
    await command(server, "secrets", "set", "FROM_FILE", "--file", "pem"),
    await command(server, "secrets", "list"),
    await command(server, "secrets", "list", "--json"),
  ];
  expect(printed[0]).toMatch(/^FROM_INPUT {2}secret {2}run {2}all repositories {2}secv_\S{22} {2}set /);
  expect(await valuesOfTeam()).toMatchObject({ FROM_INPUT: canary, FROM_FILE: pem });
  expect(printed.join("\n")).not.toMatch(/canary|BEGIN KEY/);
  expect(await command(server, "secrets", "remove", "FROM_FILE")).toContain("Removed FROM_FILE.");
  await expect(command(server, "secrets", "remove", "FROM_FILE")).rejects.toThrow("There is no secret FROM_FILE");
});

test("a value that is too short to be redacted is set with a warning, a visible variable without one", async () => {
  const warning = "A value of fewer than 6 characters is not redacted";
  expect(await commandWith("12345\n", server, ["secrets", "set", "PIN"])).toContain(warning);
  expect(await commandWith("123456\n", server, ["secrets", "set", "PIN"])).not.toContain(warning);
  expect(await commandWith("12345\n", server, ["secrets", "set", "SWITCH", "--visible"])).not.toContain(warning);
});

test("a secret is bound to hosts, stays bound with its next value, and is released; other kinds of it are refused", async () => {
  const set = (value: string, ...flags: string[]) => commandWith(value, server, ["secrets", "set", "BOUND", ...flags]);
  const long = `${canary}-0123456789abcdef`;
  const bound = "placeholder, value for api.example.com:8443, *.example.org";
  expect(await set(long, "--hosts", "API.example.com:8443, *.example.org", "--uses", "sigv4,body")).toContain(bound);
  expect(await set(`${long}2`)).toContain(bound);
  await expect(set("short")).rejects.toThrow("value: a secret that is bound to hosts needs a placeholder");
  await expect(set(long, "--visible")).rejects.toThrow("hosts: only secrets for the commands of agents");
  await expect(set(long, "--phase", "both")).rejects.toThrow("hosts: only secrets for the commands of agents");
  await expect(set(long, "--hosts", "a.example,https://b")).rejects.toThrow("--hosts: entry 2 must look like");
  await expect(set(long, "--uses", "cookie")).rejects.toThrow("--uses: entry 1 must be bearer");
  expect(await command(server, "secrets", "list", "--json")).toContain('"uses": [\n      "sigv4",');
  expect(await set(long, "--hosts", "none")).not.toContain("placeholder");
});

test("a value as an argument, an empty one, and one that is too long are refused", async () => {
  await expect(command(server, "secrets", "set", `NAME=${canary}`)).rejects.toThrow("The value is not an argument");
  await expect(command(server, "secrets", "set", "NAME")).rejects.toThrow("The value is empty. Pipe it in");
  await expect(command(server, "secrets", "set", "NAME", "--file", "none")).rejects.toThrow("cannot be read");
  await expect(commandWith("x".repeat(4097), server, ["secrets", "set", "NAME"])).rejects.toThrow("1 to 4096 bytes");
  await expect(commandWith(canary, server, ["secrets", "set", "HTTP_PROXY"])).rejects.toThrow("is reserved");
});

test("a second version is added for other repositories, and the one to change is named by its id", async () => {
  const set = (...more: string[]) => commandWith(canary, server, ["secrets", "set", "VERSIONED", ...more]);
  const [, first = ""] = /(secv_\S+)/.exec(await set("--repos", "github.com/acme/api")) ?? [];
  await set("--add", "--repos", "github.com/acme/web");
  await expect(set()).rejects.toThrow(`--id ${first}  github.com/acme/api`);
  expect(await set("--id", first, "--visible")).toContain("VERSIONED  visible  run  github.com/acme/api");
  await expect(set("--add")).rejects.toThrow("is for github.com/acme/api already");
});

test("a secret can be of a user, of an environment, and say where it is available", async () => {
  const body = { owner: "team", name: "shop", repos: [], environmentJson: "{}" };
  const { id } = (await server.call(key, "POST", "/v1/environments", body)).body as { id: string };
  await commandWith(canary, server, ["secrets", "set", "OF_SHOP", "--environment", "shop", "--phase", "both"]);
  const { items } = (await server.call(key, "GET", `/v1/environments/${id}/secrets`)).body as { items: object[] };
  expect(items).toMatchObject([{ name: "OF_SHOP", type: "runtime_secret", phase: "both" }]);
  const [, email = ""] = /^(\S+@\S+)/m.exec(await command(server, "users", "list")) ?? [];
  await commandWith(canary, server, ["secrets", "set", "MINE", "--user", email]);
  expect((await server.call(key, "GET", "/v1/me/secrets")).body).toMatchObject({ items: [{ name: "MINE" }] });
  await expect(command(server, "secrets", "list", "--user", email, "--environment", "shop")).rejects.toThrow(
    "--user or --environment",
  );
});

test("a .env file is imported whole or not at all", async () => {
  const text = [
    "# comment",
    "export IMPORT_PLAIN=plain value # comment",
    "IMPORT_SINGLE='$not \\n expanded # kept'",
    'IMPORT_DOUBLE="two\\nlines \\"quoted\\""',
    'IMPORT_KEY="-----BEGIN KEY-----',
    "abc",
    '-----END KEY-----"',
    "IMPORT_EMPTY=",
  ].join("\n");
  const printed = await commandWith(text, server, ["secrets", "import"]);
  expect(printed.split("\n")).toEqual(["PLAIN", "SINGLE", "DOUBLE", "KEY"].map((name) => `IMPORT_${name}  new`));
  expect(await valuesOfTeam()).toMatchObject({
    IMPORT_PLAIN: "plain value",
    IMPORT_SINGLE: "$not \\n expanded # kept",
    IMPORT_DOUBLE: 'two\nlines "quoted"',
    IMPORT_KEY: "-----BEGIN KEY-----\nabc\n-----END KEY-----",
  });
  const bad = `GOOD_ONE=1\nHTTP_PROXY=${canary}\n`;
  await expect(commandWith(bad, server, ["secrets", "import"])).rejects.toThrow("line 2: HTTP_PROXY: is reserved");
  const variant = "GOOD_ONE=1\nimport_plain=2\n";
  await expect(commandWith(variant, server, ["secrets", "import"])).rejects.toThrow("differs from import_plain only");
  await expect(commandWith(`A=1\n${canary}`, server, ["secrets", "import"])).rejects.toThrow(
    /line 2: expected NAME=value/,
  );
  expect(await valuesOfTeam()).not.toHaveProperty("GOOD_ONE");
});

test("every value in double quotes is read as it was before quoting", () => {
  const quoted = (value: string) =>
    `"${value.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\r", "\\r")}"`;
  fc.assert(
    fc.property(fc.array(fc.string()), (values) => {
      const text = values.map((value, index) => `NAME_${index}=${quoted(value)}`).join("\n");
      expect(parseDotenv(text).map(({ value }) => value)).toEqual(values);
    }),
  );
});
