import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rpcCodes } from "@agentcli/protocol/app-server/codes";
import { temporaryDirectory } from "@agentcli/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { serverProgram } from "../../../workspace/test/support/server-program.ts";
import { openCommands } from "../../src/methods/commands.ts";
import { type HarnessOptions, openHarness, type TestClient } from "./harness.ts";

const free = { type: "dangerFullAccess" } as const;

async function openFixture(options: HarnessOptions = {}) {
  const temporary = await temporaryDirectory();
  onTestFinished(temporary.remove);
  const directory = dirname(await serverProgram());
  const { call, ...rest } = await openHarness(openCommands, {
    cwd: temporary.path,
    program: { directory },
    ...options,
  });
  const sh = (script: string, more: object = {}) =>
    call("command/exec", { command: ["sh", "-c", script], sandboxPolicy: free, ...more });
  return { ...rest, call, sh, cwd: temporary.path };
}

const base64 = (text: string) => Buffer.from(text).toString("base64");

const streamed = (client: TestClient, stream = "stdout") =>
  client.notices
    .filter(({ params }) => params.stream === stream)
    .map(({ params }) => Buffer.from(String(params.deltaBase64), "base64").toString())
    .join("");

const until = (client: TestClient, text: string) =>
  client.received("command/exec/outputDelta", () => streamed(client).includes(text));

describe("a command", () => {
  test("answers with its exit code and its output", async () => {
    const { sh, cwd } = await openFixture();
    expect(await sh("pwd; echo oh >&2; exit 3")).toEqual({ exitCode: 3, stdout: `${cwd}\n`, stderr: "oh\n" });
  });

  test("has the requested environment, without removed variables", async () => {
    const { sh } = await openFixture({ variables: { SEEN: "1", GONE: "2" } });
    const env = { NEW: "3", GONE: null, NO_COLOR: null };
    const { stdout } = await sh("echo $SEEN $GONE $NEW $NO_COLOR", { env });
    expect(stdout).toBe("1 3\n");
  });

  test("works in the given directory, and reads nothing", async () => {
    const { sh, call, cwd } = await openFixture();
    expect(await sh("cat; pwd", { cwd: "/" })).toMatchObject({ stdout: "/\n" });
    await expect(sh("true", { cwd: join(cwd, "none") })).rejects.toThrow("does not exist");
    const missing = call("command/exec", { command: ["no-such-program"], sandboxPolicy: free });
    await expect(missing).rejects.toMatchObject({ code: rpcCodes.invalidRequest });
    await expect(call("command/exec", { command: [""] })).rejects.toThrow("no name");
    await expect(sh("true", { env: { "A=B": "1" } })).rejects.toThrow("name of a variable");
  });

  test("is ended at its timeout with exit code 124", async () => {
    const { sh } = await openFixture();
    expect(await sh("echo begun; sleep 60", { timeoutMs: 2_000 })).toMatchObject({ exitCode: 124, stdout: "begun\n" });
    await expect(sh("true", { timeoutMs: 5, disableTimeout: true })).rejects.toThrow("contradict");
    expect(await sh("sleep 0.05", { disableTimeout: true })).toMatchObject({ exitCode: 0 });
  });

  test("keeps each stream up to its cap, in whole characters", async () => {
    const { sh } = await openFixture();
    const { stdout, stderr } = await sh("printf 'aéé'; printf 12345 >&2", { outputBytesCap: 4 });
    expect({ stdout, stderr }).toEqual({ stdout: "aé", stderr: "1234" });
    const flood = await sh("head -c 3000000 /dev/zero | tr '\\0' x");
    expect(flood.stdout.length).toBe(1024 * 1024);
    const whole = await sh("head -c 3000000 /dev/zero | tr '\\0' x", { disableOutputCap: true });
    expect(whole.stdout.length).toBe(3_000_000);
    await expect(sh("true", { outputBytesCap: 1, disableOutputCap: true })).rejects.toThrow("contradict");
  });
});

describe("the sandbox of a command", () => {
  test("is the configured one unless the request names another", async () => {
    const { call, sh, cwd } = await openFixture();
    const command = ["sh", "-c", "echo 1 > here"];
    expect((await call("command/exec", { command })).exitCode).not.toBe(0);
    expect((await sh("echo 1 > here", { sandboxPolicy: { type: "readOnly" } })).exitCode).not.toBe(0);
    expect(existsSync(join(cwd, "here"))).toBe(false);
    const workspaceWrite = { type: "workspaceWrite" };
    expect(await sh("echo 1 > here", { sandboxPolicy: workspaceWrite })).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(cwd, "here"), "utf8")).toBe("1\n");
  });

  test("allows further directories and the network only on request", async () => {
    const { sh } = await openFixture();
    const other = await temporaryDirectory();
    onTestFinished(other.remove);
    const write = `echo 1 > ${other.path}/a`;
    const policy = (more: object) => ({ sandboxPolicy: { type: "workspaceWrite", ...more } });
    await sh(write, policy({}));
    expect(existsSync(join(other.path, "a"))).toBe(false);
    await sh(write, policy({ writableRoots: [other.path] }));
    expect(existsSync(join(other.path, "a"))).toBe(true);
    await expect(sh(write, policy({ writableRoots: ["a"] }))).rejects.toThrow("not an absolute path");
    const interfaces = "ls /proc/sys/net/ipv4/conf | tr '\\n' ' '";
    const [closed, open, readOnly] = await Promise.all([
      sh(interfaces, policy({})),
      sh(interfaces, policy({ networkAccess: true })),
      sh(interfaces, { sandboxPolicy: { type: "readOnly", networkAccess: true } }),
    ]);
    expect(readOnly.stdout).toBe(open.stdout);
    expect(closed.exitCode).toBe(0);
  });

  test("is refused where an administrator does not allow it", async () => {
    const { call } = await openFixture({
      home: await homeWith({ "requirements.toml": 'allowed_sandbox_modes = ["read-only"]\n' }),
    });
    for (const sandboxPolicy of [free, { type: "externalSandbox" }] as const) {
      const refused = call("command/exec", { command: ["true"], sandboxPolicy });
      await expect(refused).rejects.toMatchObject({ code: rpcCodes.invalidRequest });
      await expect(refused).rejects.toThrow("allowed_sandbox_modes");
    }
  });

  test("is refused with an invalid configuration", async () => {
    const { call } = await openFixture({ home: await homeWith({ "config.toml": 'sandbox_mode = "loose"\n' }) });
    await expect(call("command/exec", { command: ["true"] })).rejects.toThrow("sandbox_mode must be one of");
  });
});

async function homeWith(files: Record<string, string>): Promise<string> {
  const home = await temporaryDirectory(files);
  onTestFinished(home.remove);
  return home.path;
}

describe("a streamed command", () => {
  test("streams its output and accepts input until stdin is closed", async () => {
    const { sh, call, client } = await openFixture();
    const processId = "p";
    const running = sh("echo ready; echo oh >&2; cat", { processId, streamStdin: true, streamStdoutStderr: true });
    await until(client, "ready\n");
    const [head, tail] = [Buffer.from("é\n").subarray(0, 1), Buffer.from("é\n").subarray(1)];
    await call("command/exec/write", { processId, deltaBase64: head.toString("base64") });
    await call("command/exec/write", { processId, deltaBase64: tail.toString("base64"), closeStdin: true });
    expect(await running).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    expect(streamed(client)).toBe("ready\né\n");
    expect(streamed(client, "stderr")).toBe("oh\n");
  });

  test("accepts input sent before it has started", async () => {
    const { sh, call, client } = await openFixture();
    const more = { processId: "p", streamStdin: true, streamStdoutStderr: true };
    const running = sh("cat", more);
    await call("command/exec/write", { processId: "p", deltaBase64: base64("early"), closeStdin: true });
    expect(await running).toMatchObject({ exitCode: 0 });
    expect(streamed(client)).toBe("early");
  });

  test("reports when its cap is reached, then sends nothing more", async () => {
    const { sh, client } = await openFixture();
    await sh("echo 12345; echo 678", { processId: "p", streamStdoutStderr: true, outputBytesCap: 4 });
    expect(streamed(client)).toBe("1234");
    expect(client.notices.at(-1)?.params).toMatchObject({ capReached: true });
  });

  test("has a terminal of the requested size, and can be resized", async () => {
    const { sh, call, client } = await openFixture();
    const script = "trap 'stty size; exit 0' WINCH; stty size; while :; do sleep 0.05; done";
    const running = sh(script, { processId: "p", tty: true, size: { rows: 10, cols: 40 } });
    await until(client, "10 40");
    await call("command/exec/resize", { processId: "p", size: { rows: 20, cols: 50 } });
    expect(await running).toMatchObject({ exitCode: 0, stdout: "" });
    expect(streamed(client)).toContain("20 50");
  });

  test("waits while its client reads nothing", async () => {
    const { sh, client, call } = await openFixture();
    const more = { processId: "p", streamStdoutStderr: true, disableOutputCap: true };
    for (const sandboxPolicy of [free, { type: "readOnly" }]) {
      let release = () => {};
      const asked = new Promise<void>((resolveAsked) => {
        client.room = () => {
          resolveAsked();
          return new Promise((resolve) => {
            release = resolve;
          });
        };
      });
      const running = sh("yes", { ...more, sandboxPolicy });
      await asked;
      const before = client.notices.length;
      await expect(sh("sleep 0.3")).resolves.toMatchObject({ exitCode: 0 });
      // Output in flight when it was suspended may still arrive.
      expect(client.notices.length - before).toBeLessThan(40);
      release();
      await call("command/exec/terminate", { processId: "p" });
      expect((await running).exitCode).toBeGreaterThan(128);
    }
  });

  test("is ended on request, with its client and with the server", async () => {
    const { sh, call, client, close, join: enter } = await openFixture();
    const more = { processId: "p", streamStdoutStderr: true };
    const first = sh("echo $$; sleep 60 & sleep 60", more);
    await until(client, "\n");
    await expect(sh("true", more)).rejects.toThrow("running already");
    await call("command/exec/terminate", { processId: "p" });
    expect((await first).exitCode).toBeGreaterThan(128);
    expect(existsSync(`/proc/${streamed(client).trim()}`)).toBe(false);

    const other = enter();
    const ofOther = call(
      "command/exec",
      { command: ["sh", "-c", "echo $$; sleep 60"], sandboxPolicy: free, ...more },
      other,
    );
    await until(other, "\n");
    other.leave();
    await ofOther;
    expect(existsSync(`/proc/${streamed(other).trim()}`)).toBe(false);

    const last = sh("sleep 60", { processId: "q", streamStdoutStderr: true });
    const ended = expect(last)
      .resolves.toMatchObject({ exitCode: expect.any(Number) })
      .catch(() => last.catch(() => {}));
    await close();
    await ended;
  });

  test("has an id that only its own client can use", async () => {
    const { sh, call, client, join: enter } = await openFixture();
    const unnamed = ["tty", "streamStdin", "streamStdoutStderr"].map((flag) => sh("true", { [flag]: true }));
    for (const refused of unnamed) await expect(refused).rejects.toMatchObject({ code: rpcCodes.invalidParams });
    await expect(sh("true", { size: { rows: 1, cols: 1 } })).rejects.toThrow("tty only");
    const running = sh("echo begun; sleep 60", { processId: "p", streamStdoutStderr: true });
    await until(client, "begun");
    const size = { rows: 2, cols: 2 };
    await expect(call("command/exec/write", { processId: "p", closeStdin: true })).rejects.toThrow(
      "without streamStdin",
    );
    await expect(call("command/exec/resize", { processId: "p", size })).rejects.toThrow("without tty");
    const strangers = [
      call("command/exec/terminate", { processId: "p" }, enter()),
      call("command/exec/terminate", { processId: "none" }),
      call("command/exec/write", { processId: "none" }),
      call("command/exec/resize", { processId: "none", size }),
    ];
    for (const refused of strangers) await expect(refused).rejects.toThrow("There is no command with the processId");
    await call("command/exec/terminate", { processId: "p" });
    await running;
    await expect(call("command/exec/terminate", { processId: "p" })).rejects.toThrow("it is over");
  });

  test("accepts text only, because other bytes would be changed in transit", async () => {
    const { sh, call } = await openFixture();
    const running = sh("cat", { processId: "p", streamStdin: true });
    const bytes = Buffer.from([0xff, 0xfe]).toString("base64");
    await expect(call("command/exec/write", { processId: "p", deltaBase64: bytes })).rejects.toThrow("no UTF-8");
    await call("command/exec/write", { processId: "p", closeStdin: true });
    expect(await running).toMatchObject({ exitCode: 0, stdout: "" });
  });
});
