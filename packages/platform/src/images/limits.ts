// Limits of a build from a Dockerfile: memory, processes and processors as a machine has them, disk space and time.
import { loadMachineParts } from "@agentcli/workspace";
import { watchDisk } from "../foundation/index.ts";
import type { MachineLimits } from "../machines/index.ts";
import { ImageFault } from "./image-fault.ts";
import type { ImageLog } from "./make.ts";

export interface BuildLimits extends ImageLog {
  /** The command line that starts the command within the limits. */
  enter(argv: string[]): string[];
  /** Why the build was stopped; null: by none of these limits. */
  reached(): ImageFault | null;
  close(): Promise<void>;
}

/** As long as `install`. */
const timeoutMs = 2 * 3_600_000;
/** buildah keeps the files of an image once per layer. */
const copies = 4;

/** `signal` aborts when the build has to stop; so does that of the output. */
export async function openBuildLimits(
  { memoryBytes, processes, cpus, diskBytes }: MachineLimits,
  store: string,
  { log, signal }: ImageLog,
): Promise<BuildLimits> {
  const { openLimits } = await loadMachineParts();
  const limits = openLimits({ memoryBytes, processes, cpus, temporaryBytes: null, fileBytes: diskBytes });
  const stop = new AbortController();
  let fault: ImageFault | null = null;
  const end = (message: string): void => {
    fault ??= new ImageFault(message);
    stop.abort();
  };
  const forward = () => stop.abort(signal.reason);
  if (signal.aborted) forward();
  signal.addEventListener("abort", forward);
  const timer = setTimeout(() => end(`The image was not made within ${timeoutMs / 3_600_000} hours.`), timeoutMs);
  const watch =
    diskBytes === null
      ? null
      : watchDisk({ directory: store, maxBytes: diskBytes * copies, onExceeded: () => end(tooLarge(diskBytes)) });
  return {
    log,
    signal: stop.signal,
    enter(argv) {
      const [first = "", ...rest] = argv;
      const { program, argv: args } = limits.enter(first, rest);
      return [program, ...args];
    },
    reached() {
      const reasons = limits.newlyReached();
      if (reasons.length > 0) log(`${reasons.join("\n")}\n`);
      return signal.aborted ? null : fault;
    },
    async close() {
      clearTimeout(timer);
      watch?.stop();
      signal.removeEventListener("abort", forward);
      await limits.close();
    },
  };
}

const tooLarge = (diskBytes: number) =>
  `The files of the build occupy more than ${copies} times limits.disk (${diskBytes} bytes). Make the image smaller, or ask the operator to raise the limit.`;
