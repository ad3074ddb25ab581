import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type AppClient, startServer, wires } from "./app-server-client.ts";
import { desk } from "./harness.ts";

const text = (base64: string) => Buffer.from(base64, "base64").toString();
const base64 = (said: string) => Buffer.from(said).toString("base64");

const output = (client: AppClient) =>
  client.heard
    .filter(({ method }) => method === "command/exec/outputDelta")
    .map(({ params }) => text(params.deltaBase64))
    .join("");

describe.each(wires)("a client over %s", (wire) => {
  test("looks around, changes things and is told of what changed", async () => {
    const at = await desk({ files: { "src/app.ts": "one\n" } });
    const server = await startServer(at, wire);
    const client = await server.connect();
    const path = join(at.repository, "src/app.ts");
    await client.request("fs/watch", { watchId: "w", path });
    await client.request("fs/writeFile", { path, dataBase64: base64("two\n") });
    expect((await client.told("fs/changed")).params).toEqual({ watchId: "w", changedPaths: [path] });
    expect(text((await client.request("fs/readFile", { path })).dataBase64)).toBe("two\n");
    const { files } = await client.request("fuzzyFileSearch", { query: "app", roots: [at.repository] });
    expect(files[0].path).toBe("src/app.ts");

    const edit = { keyPath: "limits.idle", value: "9s", mergeStrategy: "replace" };
    const { version } = await client.request("config/value/write", edit);
    const { config, origins } = await client.request("config/read");
    expect(config.limits.idle).toBe("9s");
    expect(origins["limits.idle"]).toMatchObject({ name: { type: "user" }, version });
    const stale = client.request("config/value/write", { ...edit, value: "8s", expectedVersion: "old" });
    await expect(stale).rejects.toMatchObject({ data: { config_write_error_code: "configVersionConflict" } });

    expect((await client.request("model/list")).data[0]).toMatchObject({ id: "scripted", isDefault: true });
    await client.request("account/login/start", { type: "apiKey", apiKey: "sk-of-a-test" });
    expect((await client.told("account/updated")).params).toMatchObject({ authMode: "apikey" });
    expect(statSync(join(at.home, "auth.json")).mode & 0o777).toBe(0o600);
    await expect(client.request("feedback/upload", {})).rejects.toMatchObject({ code: -32601 });
    expect(await server.end()).toBe(wire === "stdio" ? 0 : 143);
  });

  test("runs commands in the sandbox it asks for, and they end with it", async () => {
    const at = await desk();
    const server = await startServer(at, wire);
    const client = await server.connect();
    const run = (script: string, more: object = {}) =>
      client.request("command/exec", { command: ["sh", "-c", script], ...more });
    expect((await run("echo x > denied")).exitCode).not.toBe(0);
    expect(await run("echo x > allowed && cat allowed", { sandboxPolicy: { type: "workspaceWrite" } })).toMatchObject({
      exitCode: 0,
      stdout: "x\n",
    });
    expect(readFileSync(join(at.repository, "allowed"), "utf8")).toBe("x\n");

    const free = { sandboxPolicy: { type: "dangerFullAccess" } };
    const running = run("echo $$; sleep 600 & sleep 600", { ...free, processId: "p", streamStdoutStderr: true });
    running.catch(() => {});
    await client.until(() => output(client).endsWith("\n"));
    const pid = output(client).trim();
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    await server.end();
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  });
});
