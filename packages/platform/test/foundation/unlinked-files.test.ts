// Files without a name that an agent keeps in use count for its disk, whichever thread has them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { watchDisk } from "../../src/foundation/files/index.ts";
import { findUnlinkedFiles } from "../../src/foundation/files/unlinked-files.ts";

const bytes = 4 * 1024 * 1024;

const isRoot = process.geteuid?.() === 0;

const common = `import ctypes, os, socket, sys, threading, time
def keep():
    file = os.open(sys.argv[1] + "/file", os.O_CREAT | os.O_RDWR)
    os.posix_fallocate(file, 0, ${bytes})
    os.unlink(sys.argv[1] + "/file")
    return file
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
  const path = await start(script);
  // The first thread ends a moment after the other has begun.
  await expect.poll(() => findUnlinkedFiles(path)).toEqual({ bytes, isPartial: false });
});

const inFlight = `first, second = socket.socketpair()
file = keep()
socket.send_fds(first, [b"x"], [file])
os.close(file)
wait()`;

// Root may look further than the user who runs a server.
test.each([
  ["is on its way between two processes", inFlight, { bytes: 0, isPartial: true }],
  [
    "has only its first page mapped",
    `libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
file = keep()
libc.mmap(None, 4096, 3, 1, file, 0)
os.close(file)
wait()`,
    isRoot ? { bytes, isPartial: false } : { bytes: 4096, isPartial: true },
  ],
  [
    "is open in a process that may not be inspected",
    "ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\nkeep()\nwait()",
    isRoot ? { bytes, isPartial: false } : { bytes: 0, isPartial: true },
  ],
])("a file without a name is counted or missed that %s", async (_, script, found) => {
  expect(await findUnlinkedFiles(await start(script))).toEqual(found);
});

test("an agent whose files cannot be measured is charged with what the disk has lost", async () => {
  const path = await start(inFlight);
  let freeBytes = 100 * bytes;
  const exceeded: number[] = [];
  const onExceeded = (size: number) => void exceeded.push(size);
  const watch = watchDisk({ directory: path, maxBytes: bytes / 2, onExceeded, freeSpace: async () => freeBytes });
  onTestFinished(watch.stop);
  await watch.ready;
  freeBytes -= bytes;
  await expect.poll(() => exceeded).toEqual([bytes + 4096]);
});

/** Runs the script in a sandbox with a directory, its argument, until the test ends. */
async function start(script: string): Promise<string> {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const sandbox = ["--unshare-pid", "--die-with-parent", "--dev-bind", "/", "/", "--bind", path, path];
  const child = spawn("bwrap", [...sandbox, "/usr/bin/python3", "-I", "-c", common + script, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  await once(child.stdout, "data");
  return path;
}
