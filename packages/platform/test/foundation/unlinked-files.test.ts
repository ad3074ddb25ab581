// Files without a name that an agent keeps in use count for its disk, whichever thread has them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { unlinkedBytes } from "../../src/foundation/files/unlinked-files.ts";

const bytes = 4 * 1024 * 1024;

const common = `import ctypes, os, sys, threading, time
def keep():
    file = os.open(sys.argv[1] + "/file", os.O_CREAT | os.O_RDWR)
    os.posix_fallocate(file, 0, ${bytes})
    os.unlink(sys.argv[1] + "/file")
def wait():
    print("ready", flush=True)
    time.sleep(600)
`;

test.each([
  ["the only thread", "keep()\nwait()"],
  [
    "a thread whose first one has ended",
    "keep()\nthreading.Thread(target=wait).start()\nctypes.CDLL(None).pthread_exit(None)",
  ],
  [
    "a thread with descriptors of its own",
    `def own():
    ctypes.CDLL(None).unshare(0x400)
    keep()
    wait()
threading.Thread(target=own).start()
time.sleep(600)`,
  ],
])("a file without a name counts that is open in %s", async (_, script) => {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const sandbox = ["--die-with-parent", "--dev-bind", "/", "/", "--bind", path, path];
  const child = spawn("bwrap", [...sandbox, "/usr/bin/python3", "-I", "-c", common + script, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  await once(child.stdout, "data");
  // The first thread ends a moment after the other has begun.
  await expect.poll(() => unlinkedBytes(path), { timeout: 30_000 }).toBe(bytes);
});
