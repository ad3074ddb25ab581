// Files that code of hooks loads from elsewhere, and scripts that run in place because code starts them.
import { linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openWorkspace, pinCommand } from "../src/hooks/pin/index.ts";
import { inNode, pinScript, prepareScript } from "./hook-code-fixture.ts";

test("a module in a directory that every user can write to makes the hook unpinned", async () => {
  const shared = `/tmp/agentcli-pin-${process.pid}.mjs`;
  writeFileSync(shared, "");
  onTestFinished(() => rmSync(shared));
  const path = await prepareScript("a.mjs", `import "${shared}";\n`);
  expect(pinScript(path, "a.mjs").unpinned).toContain("is in a directory that every user can write to");
});

describe("a script that runs in place, because code starts it, is refused", () => {
  const starting = inNode('spawn("tools/x.sh");\n');
  const reason = (path: string) => pinScript(path, "a.mjs").unpinned;

  test("behind a link, which an agent could exchange", async () => {
    const path = await prepareScript("a.mjs", inNode('spawn("other/x.sh");\n'));
    symlinkSync("tools", join(path, "other"));
    expect(reason(path)).toContain("is started in place and is behind a link");
  });

  test("with a second name, by which an agent could change it", async () => {
    const path = await prepareScript("a.mjs", starting);
    expect(reason(path)).toBeUndefined();
    linkSync(join(path, "tools/x.sh"), join(path, "second"));
    expect(reason(path)).toContain("is started in place and has a second name");
  });

  test("if it is found only in another directory than the one in which the hook runs", async () => {
    const path = await prepareScript("a.mjs", starting);
    mkdirSync(join(path, "app"));
    const inApp = pinCommand("node hooks/a.mjs", openWorkspace([join(path, "app"), path], [path], new Map()));
    expect(inApp.unpinned).toContain("there is no file tools/x.sh");
  });

  test("if it is in Python and imports something, for which an agent could add a file", async () => {
    const path = await prepareScript("a.mjs", inNode('execSync("python3 lib/x.py");\n'));
    expect(reason(path)).toBeUndefined();
    writeFileSync(join(path, "lib/x.py"), "import json\n");
    expect(reason(path)).toContain("where a file for its import could be added");
  });

  test("if it requires a file without its full name", async () => {
    const path = await prepareScript("a.mjs", inNode('fork("tools/y.js");\n'));
    writeFileSync(join(path, "tools/z.js"), "");
    writeFileSync(join(path, "tools/y.js"), 'require("./z.js");\n');
    expect(reason(path)).toBeUndefined();
    writeFileSync(join(path, "tools/y.js"), 'require("./z");\n');
    expect(reason(path)).toContain("which file ./z means is known only when it runs");
  });
});
