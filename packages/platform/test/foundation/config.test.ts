// Settings from flags, environment and file, and the errors for invalid ones.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TemporaryDirectory, temporaryDirectory } from "@agentcli/testkit";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadSettings, requireVariables, SettingError, type Sources } from "../../src/foundation/config/index.ts";
import { keys } from "../../src/foundation/config/keys.ts";

let home: TemporaryDirectory;
beforeEach(async () => {
  home = await temporaryDirectory();
});
afterEach(() => home.remove());

function load(given: Partial<Sources> & { file?: string } = {}) {
  const { file, ...sources } = given;
  if (file !== undefined) writeFileSync(join(home.path, "platform.toml"), file);
  const flags = { ...(file === undefined ? {} : { config: "platform.toml" }), ...sources.flags };
  const environment = { userHome: home.path, cwd: home.path, programDirectory: "/programs" };
  return loadSettings({ variables: {}, ...environment, ...sources, flags });
}

const originOf = (name: string, { entries }: ReturnType<typeof load>) =>
  entries.find((entry) => entry.name === name)?.origin;

test("defaults apply without any configuration", () => {
  const { settings, entries } = load();
  expect(settings).toMatchObject({
    dataDirectory: join(home.path, ".platform"),
    listen: { host: "127.0.0.1", port: 7420 },
    databaseUrl: null,
    kekFile: join(home.path, ".platform", "kek"),
    leaseMs: 10_000,
    streamRetentionSeconds: 86_400,
    models: { model: "practice" },
    roles: ["api", "runner", "scheduler", "gateway"],
  });
  expect(new Set(entries.map(({ origin }) => origin))).toEqual(new Set(["default"]));
});

test("a flag overrides the environment, which overrides the file, which overrides the default", () => {
  const file = 'listen = "127.0.0.1:1"\nlease_seconds = 1\nmodel = "a"';
  const variables = { PLATFORM_LISTEN: "127.0.0.1:2", PLATFORM_LEASE_SECONDS: "2" };
  const loaded = load({ file, variables, flags: { listen: "127.0.0.1:3" } });
  expect(loaded.settings).toMatchObject({ listen: { port: 3 }, leaseMs: 2_000, models: { model: "a" } });
  expect(originOf("listen", loaded)).toBe("--listen");
  expect(originOf("lease_seconds", loaded)).toBe("PLATFORM_LEASE_SECONDS");
  expect(originOf("model", loaded)).toBe(join(home.path, "platform.toml"));
  expect(originOf("concurrent_runs", loaded)).toBe("default");
});

test("config.toml in the data directory is read without being named", () => {
  mkdirSync(join(home.path, "data"));
  writeFileSync(join(home.path, "data", "config.toml"), "concurrent_runs = 3");
  expect(load({ flags: { data: "data" } }).settings).toMatchObject({
    dataDirectory: join(home.path, "data"),
    concurrentRuns: 3,
  });
  expect(load({ variables: { PLATFORM_DATA: "data" } }).settings.concurrentRuns).toBe(3);
});

test("models are configured with the keys of agentcli", () => {
  const file = `
    model = "gpt-5"
    model_provider = "mine"
    [model_providers.mine]
    base_url = "http://127.0.0.1:1/v1"
    http_headers = { authorization = "hush" }
    [prices."gpt-5"]
    input = 1.0
    output = 2.0
    [limits]
    first-byte = "5s"
    [network]
    allow_private = ["10.0.0.0/8"]`;
  const { settings, entries } = load({ file, variables: { PLATFORM_LIMITS_FIRST_BYTE: "6s" } });
  expect(settings.models).toMatchObject({
    model: "gpt-5",
    model_providers: { mine: { base_url: "http://127.0.0.1:1/v1", http_headers: { authorization: "hush" } } },
    prices: { "gpt-5": { input: 1, output: 2 } },
    limits: { "first-byte": "6s" },
  });
  expect(settings.allowPrivate).toEqual(["10.0.0.0/8"]);
  expect(JSON.stringify(entries)).not.toContain("hush");
});

test("lists and tables can be set in the environment", () => {
  const { settings } = load({
    variables: {
      PLATFORM_ROLES: "api, runner",
      PLATFORM_NETWORK_ALLOW_PRIVATE: "10.0.0.0/8,fc00::/7",
      PLATFORM_MODEL_PROVIDERS: '{"x":{"base_url":"http://x"}}',
      PLATFORM_RATE_LIMITS_REQUESTS_PER_MINUTE: "0",
      PLATFORM_RATE_LIMITS_TRUSTED_PROXIES: "10.0.0.1, fd00::/8",
    },
  });
  expect(settings).toMatchObject({ roles: ["api", "runner"], allowPrivate: ["10.0.0.0/8", "fc00::/7"] });
  expect(settings).toMatchObject({
    rateLimits: { requestsPerMinute: 0, gitProcesses: 32, trustedProxies: ["10.0.0.1", "fd00::/8"] },
    models: { model_providers: { x: { base_url: "http://x" } } },
  });
});

test("DATABASE_URL is used, and its password is not shown", () => {
  const { settings, entries } = load({ variables: { DATABASE_URL: "postgres://me:hush@db/x" } });
  expect(settings.databaseUrl).toBe("postgres://me:hush@db/x");
  expect(entries).toContainEqual({ name: "database_url", value: "postgres://me:***@db/x", origin: "DATABASE_URL" });
});

test("paths in a file are relative to it, others to the working directory", () => {
  mkdirSync(join(home.path, "etc"));
  writeFileSync(join(home.path, "etc", "p.toml"), 'kek_file = "kek"\ntls_cert = "/abs/cert"');
  const { settings } = load({ flags: { config: "etc/p.toml", "tls-key": "key.pem" } });
  expect(settings.kekFile).toBe(join(home.path, "etc", "kek"));
  expect(settings.tls).toEqual({ certificateFile: "/abs/cert", keyFile: join(home.path, "key.pem") });
});

test.each<[string, Parameters<typeof load>[0], RegExp]>([
  ["a misspelt key", { file: 'listn = "x"' }, /platform.toml: there is no setting listn. Did you mean listen\?/],
  [
    "a misspelt key of a table",
    { file: "[limits]\nidel = '1s'" },
    /no setting limits.idel. Did you mean limits.idle\?/,
  ],
  ["a wrong type", { file: "lease_seconds = '1'" }, /platform.toml: lease_seconds: expected number, received string/],
  ["a wrong number", { variables: { PLATFORM_LEASE_SECONDS: "soon" } }, /^PLATFORM_LEASE_SECONDS: lease_seconds:/],
  ["an unknown role", { flags: { role: "api,cook" } }, /^--role: roles\.1: /],
  ["no port", { flags: { listen: "localhost" } }, /listen: "localhost" is not HOST:PORT/],
  ["a port too high", { flags: { listen: "localhost:70000" } }, /is not HOST:PORT/],
  ["a TLS certificate without a key", { flags: { "tls-cert": "x" } }, /tls_cert and tls_key belong together/],
  ["invalid TOML", { file: "listen =" }, /platform.toml cannot be read: line 1/],
  ["a missing file", { flags: { config: "nowhere.toml" } }, /nowhere.toml cannot be read/],
  [
    "a variable for a whole table",
    { variables: { PLATFORM_LIMITS: '{"memory":"1G"}' } },
    /^PLATFORM_LIMITS: limits is a table, .* such as PLATFORM_LIMITS_/,
  ],
  [
    "a variable for a table in a table",
    { variables: { PLATFORM_SOURCE_HOSTS_GITHUB: "x" } },
    /^PLATFORM_SOURCE_HOSTS_GITHUB: source_hosts.github is a table/,
  ],
  ["an invalid table", { variables: { PLATFORM_PRICES: "{" } }, /^PLATFORM_PRICES: prices: expected record/],
])("%s is reported with its location", (_, sources, message) => {
  expect(() => load(sources)).toThrow(message);
  expect(() => load(sources)).toThrow(SettingError);
});

test("GitHub is used as an app or with a token; file paths are relative to the configuration, secrets come from variables", () => {
  const app = '[source_hosts.github]\napp_id = "12"\nprivate_key_file = "app.pem"\n';
  const { sourceHosts } = load({ file: `signing_key_file = "sign"\n${app}` }).settings;
  expect(sourceHosts.github).toEqual({
    baseUrl: "https://api.github.com",
    client: null,
    credentials: { kind: "app", appId: "12", privateKeyFile: join(home.path, "app.pem") },
  });
  expect(load({ file: 'signing_key_file = "sign"\n' }).settings.signingKey).toEqual({
    path: join(home.path, "sign"),
    isGiven: true,
  });
  const token = '[source_hosts.github]\ntoken_env = "GH"\nbase_url = "https://ghe.example/api/v3/"\n';
  expect(load({ file: token, variables: { GH: "secret" } }).settings.sourceHosts.github).toEqual({
    baseUrl: "https://ghe.example/api/v3",
    client: null,
    credentials: { kind: "token", variable: "GH" },
  });
  expect(JSON.stringify(load({ file: token, variables: { GH: "secret" } }).entries)).not.toContain("secret");
});

test.each([
  [
    "GitHub without credentials",
    '[source_hosts.github]\nbase_url = "https://ghe.example/api/v3"\n',
    /app_id and private_key_file, or token_env/,
  ],
  ["both kinds of credentials", '[source_hosts.github]\napp_id = "1"\ntoken_env = "GH"\n', /and not both/],
  ["a client id without a secret", '[source_hosts.github]\ntoken_env = "SET"\nclient_id = "1"\n', /belong together/],
  [
    "an invalid URL",
    '[source_hosts.github]\ntoken_env = "SET"\nbase_url = "ghe"\n',
    /base_url: "ghe" is not an address/,
  ],
  ["an invalid pattern", '[source_hosts]\nblocked = ["https://github.com/acme"]\n', /is not HOST\/PATH/],
  [
    "a pattern without a host",
    '[source_hosts.protected]\nacme = ["default"]\n',
    /source_hosts.protected: "acme" is not/,
  ],
])("%s is refused with instructions", (_, file, message) => {
  expect(() => load({ file, variables: { SET: "x" } })).toThrow(message);
});

test("an IPv6 address is written in brackets", () => {
  expect(load({ flags: { listen: "[::1]:80" } }).settings.listen).toEqual({ host: "::1", port: 80 });
});

test("any value in the environment is either accepted or refused as a setting", () => {
  const name = fc.constantFrom(...keys.map(({ variable }) => variable));
  fc.assert(
    fc.property(fc.dictionary(name, fc.oneof(fc.string(), fc.json())), (variables) => {
      try {
        load({ variables });
      } catch (error) {
        expect(error).toBeInstanceOf(SettingError);
      }
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
  );
});

test("an OpenID provider is read from file and environment together", () => {
  const file =
    '[oidc]\nissuer = "https://login.example.com"\nallowed_domains = ["Example.com"]\nadmin_groups = ["ops"]\n';
  const variables = { PLATFORM_OIDC_CLIENT_ID: "platform", PLATFORM_OIDC_CLIENT_SECRET_ENV: "SECRET", SECRET: "x" };
  expect(load({ file, variables }).settings.oidc).toEqual({
    issuer: "https://login.example.com",
    clientId: "platform",
    secretVariable: "SECRET",
    scopes: ["openid", "email", "profile"],
    name: "login.example.com",
    allowedDomains: ["example.com"],
    allowedEmails: [],
    team: "default",
    administrators: { claim: "groups", groups: ["ops"] },
  });
  expect(load().settings.oidc).toBeNull();
});

test.each([
  ["a missing issuer", 'client_id = "platform"', /needs issuer and client_id/],
  [
    "an issuer without TLS",
    'issuer = "http://login.example.com"\nclient_id = "x"',
    /http is allowed only for localhost/,
  ],
  ["an invalid issuer", 'issuer = "login"\nclient_id = "x"', /is not a URL like/],
  ["an invalid domain", 'issuer = "https://a.b"\nclient_id = "x"\nallowed_domains = ["@a.b"]', /not a domain/],
])("an OpenID provider with %s is refused", (_what, content, message) => {
  expect(() => load({ file: `[oidc]\n${content}\n` })).toThrow(message);
});

test.each([
  ["metrics.token_env", '[metrics]\ntoken_env = "NO"'],
  ["oidc.client_secret_env", '[oidc]\nissuer = "https://a.b"\nclient_id = "x"\nclient_secret_env = "NO"'],
  ["source_hosts.github.token_env", '[source_hosts.github]\ntoken_env = "NO"'],
  [
    "source_hosts.github.client_secret_env",
    '[source_hosts.github]\ntoken_env = "SET"\nclient_id = "1"\nclient_secret_env = "NO"',
  ],
])("settings are read while the variable of %s is unset, and only a server needs it", (setting, file) => {
  const { settings } = load({ file, variables: { SET: "x" } });
  expect(settings.unsetVariables).toMatchObject([{ setting, variable: "NO" }]);
  expect(() => requireVariables(settings)).toThrow(`${setting}: the variable NO is not set.`);
  expect(() => requireVariables(load({ file, variables: { SET: "x", NO: "x" } }).settings)).not.toThrow();
});

test("a key service is described by its provider; what it lacks is named", () => {
  const arn = "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab";
  const aws = load({ file: `[kms]\nprovider = "aws"\nkey = "${arn}"\ncache_seconds = 60` }).settings;
  expect(aws.kms).toMatchObject({
    ...{ kind: "aws", key: arn, region: "eu-central-1", endpoint: "https://kms.eu-central-1.amazonaws.com" },
    ...{ cacheMs: 60_000, accessKeyVariable: "AWS_ACCESS_KEY_ID" },
  });
  expect(() => requireVariables(aws)).toThrow(/kms\.access_key_id_env: the variable AWS_ACCESS_KEY_ID is not set/);
  const vault = 'provider = "vault"\nkey = "platform"';
  const endpoint = 'endpoint = "https://vault.example.com:8200/"';
  expect(load({ file: `[kms]\n${vault}\n${endpoint}\ntoken_file = "token"` }).settings.kms).toEqual({
    ...{
      kind: "vault",
      key: "platform",
      mount: "transit",
      namespace: null,
      endpoint: "https://vault.example.com:8200",
    },
    ...{ cacheMs: 600_000, token: { kind: "file", path: join(home.path, "token") } },
  });
  const refused: [string, RegExp][] = [
    ['provider = "aws"', /kms needs provider and key/],
    ['provider = "aws"\nkey = "alias/platform"', /kms\.key: "alias\/platform" is not the ARN of a key/],
    [vault, /kms\.endpoint is missing/],
    [`${vault}\nendpoint = "http://vault.example.com"`, /kms\.endpoint: .* \(http is allowed only for localhost\)/],
    [`${vault}\n${endpoint}\ntoken_env = "A"\ntoken_file = "b"`, /token_env and kms\.token_file exclude each other/],
    [`provider = "vault"\nkey = "../x"\n${endpoint}`, /cannot be the name of a key/],
    [`${vault}\n${endpoint}\nmount = "a/../b"`, /cannot be a path of Vault/],
  ];
  for (const [file, message] of refused) expect(() => load({ file: `[kms]\n${file}` })).toThrow(message);
});
