// Clearing build caches while a command of a run still changes them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { clearCaches, prepareCache } from "../../src/cache/index.ts";

/** Directories and links to another one change places all the time. */
const swap = `import ctypes, os, sys
libc = ctypes.CDLL(None)
def make():
    for name in ("a", "b", "c"):
        os.makedirs(name + "/deep", exist_ok=True)
        if not os.path.lexists(name + ".link"):
            os.symlink(sys.argv[1], name + ".link")
print("ready", flush=True)
while True:
    try:
        os.chdir(sys.argv[2])
        make()
        for turn in range(200):
            for name in (b"a", b"b", b"c"):
                libc.renameat2(-100, name, -100, name + b".link", 2)
    except OSError:
        pass
`;

test("nothing elsewhere changes while a command swaps directories of the cache with links", async () => {
  const base = realpathSync(mkdtempSync("/var/tmp/clear-caches-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [elsewhere, caches, project] = ["elsewhere", "caches", "project"].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(join(elsewhere, "below"), { recursive: true });
  writeFileSync(join(elsewhere, "below/kept"), "");
  for (const directory of [elsewhere, join(elsewhere, "below")]) chmodSync(directory, 0o755);
  const files = prepareCache(caches, project)?.directory ?? "";
  const child = spawn("python3", ["-I", "-c", swap, elsewhere, files], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  await once(child.stdout, "data");
  for (let round = 0; round < 60; round += 1) {
    prepareCache(caches, project);
    clearCaches(caches);
    const modes = [elsewhere, join(elsewhere, "below")].map((path) => (statSync(path).mode & 0o777).toString(8));
    expect(modes).toEqual(["755", "755"]);
    expect(existsSync(join(elsewhere, "below/kept"))).toBe(true);
  }
});
