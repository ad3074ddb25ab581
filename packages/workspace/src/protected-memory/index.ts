// Keeps the memory of this process from others: from processes of the same user, from core files and, as far as allowed, from swap.
import { loadKoffi } from "../koffi.ts";

export interface ProtectedMemory {
  /** `process`: no page of the process is ever swapped out; `secret`: only those given to `lock`. */
  locked: "process" | "secret";
  /** Keeps these bytes out of swap. */
  lock(bytes: Buffer): void;
}

const control = { setDumpable: 4, getDumpable: 3 };
const coreFiles = 4;
const current = 1;
const future = 2;
const onFault = 4;
const memoryLimit = 8;

/**
 * Makes /proc/PID/mem, environ, maps and fd of this process unreadable to its own user, forbids debuggers to attach,
 * and core files. Root can still read it. Throws where that is not possible: Linux only.
 */
export function protectMemory(): ProtectedMemory {
  const koffi = loadKoffi();
  const library = koffi.load(null);
  const checked = (what: string, result: number): void => {
    if (result < 0) throw new Error(`${what} failed with errno ${koffi.errno()}.`);
  };
  const setForProcess = library.func("prctl", "int", ["int", "ulong", "ulong", "ulong", "ulong"]);
  const setLimit = library.func("setrlimit", "int", ["int", "void *"]);
  const getLimit = library.func("getrlimit", "int", ["int", "void *"]);
  const lockBytes = library.func("mlock", "int", ["void *", "size_t"]);
  const lockAll = library.func("mlockall", "int", ["int"]);

  checked("setrlimit core", setLimit(coreFiles, Buffer.alloc(16)));
  checked("prctl dumpable", setForProcess(control.setDumpable, 0, 0, 0, 0));
  if (setForProcess(control.getDumpable, 0, 0, 0, 0) !== 0) throw new Error("The process is still dumpable.");
  const limit = Buffer.alloc(16);
  checked("getrlimit memlock", getLimit(memoryLimit, limit));
  // With a limit, a later allocation beyond it would fail and end the process.
  const isUnlimited = limit.readBigUInt64LE(0) === 0xffffffffffffffffn;
  const locked = isUnlimited && lockAll(current | future | onFault) === 0 ? "process" : "secret";
  return { locked, lock: (bytes) => checked("mlock", lockBytes(bytes, bytes.length)) };
}
