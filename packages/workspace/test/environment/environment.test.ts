// Which variables reach tools: from the user's environment, from a login shell, from the configuration.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type EnvironmentPolicy, environmentPolicy, inherits } from "../../src/environment/policy.ts";
import { toolEnvironment } from "../../src/environment/tool-environment.ts";
import { openServer } from "../../src/server/server.ts";
import { bash } from "../support/commands.ts";
import { temporaryDirectory } from "../support/locations.ts";

const from = {
  PATH: "/bin",
  HOME: "/h",
  EMPTY: "",
  github_token: "t",
  MY_SECRET: "s",
  DB_PASSWORD: "p",
  AGENT_API_KEY: "the-agents-own-key",
  PLAIN: "y",
};
const made = (choice: Partial<EnvironmentPolicy>, secrets?: string[]) =>
  toolEnvironment(from, { home: "/x", policy: environmentPolicy(choice), ...(secrets && { secrets }) });

describe("the environment of tools", () => {
  test("lacks what looks like a secret, unless that is switched off; the agent's key in any case", () => {
    expect(made({})).toEqual({ PATH: "/bin", HOME: "/h", EMPTY: "", PLAIN: "y" });
    const lax = made({ secretNames: "inherited" });
    expect(lax).toMatchObject({ MY_SECRET: "s", github_token: "t", DB_PASSWORD: "p" });
    expect(lax).not.toHaveProperty("AGENT_API_KEY");
  });

  test("lacks passwords under any name, data sources, addresses with credentials and the agent for keys", () => {
    const secret = {
      PGPASSFILE: "/home/a/pgpass",
      MYSQL_PWD: "hunter2",
      KEYSTORE_PASS: "x",
      SSH_ASKPASS: "/usr/bin/askpass",
      SENTRY_DSN: "https://example.com/1",
      dsn: "host=db",
      DATABASE_URL: "postgres://app:hunter2@db.example.com/app",
      QUEUE: "see amqps://app:hunter2@queue.example.com/%2f",
      REDIS: "redis://:hunter2@cache.example.com",
      REGISTRY: "https://0123456789abcdef@npm.example.com/",
      SEARCH: "https://search.example.com/?q=1&api_key=0123456789abcdef",
      SLASHED: "postgres://app:hunter/2?#@db.example.com/app",
      FRAGMENT: "https://example.com/callback#access_token=0123456789abcdef",
      JDBC: "jdbc:sqlserver://db.example.com;user=sa;password=hunter2",
      HTTPS_PROXY: "app:hunter2@proxy.example.com:3128",
      ConnectionStrings__Main: "Server=db;User Id=sa;Password=hunter2",
      LIBPQ: "host=db user=app password=hunter2",
      SSH_AUTH_SOCK: "/run/user/1000/agent.sock",
      DOCKER_AUTH_CONFIG: "{}",
      CURL_USERPWD: "x",
      DEPLOY_WEBHOOK_URL: "https://example.com/x",
      PAYMENTS: `sk_live_${"0123456789"}`,
      GH: `ghp_${"0123456789abcdefghij"}`,
      CLOUD: `AKIA${"0123456789ABCDEF"}`,
      SESSION: `eyJ${"hbGciOiJub25lIn0"}.eyJzdWIiOiJhIn0.`,
      ORACLE: "jdbc:oracle:thin:scott/hunter2@//db.example.com:1521/app",
      GIT_CONFIG_COUNT: "2",
      GIT_CONFIG_KEY_0: "user.name",
      GIT_CONFIG_VALUE_0: "Ada",
      GIT_CONFIG_PARAMETERS: "'http.extraheader'='Deploy: 0123456789abcdef'",
      PAT: "0123456789abcdef",
      GIT_CONFIG_VALUE_1: "AUTHORIZATION: basic MDEyMzQ1Njc4OWFiY2RlZg==",
      OTEL_EXPORTER_OTLP_HEADERS: "x-team=0123456789abcdef",
      IDENTITY: `AGE-SECRET-${"KEY-1"}0123456789`,
      SIGNER: `-----BEGIN EC ${"PRIVATE KEY"}-----`,
      BW_SESSION: "hVqz0lN2Ry8",
      OP_SESSION_team: "x",
      LDAP_BINDPW: "x",
      WIFI_PSK: "x",
      WALLET_MNEMONIC: "a b c",
      REQUEST_HMAC: "x",
      TOTP_SEED: "x",
      NPMRC: "//registry.example.com/:_authToken=0123456789abcdef",
      SHARED: "https://account.blob.core.example.com/c?sv=1&sp=r&sig=abc%3D",
      CHAT: "https://discord.com/api/webhooks/1/abc",
      BOT: `123456789:AA${"HdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1"}`,
      OWN: `plt_0123456789ab_${"0123456789abcdef"}`,
      STORE: `hvs.${"CAESIabcdefghijklmnop"}`,
      LAKE: `dapi${"0123456789abcdef0123456789abcdef"}`,
      CURL_ARGUMENT: "authorization: token abc",
      JAVA_OPTS: "-Xmx1g -Djavax.net.ssl.keyStorePassword=hunter2",
      OPTION: "--password=hunter2",
      SPRING_APPLICATION_JSON: '{"spring.datasource.password":"hunter2"}',
      YAML: "user: app\npassword: hunter2",
      LINE: "machine db.example.com login app password hunter2",
      EASY: "scott/hunter2@//db.example.com:1521/app",
      LOGON: "scott/tiger@orcl",
      LOGON_WITH_PORT: "scott/tiger@db.example.com:1521/app",
      PAIR: "mode=fast; token=abcdef012345",
      SETTING: "api_key: abcdef012345",
      FLAG: "deploy --token abcdef012345",
      DOCKER: '{"auths":{"r.example.com":{"auth":"dXNlcjpwYXNz"}}}',
      PARAMETER: "https://example.com/a?pwd=hunter2",
      GITLAB: "PRIVATE-TOKEN: abcdef012345",
      DIGEST: 'Authorization: Digest username="a"',
      BROWSER: "Cookie: session=0123456789",
      BOT_PATH: `https://api.example.org/bot123456789:AA${"HdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1"}/send`,
      OCEAN: `doo_v1_${"0123456789abcdef"}`,
      FLOW: "https://hooks.zapier.com/hooks/catch/1/abc",
      PROXY_LOGIN: "curl --proxy-user app:hunter2",
      DUMP: "openssl -passin pass:hunter2",
      TOTP: "JBSWY3DPEHPK3PXP",
      DBPWD: "x",
      APPLICATION: '{"tenant":"a","clientSecret":"hunter2"}',
      CLOUD_STORE: '{ "account_key" : "hunter2" }',
      RELATIVE: "//app:hunter2@db.example.com/app",
      CURL: "-u app:hunter2 https://example.com",
      HEADER: "X-Api-Key: 0123456789abcdef",
      BASIC: `Basic ${Buffer.from("app:hunter2").toString("base64")}`,
      ENCODED: Buffer.from(`-----BEGIN RSA ${"PRIVATE KEY"}-----`).toString("base64"),
      TRIAL: `sk_test_${"0123456789"}`,
      RUNNER: `glrt-${"0123456789abcdefghij"}`,
      MAILER: `key-${"0123456789abcdef0123456789abcdef"}`,
      NOTES: `ntn_${"0123456789abcdefghij"}`,
      TASK_ROLE: "http://169.254.170.2/v2/credentials/0123",
      SIGNED: "sv=2024-01-01&ss=b&sp=r&sig=abc%3D",
      QUEUES: "nats://0123456789abcdef@queue.example.com",
      MANAGED: `dp.st.dev.${"0123456789abcdefghij"}`,
      CLIENT: `GOCSPX-${"0123456789abcdefghij"}`,
      REFRESH: `1//0${"0123456789abcdefghijklmn"}`,
      BUILD: `CCIPAT_${"0123456789abcdefghij"}`,
      SCAN: `squ_${"0123456789abcdef"}`,
      MAILS: `xkeysib-${"0123456789abcdef"}`,
      CRM: "pat-eu1-01234567-89ab",
      CHATS: `${"0123456789".repeat(3).slice(0, 26)}.Abc_de.${"0123456789".repeat(3)}`,
      TUNNEL: "[Interface]\nPrivateKey = 0123456789abcdef=",
      JWK: '{"kty":"EC","crv":"P-256","d":"0123"}',
      COMPOSER: '{"github-oauth":{"github.example.com":"0123"}}',
      CONFIG: 'oauth2-bearer = "abcdef0123"',
      FLAGS: "--secret-access-key abcdef0123",
      MAVEN: "-Drepo.login=a -Drepo.pwd=0123",
      REMOTE: ":sftp,host=h,user=a,pass=0123:",
      IDENTITY_HEADER: "x",
      KITTY_LISTEN_ON: "unix:@kitty",
      NVIM: "/run/user/1000/nvim.1.0",
      HOSTING: "v1Q8dKz3TnRb7XcLm2WpHs9GfYa4Ej6Ud0ViBoNt",
      SIGNATURE: "n8Zt+Qb2wLx7RmVc4Kp9Hs1Gf3Ya6Ej5Ud0Vi-BoNtXg=",
    };
    const plain = {
      CURVE: '{"kty":"EC","crv":"P-256","x":"0123"}',
      REPOSITORY: "ssh://git@example.com/a",
      VERSION: "sv=1",
      DOTTED: "packages.of_the.organization",
      TASK: "risk-management_live_demo",
      SUDO_PROMPT: "[sudo] password for %p: ",
      COMPILER: "gcc -u main -O2",
      NO_PROXY: "localhost,169.254.170.2",
      RUN_AS: "docker run -u 1000:1000 image",
      MOUNT: "/etc/passwd:/etc/passwd:ro",
      RESET: "https://example.com/password/reset",
      CERTIFICATE: Buffer.from("-----BEGIN CERTIFICATE-----").toString("base64"),
      BASICS: "Basic settings",
      XDG_SESSION_ID: "1",
      DESIGN: "https://example.com/?design=1",
      GIT_AUTHOR_NAME: "Ada",
      PWD: "/work",
      OLDPWD: "/work/a:b@c",
      HOMEPAGE: "https://example.com/a:b@c?page=2",
      GIT_ORIGIN: "ssh://git@github.com/o/r",
      SCP: "git@github.com:o/r.git",
      SCOPED: "http://registry.example.com:4873/@scope",
      HTTP_PROXY: "proxy.example.com:3128",
      OPTIONS: "mode=fast;passes=3",
      ACTION: "actions/checkout@v4",
      WORKFLOW: "acme/widgets/.github/workflows/ci.yml@refs/heads/main",
      IMAGE: "library/node@sha256:0123",
      BRANCH: "acme/widgets@main",
      SETTINGS: '{"primary":"key","tokens":3,"monkey":"a"}',
      LIMITS: "max_tokens=4096; token=true; auth: none",
      REFERENCE: "token: ${API_NAME}",
      AUTHOR: "author: Jane Doe",
      MAIL: "someone@example.com",
      H2: "jdbc:h2:mem:test",
      NOTE: "authorization: none",
      COMMIT: "0123456789abcdef0123456789ABCDEF01234567".toLowerCase(),
      TRACE: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      BUILD_ID: "0b5e7c2a-4d1f-4f7e-9c3a-5a6b7c8d9e0f",
      FEATURE: "EnableNewDashboardForTeam2024Version10",
      RELEASE: "my_Project_Release_2024_11_19_Build_1234_RC1",
      PACKAGE: "linux-x64-gnu-Release-v20-12-2-Abi115-Node20",
    };
    const given = { ...secret, ...plain };
    const kept = (choice: Partial<EnvironmentPolicy>) =>
      toolEnvironment(given, { home: "/x", policy: environmentPolicy(choice) });
    const { PATH: _, HOME: __, ...passed } = kept({});
    expect(passed).toEqual(plain);
    expect(kept({ secretNames: "inherited" })).toMatchObject(given);
    expect(kept({ include: ["SSH_AUTH_SOCK", "DATABASE_URL"] })).toMatchObject({
      SSH_AUTH_SOCK: secret.SSH_AUTH_SOCK,
      DATABASE_URL: secret.DATABASE_URL,
    });
    expect(kept({ set: { DATABASE_URL: "postgres://a:b@test/" } })).toMatchObject({
      DATABASE_URL: "postgres://a:b@test/",
    });
  });

  test.each(
    `AUTH basic_auth NPM_CONFIG__AUTH REDISCLI_AUTH AUTH_HEADER PROXY_AUTH_HEADER AUTHORIZATION HTTP_AUTHORIZATION_HEADER
    BEARER API_BEARER JWT SUPABASE_JWT jwt_claims COOKIE SESSION_COOKIES CREDS AWS_CREDS DB_CREDS_JSON GCP_CRED
    PRIVATE PRIVATE_PEM DEPLOY_PRIVATE TLS_PRIVATE_PEM GOOGLE_OAUTH OAUTH2 GH_PAT AZURE_STORAGE_CONNECTION_STRING
    XAUTHORITY`.split(/\s+/),
  )("lacks %s", (name) => {
    expect(toolEnvironment({ [name]: "x" }, { home: "/x" })).not.toHaveProperty(name);
    const include = [name];
    expect(toolEnvironment({ [name]: "x" }, { home: "/x", policy: environmentPolicy({ include }) })).toHaveProperty(
      name,
    );
  });

  test.each(
    `AUTHOR GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL SSH_AUTHOR AUTHORS AUTHORITY AUTH0_DOMAIN AUTHENTICATE GOPRIVATE PRIVATEERS
    CREDITS SACRED LOOKIE PATTERN PATH NODE_PATH MANPATH COMPAT BEAR CONNECTION DISPLAY SSH_CONNECTION`.split(/\s+/),
  )("has the ordinary %s", (name) => {
    expect(toolEnvironment({ [name]: "x" }, { home: "/x" })).toHaveProperty(name, "x");
  });

  test("keeps the core or nothing, with a home and a path in any case", () => {
    expect(made({ inherit: "core" })).toEqual({ PATH: "/bin", HOME: "/h" });
    expect(made({ inherit: "none" })).toEqual({ PATH: expect.stringContaining("/usr/bin"), HOME: "/x" });
    expect(toolEnvironment({ HOME: "" }, { home: "/x" })).toMatchObject({ HOME: "/x" });
  });

  test("follows globs in any case, and the exact names that are asked for", () => {
    expect(made({ exclude: ["pl?in", "EM*"] })).toEqual({ PATH: "/bin", HOME: "/h" });
    expect(made({ includeOnly: ["path", "p*n"] })).toEqual({ PATH: "/bin", HOME: "/x", PLAIN: "y" });
    expect(made({ include: ["github_token"], inherit: "core" })).toMatchObject({ github_token: "t" });
    expect(made({ include: ["GITHUB_TOKEN"] })).not.toHaveProperty("github_token");
    expect(made({ include: ["github_token"], exclude: ["*token"] })).not.toHaveProperty("github_token");
  });

  test("has what is set on purpose, unless only other names are wanted", () => {
    expect(made({ set: { DEPLOY_KEY: "k", PLAIN: "other" } })).toMatchObject({ DEPLOY_KEY: "k", PLAIN: "other" });
    expect(made({ set: { DEPLOY_KEY: "k" }, includeOnly: ["PLAIN"] })).not.toHaveProperty("DEPLOY_KEY");
  });

  test("does not carry the agent's key under another name", () => {
    const env = toolEnvironment(
      { COPY: `Bearer ${from.AGENT_API_KEY}`, PLAIN: "y" },
      { home: "/x", secrets: ["short", from.AGENT_API_KEY] },
    );
    expect(env).not.toHaveProperty("COPY");
    expect(env).toHaveProperty("PLAIN");
  });
});

describe("any policy", () => {
  const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,12}$/);
  const glob = fc.stringMatching(/^[A-Za-z_*?.[\]\\+-]{0,8}$/);
  const policies = fc.record({
    inherit: fc.constantFrom("all" as const, "core" as const, "none" as const),
    secretNames: fc.constantFrom("excluded" as const, "inherited" as const),
    exclude: fc.array(glob, { maxLength: 3 }),
    includeOnly: fc.array(glob, { maxLength: 2 }),
    include: fc.array(name, { maxLength: 3 }),
    set: fc.dictionary(name, fc.string(), { maxKeys: 3 }),
    never: fc.array(name, { maxLength: 2 }),
  });
  const variables = fc.dictionary(name, fc.string(), { maxKeys: 12 });
  const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 200) };

  test("keeps credentials out, passes nothing on that was not there, and changes no value", () => {
    fc.assert(
      fc.property(policies, variables, (choice, given) => {
        const policy = environmentPolicy(choice);
        const env = toolEnvironment({ ...given, AGENT_API_KEY: "inherited" }, { home: "/x", policy });
        for (const [key, value] of Object.entries(env)) {
          if (key in policy.set || key === "HOME" || key === "PATH") continue;
          expect(policy.never).not.toContain(key);
          expect(value).toBe(given[key]);
          const looksSecret = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i.test(key);
          if (looksSecret && policy.secretNames === "excluded") expect(policy.include).toContain(key);
        }
      }),
      runs,
    );
  });

  test("excluding more never lets more through", () => {
    fc.assert(
      fc.property(policies, glob, name, (choice, more, candidate) => {
        const stricter = environmentPolicy({ ...choice, exclude: [...choice.exclude, more] });
        if (inherits(stricter)(candidate, "")) expect(inherits(environmentPolicy(choice))(candidate, "")).toBe(true);
      }),
      runs,
    );
  });
});

test("a profile cannot bring back what is left out, nor change what was set", async () => {
  const base = temporaryDirectory();
  mkdirSync(join(base, "home"));
  const profile =
    "export LEAKED_TOKEN=x DEPLOY_KEY=changed MODEL_NAME=changed GREETING=hello CORP_KEY=wanted DATABASE_URL=postgres://a:b@c/\n";
  writeFileSync(join(base, "home/.bash_profile"), profile);
  const policy = environmentPolicy({ include: ["CORP_KEY"], set: { DEPLOY_KEY: "mine" }, never: ["MODEL_NAME"] });
  const env = toolEnvironment({ ...process.env, HOME: join(base, "home") }, { home: base, policy });
  const server = openServer({
    root: base,
    writable: "anywhere",
    env,
    environmentPolicy: policy,
    orphans: "ended-by-watchdog",
  });
  try {
    const output = await bash(
      server,
      'echo "$LEAKED_TOKEN,$DEPLOY_KEY,$MODEL_NAME,$GREETING,$CORP_KEY,$DATABASE_URL"',
      {
        loginShell: "/bin/bash",
      },
    );
    expect(output.stdout).toBe(",mine,,hello,wanted,\n");
  } finally {
    await server.close();
    rmSync(base, { recursive: true });
  }
});
