import { chmodSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProvider } from "@agentcli/models";
import { temporaryDirectory } from "@agentcli/testkit";
import { jwt } from "@agentcli/testkit/oauth";
import { openHostPrograms } from "@agentcli/workspace";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { readAuthFile, removeAuthFile, writeAuthFile } from "../src/credentials/auth-file.ts";
import { describeCredential } from "../src/credentials/describe.ts";
import { type CredentialSearch, findCredential, keyOf } from "../src/credentials/find.ts";
import { maskSecret } from "../src/credentials/mask.ts";
import { jwtExpiryMs, renewing } from "../src/credentials/token.ts";

const runs = Number(process.env.FUZZ_RUNS ?? 200);

async function search(changes: Partial<CredentialSearch> = {}, variables: Record<string, string> = {}) {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const logged: string[] = [];
  const environment = {
    variables,
    agentHome: home.path,
    userHome: home.path,
    systemDirectory: "/nowhere",
    cwd: home.path,
    programs: openHostPrograms({ path: process.env.PATH, home: home.path, untrusted: [] }),
  };
  const found: CredentialSearch & { logged: string[]; home: string } = {
    providerId: "openai",
    provider: findProvider("openai", {}, variables),
    auth: undefined,
    environment,
    log: (line) => void logged.push(line),
    logged,
    home: home.path,
    ...changes,
  };
  return found;
}

const identity = { token_endpoint: "https://sts.example.com/token", audience: "models" };
const key = "sk-abcdefghijklmnopqrstuvwxyz";

describe("the order of credentials", () => {
  const all = { MINE: "from-mine", AGENT_API_KEY: "from-agent" };
  const withKey = { base_url: "http://x", env_key: "MINE", requires_openai_auth: true };

  test("env_key comes first, then AGENT_API_KEY, auth.json and workload identity", async () => {
    const open = { provider: withKey, auth: { workload_identity: identity } };
    expect(await findCredential(await search(open, all))).toMatchObject({ source: "env_key", key: "from-mine" });
    const { AGENT_API_KEY } = all;
    expect(await findCredential(await search(open, { AGENT_API_KEY }))).toMatchObject({ source: "AGENT_API_KEY" });
    const saved = await search(open);
    writeAuthFile(saved.home, { auth_mode: "api_key", AGENT_API_KEY: key });
    expect(await findCredential(saved)).toMatchObject({ source: "saved-key", key });
    removeAuthFile(saved.home);
    expect(await findCredential(saved)).toEqual({ source: "workload-identity", identity });
  });

  test("a blank variable counts as none", async () => {
    expect(await findCredential(await search({ provider: withKey }, { MINE: " ", AGENT_API_KEY: "\n" }))).toEqual({
      source: "none",
    });
  });

  test("the saved login and workload identity are only for providers that ask for them", async () => {
    const other = await search({
      providerId: "mine",
      provider: { base_url: "http://x" },
      auth: { workload_identity: identity },
    });
    writeAuthFile(other.home, { AGENT_API_KEY: key });
    expect(await findCredential(other)).toEqual({ source: "none" });
  });

  test.each(["ollama", "lmstudio"])("%s is never sent a key of another provider", async (providerId) => {
    const local = await search({ providerId, provider: findProvider(providerId, {}, {}) }, all);
    expect(await findCredential(local)).toEqual({ source: "none" });
    expect(keyOf({ source: "none" }, local)).toBeUndefined();
  });

  test("tokens are used as they are where there is no endpoint to renew them", async () => {
    const saved = await search();
    const tokens = { access_token: jwt(-100), refresh_token: "r" };
    writeAuthFile(saved.home, { auth_mode: "account", AGENT_API_KEY: null, tokens });
    const credential = await findCredential(saved);
    expect(credential).toMatchObject({ source: "saved-account" });
    expect(keyOf(credential, saved)).toBe(tokens.access_token);
  });

  test("auth_mode decides where a file holds both a key and tokens", async () => {
    const saved = await search();
    const both = { AGENT_API_KEY: key, tokens: { access_token: jwt(100) } };
    writeAuthFile(saved.home, { auth_mode: "api_key", ...both });
    expect(await findCredential(saved)).toMatchObject({ source: "saved-key" });
    writeAuthFile(saved.home, { auth_mode: "account", ...both });
    expect(await findCredential(saved)).toMatchObject({ source: "saved-account" });
  });
});

describe("auth.json", () => {
  test("is written whole, for its owner alone, and leaves no draft", async () => {
    const { home } = await search();
    writeAuthFile(home, { AGENT_API_KEY: "one" });
    chmodSync(join(home, "auth.json"), 0o644);
    writeAuthFile(home, { AGENT_API_KEY: "two", extra: { kept: true } });
    expect(statSync(join(home, "auth.json")).mode & 0o777).toBe(0o600);
    expect(readdirSync(home)).toEqual(["auth.json"]);
    expect((await readAuthFile(home))?.content).toEqual({ AGENT_API_KEY: "two", extra: { kept: true } });
  });

  test("that others can read is used with a warning", async () => {
    const saved = await search();
    writeAuthFile(saved.home, { AGENT_API_KEY: key });
    chmodSync(join(saved.home, "auth.json"), 0o644);
    expect(await findCredential(saved)).toMatchObject({ source: "saved-key" });
    expect(saved.logged.join()).toMatch(/can be read by others \(mode 644\).*chmod 600/);
  });

  test.each([
    ["not JSON", `{"AGENT_API_KEY": "${key}"`, "it is not JSON"],
    ["a list", "[]", "must be object"],
    ["a key that is not text", '{"AGENT_API_KEY": 5}', "AGENT_API_KEY must be string"],
    ["tokens without an access token", '{"tokens": {}}', "tokens must have required property 'access_token'"],
    ["nothing in it", "{}", "neither a key nor an account"],
  ])("that is damaged (%s) is a clear error with exit code 3", async (_, text, message) => {
    const saved = await search();
    writeFileSync(join(saved.home, "auth.json"), text, { mode: 0o600 });
    const error = await findCredential(saved).catch((thrown) => thrown);
    expect(error).toMatchObject({ exit: "auth" });
    expect(error.message).toContain(message);
    expect(error.message).not.toContain(key);
  });

  test("removing it says whether it was there", async () => {
    const { home } = await search();
    expect(removeAuthFile(home)).toBe("absent");
    writeAuthFile(home, { AGENT_API_KEY: key });
    expect(removeAuthFile(home)).toBe("removed");
    expect(await readAuthFile(home)).toBeNull();
  });

  test("whatever is in it, reading it gives a login or an error with exit code 3, never the secret", async () => {
    const saved = await search();
    const secret = "sk-THE-SECRET-ITSELF-0123456789";
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string(), fc.json(), fc.constant(`{"AGENT_API_KEY":["${secret}"]}`)),
        async (text) => {
          writeFileSync(join(saved.home, "auth.json"), text, { mode: 0o600 });
          const outcome = await findCredential(saved).catch((error) => error);
          if (!(outcome instanceof Error)) return expect(outcome.source).toMatch(/^saved-/);
          expect(outcome).toMatchObject({ exit: "auth" });
          expect(outcome.message).not.toContain(secret);
        },
      ),
      { numRuns: runs },
    );
  });
});

describe("tokens with an end", () => {
  const fixed = (token: string, expiresInMs: number | null) => ({
    token,
    expiresAtMs: expiresInMs === null ? null : Date.now() + expiresInMs,
  });

  test("one is fetched once and kept until a minute before its end", async () => {
    const fetched: string[] = [];
    const source = renewing(null, async () => {
      fetched.push("x");
      return fixed(`token-${fetched.length}`, 61_000);
    });
    expect(await Promise.all([source(), source(), source()])).toEqual(["token-1", "token-1", "token-1"]);
    expect(await source()).toBe("token-1");
    expect(fetched).toHaveLength(1);
  });

  test("one in its last minute is replaced, and one that was refused", async () => {
    let number = 0;
    const source = renewing(fixed("old", 59_000), async () => fixed(`new-${++number}`, null));
    expect(await source()).toBe("new-1");
    expect(await source("old")).toBe("new-1");
    expect(await source("new-1")).toBe("new-2");
  });

  test("a failed exchange does no harm while the old one holds, and is reported after it", async () => {
    const fail = async () => {
      throw new Error("no");
    };
    expect(await renewing(fixed("old", 30_000), fail)()).toBe("old");
    await expect(renewing(fixed("old", -1), fail)()).rejects.toThrow("no");
    await expect(renewing(fixed("old", 30_000), fail)("old")).rejects.toThrow("no");
  });

  test("the end is read from a JSON Web Token, and any other text has none", () => {
    const payload = Buffer.from('{"exp":1900000000}').toString("base64url");
    expect(jwtExpiryMs(`a.${payload}.c`)).toBe(1_900_000_000_000);
    const any = fc.oneof(
      fc.string(),
      fc.json().map((text) => `a.${Buffer.from(text).toString("base64url")}.c`),
    );
    fc.assert(
      fc.property(any, (text) => {
        const expiryMs = jwtExpiryMs(text);
        expect(expiryMs === null || Number.isFinite(new Date(expiryMs).getTime())).toBe(true);
      }),
      { numRuns: runs },
    );
  });
});

describe("the description of a credential", () => {
  test("a long key keeps its ends, a short one nothing", () => {
    expect(maskSecret(key)).toBe("sk-abc***xyz");
    expect(maskSecret("short-key")).toBe("***");
  });

  test("the source is named and the secret is not", () => {
    const tokens = { access_token: jwt(3_600), refresh_token: "refresh-secret" };
    const shown = [
      describeCredential({ source: "env_key", variable: "MINE", key }),
      describeCredential({ source: "saved-key", path: "/home/auth.json", key }),
      describeCredential({ source: "saved-account", path: "/home/auth.json", tokens }),
      describeCredential({ source: "workload-identity", identity }),
    ];
    expect(shown.map((description) => description?.source)).toEqual([
      "environment variable MINE",
      "/home/auth.json",
      "/home/auth.json",
      "workload identity",
    ]);
    for (const secret of [key, tokens.access_token, "refresh-secret"]) {
      expect(JSON.stringify(shown)).not.toContain(secret);
    }
    expect(describeCredential({ source: "none" })).toBeNull();
  });
});
