import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { parse } from "smol-toml";
import { expect, onTestFinished, test } from "vitest";
import { addServer, removeServer, withoutServer } from "../src/mcp/config-file.ts";

const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 200) };

function home(text = ""): { path: string; read(): string } {
  const path = mkdtempSync(join(tmpdir(), "agent-home-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  if (text) writeFileSync(join(path, "config.toml"), text);
  return { path, read: () => readFileSync(join(path, "config.toml"), "utf8") };
}

test("a server is cut out with its tables, however the headers are written, and nothing else is", () => {
  const kept = "model = 'x'\n[mcp_servers.files2]\ncommand = 'a'\n";
  const cut = `[ mcp_servers . "files" ]\ncommand = 'b'\n[mcp_servers.files.env]\nA = '[not.a.header]'\n[mcp_servers.'files'.tools.x]\n`;
  expect(withoutServer(`${kept}${cut}[limits]\nidle = '1s'`, "files")).toBe(`${kept}[limits]\nidle = '1s'`);
});

test("what is added is read back as it was, whatever is in it, and removing it restores the meaning of the file", async () => {
  const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/).filter((text) => text !== "other" && text !== "__proto__");
  const server = fc.record(
    {
      command: fc.string(),
      args: fc.array(fc.string()),
      env: fc.dictionary(
        fc.string({ minLength: 1 }).filter((key) => key !== "__proto__"),
        fc.string(),
        { minKeys: 1 },
      ),
    },
    { requiredKeys: ["command"] },
  );
  const before = "# hello\nmodel = 'x' # why not\n\n[mcp_servers.other]\ncommand = 'y'";
  const { path, read } = home(before);
  await fc.assert(
    fc.asyncProperty(name, server, async (added, value) => {
      await addServer(path, added, value);
      expect(parse(read()).mcp_servers).toEqual({ other: { command: "y" }, [added]: value });
      expect(read().startsWith(before)).toBe(true);
      expect(await removeServer(path, added)).toBe(true);
      expect(read().trimEnd()).toBe(before);
    }),
    runs,
  );
});

test("a server of the same name is replaced, and one that is not there is not removed", async () => {
  const { path, read } = home();
  await addServer(path, "one", { command: "a", env: { B: "c" } });
  await addServer(path, "one", { url: "https://a.example/mcp" });
  expect(read()).toBe('[mcp_servers.one]\nurl = "https://a.example/mcp"\n');
  expect(await removeServer(path, "two")).toBe(false);
});
