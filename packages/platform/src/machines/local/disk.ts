// The disk of a machine: an image of fixed size where loop devices work, so that the kernel enforces the size; else a directory.
import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { run } from "../parts/index.ts";
import type { MachineRecord } from "./records.ts";

const imageName = "disk.img";
/** A file system with a journal does not fit into less. */
const minImageBytes = 16 * 1024 ** 2;
const pollMs = 10;
const detachTimeoutMs = 60_000;

export async function makeDisk(directory: string, { disk, limits, firstId }: MachineRecord): Promise<void> {
  mkdirSync(join(directory, "view"), { mode: 0o755 });
  if (disk === "directory") return void mkdirSync(join(directory, "disk"), { mode: 0o755 });
  const image = join(directory, imageName);
  writeFileSync(image, "", { mode: 0o600 });
  truncateSync(image, Math.max(limits.diskBytes ?? 0, minImageBytes));
  const lazy = "lazy_itable_init=1,lazy_journal_init=1,nodiscard";
  await run([
    "mkfs.ext4",
    "-q",
    "-F",
    "-m",
    "0",
    "-J",
    "size=4",
    "-E",
    `${lazy},root_owner=${firstId}:${firstId}`,
    image,
  ]);
}

/** What it occupies on the host. */
export async function diskBytes(directory: string, { disk }: MachineRecord): Promise<number> {
  if (disk === "image") return statSync(join(directory, imageName)).blocks * 512;
  const asRoot = process.geteuid?.() === 0 ? [] : ["unshare", "--user", "--map-root-user"];
  return Number.parseInt(await run([...asRoot, "du", "--summarize", "--block-size=1", join(directory, "disk")]), 10);
}

/** The kernel detaches the loop device some time after the last process of the machine has ended. */
export async function awaitDetached(directory: string): Promise<void> {
  const image = join(directory, imageName);
  const deadline = Date.now() + detachTimeoutMs;
  while (attachedImages().includes(image)) {
    if (Date.now() > deadline) throw new Error(`${image} is still attached to a loop device.`);
    await delay(pollMs);
  }
}

function attachedImages(): string[] {
  return readdirSync("/sys/block")
    .filter((name) => name.startsWith("loop"))
    .flatMap((name) => {
      try {
        return readFileSync(`/sys/block/${name}/loop/backing_file`, "utf8").trim();
      } catch {
        // Not attached.
        return [];
      }
    });
}
