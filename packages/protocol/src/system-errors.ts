// Limits of the operating system, as sentences: which limit was reached, and what to do about it.
const explanations: Record<string, string> = {
  EMFILE: "Too many open files: this process has reached its limit. Raise it and run again: ulimit -n 4096",
  ENFILE: "Too many open files on this machine. Close some programs, or raise fs.file-max with sysctl",
  EAGAIN:
    "No more processes can be started: the limit of this user or container has been reached. End some processes, or raise it and run again: ulimit -u 4096",
  E2BIG:
    "The arguments and the environment are too long for a new process: at most 128 KiB each, and 2 MiB together on most systems. Put the data into a file, or unset large variables",
  ENOSPC: "The disk is full. Free some space on it and run again",
  EDQUOT: "The disk quota of this user is used up. Free some space and run again",
  ENOMEM: "There is not enough memory. Close some programs, or raise the limit of this process: ulimit -v unlimited",
  ENAMETOOLONG:
    "The path is too long: the system allows 4095 bytes, and 255 for each name. Work in a directory with a shorter path: --cd DIR",
};

/** Null if the error is about something else. */
export function explainLimit(error: unknown): string | null {
  const { code, errno, syscall = "", path } = (error ?? {}) as NodeError;
  const known = String(code ?? errno);
  // For anything but a new process it means: try again.
  if (known === "EAGAIN" && !syscall.startsWith("spawn")) return null;
  const explanation = explanations[known];
  if (explanation === undefined) return null;
  return `${explanation}. (${known}${path === undefined ? "" : `, ${shorten(path)}`})`;
}

/** The same for what a program printed before it ended; bubblewrap and Node have their own words for it. */
export function explainOutput(text: string): string | null {
  if (/Resource temporarily unavailable|DelayedTaskScheduler|[pu]v?_?thread_create/.test(text))
    return `${explanations.EAGAIN}.`;
  if (/Too many open files/.test(text)) return `${explanations.EMFILE}.`;
  return /No space left on device/.test(text) ? `${explanations.ENOSPC}.` : null;
}

interface NodeError {
  code?: string;
  errno?: string | number;
  syscall?: string;
  path?: string;
}

const shorten = (path: string): string => (path.length <= 300 ? path : `${path.slice(0, 200)}…${path.slice(-90)}`);
