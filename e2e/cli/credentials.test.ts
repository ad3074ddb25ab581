import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, cliProgram, fault, replyWith } from "@agentcli/testkit";
import { type Harness, openHarness } from "@agentcli/testkit/cli";
import { jwt, startTokenServer } from "@agentcli/testkit/oauth";
import { spawn } from "@lydell/node-pty";
import { describe, expect, test } from "vitest";

const key = "sk-abcdefghijklmnopqrstuvwxyz";
const usesLogin = "requires_openai_auth = true\n";
const keysOf = ({ requests }: Harness) => requests().map(({ headers }) => headers.authorization);
const authFile = ({ home }: Harness) => join(home, "auth.json");
const saved = (harness: Harness) => JSON.parse(readFileSync(authFile(harness), "utf8"));

describe("login", () => {
  test("saves a piped key, shows it masked, uses it, and removes it at logout", async () => {
    const here = await openHarness({ replies: [replyWith("Hello.")], config: usesLogin });
    const { code, stdout, stderr } = await here.run(["login", "--with-api-key"], { stdin: `${key}\n` });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain("Successfully logged in");
    expect(saved(here)).toMatchObject({ auth_mode: "api_key", AGENT_API_KEY: key });
    expect(statSync(authFile(here)).mode & 0o777).toBe(0o600);
    expect(await here.run(["login", "status"])).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "Logged in using an API key - sk-abc***xyz\n",
    });
    expect((await here.run(["exec", "hi"])).stdout).toBe("Hello.\n");
    expect(keysOf(here)).toEqual([`Bearer ${key}`]);
    expect(await here.run(["logout"])).toMatchObject({ code: 0, stderr: "Successfully logged out\n" });
    expect(await here.run(["login", "status"])).toMatchObject({ code: 1, stderr: "Not logged in\n" });
    expect(await here.run(["logout"])).toMatchObject({ code: 0, stderr: "Not logged in\n" });
    expect((await here.run(["exec", "hi"])).code).toBe(3);
  });

  test("refuses a key on the command line without repeating it", async () => {
    const here = await openHarness();
    const { code, stdout, stderr } = await here.run(["login", "--api-key", key]);
    expect(code).toBe(2);
    expect(stderr).toContain("printenv MY_KEY | agentcli login --with-api-key");
    expect(stdout + stderr).not.toContain(key);
    expect(existsSync(authFile(here))).toBe(false);
  });

  test.each([
    ["nothing", "", "No key was given"],
    ["two words", "sk-one sk-two", "not one API key"],
    ["control characters", "sk-\u0000\u0007", "not one API key"],
  ])("refuses %s on standard input", async (_, stdin, message) => {
    const here = await openHarness();
    const { code, stderr } = await here.run(["login", "--with-api-key"], { stdin });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(existsSync(authFile(here))).toBe(false);
  });

  test("without a terminal names the form with a pipe", async () => {
    const { code, stderr } = await (await openHarness()).run(["login"]);
    expect(code).toBe(2);
    expect(stderr).toContain("Pipe the key in");
  });

  test("on a terminal prompts, does not echo, and supports backspace", async () => {
    const here = await openHarness();
    const { code, screen } = await onTerminal(here, ["login"], "API key", `${key}xx\u007f\u007f\r`);
    expect(code).toBe(0);
    expect(screen).not.toContain("sk-");
    expect(saved(here).AGENT_API_KEY).toBe(key);
  });

  test("on a terminal ends at Ctrl-C with nothing saved", async () => {
    const here = await openHarness();
    const { code } = await onTerminal(here, ["login"], "API key", `${key}\u0003`);
    expect(code).toBe(2);
    expect(existsSync(authFile(here))).toBe(false);
  });

  test("--with-api-key on a terminal names the form with a pipe instead of waiting", async () => {
    const { code, screen } = await onTerminal(await openHarness(), ["login", "--with-api-key"]);
    expect(code).toBe(2);
    expect(screen).toContain("printenv MY_KEY | agentcli login --with-api-key");
  });
});

describe("the credential of a run", () => {
  test("AGENT_API_KEY takes precedence over the saved login, and status reports it", async () => {
    const here = await openHarness({ replies: [replyWith("Hello.")], config: usesLogin });
    await here.run(["login", "--with-api-key"], { stdin: key });
    const env = { AGENT_API_KEY: "sk-from-the-environment-123" };
    await here.run(["exec", "hi"], { env });
    expect(keysOf(here)).toEqual([`Bearer ${env.AGENT_API_KEY}`]);
    const { stderr } = await here.run(["login", "status"], { env });
    expect(stderr).toBe("Logged in using an API key from AGENT_API_KEY - sk-fro***123\n");
  });

  test("a login that others can read is used with a warning, a damaged one is exit code 3", async () => {
    const here = await openHarness({ replies: [replyWith("Hello.")], config: usesLogin });
    await here.run(["login", "--with-api-key"], { stdin: key });
    chmodSync(authFile(here), 0o640);
    const wide = await here.run(["exec", "hi"]);
    expect(wide).toMatchObject({ code: 0, stdout: "Hello.\n" });
    expect(wide.stderr).toMatch(/warning: .*auth\.json can be read by others/);
    writeFileSync(authFile(here), `{"AGENT_API_KEY":"${key}"`, { mode: 0o600 });
    const damaged = await here.run(["exec", "--json", "hi"]);
    expect(damaged.code).toBe(3);
    expect(JSON.parse(damaged.stdout)).toMatchObject({ type: "error", message: expect.stringContaining("is damaged") });
    expect(damaged.stdout + damaged.stderr).not.toContain(key);
  });

  test("the token of a managed account is renewed when it has expired", async () => {
    const fresh = jwt(3_600, "new");
    const tokens = await startTokenServer(() => ({ body: { access_token: fresh, refresh_token: "refresh-1" } }));
    const config = `${usesLogin}[auth]\nrefresh_endpoint = "${tokens.url}"\n`;
    const here = await openHarness({ replies: [replyWith("Hello."), replyWith("Again.")], config });
    const old = { access_token: jwt(-1, "old"), refresh_token: "refresh-0" };
    writeFileSync(authFile(here), JSON.stringify({ auth_mode: "account", tokens: old }), { mode: 0o600 });
    for (const answer of ["Hello.\n", "Again.\n"]) expect((await here.run(["exec", "hi"])).stdout).toBe(answer);
    expect(keysOf(here)).toEqual([`Bearer ${fresh}`, `Bearer ${fresh}`]);
    expect(tokens.requests).toHaveLength(1);
    expect((await here.run(["login", "status"])).stderr).toContain("Logged in using a managed account");
  });
});

describe("workload identity", () => {
  const identity = "identity-token-that-must-stay-secret";
  const config = (url: string) =>
    `${usesLogin}[auth.workload_identity]\ntoken_endpoint = "${url}"\naudience = "models"\ntoken_env = "CI_IDENTITY"\n`;
  const env = { CI_IDENTITY: identity };
  const grant = (index: number, lasts: number) => ({
    body: { access_token: `short-lived-${index}`, expires_in: lasts },
  });

  test("gives each request a key that is still valid", async () => {
    const tokens = await startTokenServer((_, index) => grant(index, index === 0 ? 30 : 3_600));
    const replies = [call("exec_command", { cmd: "true" }), call("exec_command", { cmd: "true" }), replyWith("Done.")];
    const here = await openHarness({ replies, config: config(tokens.url) });
    expect((await here.run(["exec", "work"], { env })).stdout).toBe("Done.\n");
    expect(keysOf(here)).toEqual(["Bearer short-lived-0", "Bearer short-lived-1", "Bearer short-lived-1"]);
    expect(await here.run(["login", "status"], { env })).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("workload identity"),
    });
  });

  test("exchanges again when the key is rejected, and leaves no secret anywhere", async () => {
    const tokens = await startTokenServer((_, index) => grant(index, 3_600));
    const replies = [call("exec_command", { cmd: "env" }), fault(401), fault(401)];
    const here = await openHarness({ replies, config: config(tokens.url) });
    const { code, stdout, stderr } = await here.run(["exec", "--json", "work"], { env });
    expect(code).toBe(3);
    expect(keysOf(here)).toEqual(["Bearer short-lived-0", "Bearer short-lived-0", "Bearer short-lived-1"]);
    const left = stdout + stderr + readFileSync(here.sessionFile(), "utf8");
    for (const secret of [identity, "short-lived-0", "short-lived-1"]) expect(left).not.toContain(secret);
  });

  test("a refused exchange is exit code 3 with the endpoint's reason", async () => {
    const refusal = { error: "access_denied", error_description: `no rule for ${identity}` };
    const tokens = await startTokenServer(() => ({ status: 400, body: refusal }));
    const here = await openHarness({ config: config(tokens.url) });
    const { code, stderr } = await here.run(["exec", "work"], { env });
    expect(code).toBe(3);
    expect(stderr).toContain("HTTP 400: access_denied: no rule for [REDACTED]");
    expect(here.requests()).toEqual([]);
  });
});

describe("a local model server", () => {
  const address = ({ home }: Harness) =>
    /base_url = "(.*)"/.exec(readFileSync(join(home, "config.toml"), "utf8"))?.[1] ?? "";

  test("--oss uses the server that responds, with a model it has and without a key", async () => {
    const here = await openHarness({ replies: [replyWith("Local."), replyWith("Still local.")] });
    const env = { AGENT_OSS_BASE_URL: address(here), AGENT_API_KEY: key };
    const { stdout, stderr } = await here.run(["exec", "--oss", "hi"], { env });
    expect(stdout).toBe("Local.\n");
    expect(stderr).toContain("provider: ollama");
    const posts = () => here.requests().filter(({ method }) => method === "POST");
    expect(posts()[0]).toMatchObject({ path: "/v1/chat/completions", body: { model: "scripted" } });
    expect(posts()[0]?.headers.authorization).toBeUndefined();
    expect((await here.run(["exec", "resume", "--last", "and now?"], { env })).stdout).toBe("Still local.\n");
  });

  test("--local-provider selects one of them, and -m a model that must exist there", async () => {
    const here = await openHarness({ replies: [replyWith("Local.")] });
    const env = { AGENT_OSS_BASE_URL: address(here) };
    const named = await here.run(["exec", "--local-provider", "lmstudio", "-m", "scripted", "hi"], { env });
    expect(named.stderr).toContain("provider: lmstudio");
    const missing = await here.run(["exec", "--oss", "-m", "llama9", "hi"], { env });
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain("Get it: ollama pull llama9. It has: scripted.");
  });

  test("that is not running is exit code 2 with the commands that start it", async () => {
    const { code, stderr } = await (await openHarness()).run(["exec", "--oss", "hi"], { env: { AGENT_OSS_PORT: "9" } });
    expect(code).toBe(2);
    for (const part of ["ollama serve", "lms server start", "http://localhost:9/v1"]) expect(stderr).toContain(part);
  });
});

/** Types once the screen shows `when`. */
function onTerminal(
  { home }: Harness,
  args: string[],
  when = "",
  typed = "",
): Promise<{ code: number; screen: string }> {
  const env = { PATH: process.env.PATH ?? "", HOME: home, AGENT_HOME: home, TERM: "dumb" };
  const terminal = spawn(process.execPath, [cliProgram, ...args], { cwd: home, env });
  let screen = "";
  let isTyped = false;
  terminal.onData((text) => {
    screen += text;
    if (isTyped || typed === "" || !screen.includes(when)) return;
    isTyped = true;
    terminal.write(typed);
  });
  return new Promise((resolve) => terminal.onExit(({ exitCode }) => resolve({ code: exitCode, screen })));
}
