// System call numbers of the filter, by architecture.
import type { Architecture } from "./architecture.ts";

/** Name, number on x86_64, number on aarch64; null where the call does not exist. */
const refused: [name: string, x86: number, arm: number | null][] = [
  ["ptrace", 101, 117],
  ["process_vm_readv", 310, 270],
  ["process_vm_writev", 311, 271],
  ["pidfd_getfd", 438, 438],
  ["kcmp", 312, 272],
  ["io_uring_setup", 425, 425],
  ["io_uring_enter", 426, 426],
  ["io_uring_register", 427, 427],
  ["bpf", 321, 280],
  ["perf_event_open", 298, 241],
  ["userfaultfd", 323, 282],
  ["add_key", 248, 217],
  ["request_key", 249, 218],
  ["keyctl", 250, 219],
  ["open_by_handle_at", 304, 265],
  ["mount", 165, 40],
  ["umount2", 166, 39],
  ["pivot_root", 155, 41],
  ["chroot", 161, 51],
  ["open_tree", 428, 428],
  ["open_tree_attr", 467, 467],
  ["move_mount", 429, 429],
  ["fsopen", 430, 430],
  ["fsconfig", 431, 431],
  ["fsmount", 432, 432],
  ["fspick", 433, 433],
  ["mount_setattr", 442, 442],
  ["setns", 308, 268],
  ["init_module", 175, 105],
  ["finit_module", 313, 273],
  ["delete_module", 176, 106],
  ["reboot", 169, 142],
  ["kexec_load", 246, 104],
  ["kexec_file_load", 320, 294],
  ["swapon", 167, 224],
  ["swapoff", 168, 225],
  ["acct", 163, 89],
  ["quotactl", 179, 60],
  ["quotactl_fd", 443, 443],
  ["settimeofday", 164, 170],
  ["clock_settime", 227, 112],
  ["syslog", 103, 116],
  ["fanotify_init", 300, 262],
  ["sethostname", 170, 161],
  ["setdomainname", 171, 162],
  ["iopl", 172, null],
  ["ioperm", 173, null],
];

/** Those of System V and of POSIX: any process of the same user can use them, and no path or process names them. */
const ipc: typeof refused = [
  ["shmget", 29, 194],
  ["shmat", 30, 196],
  ["shmctl", 31, 195],
  ["semget", 64, 190],
  ["semop", 65, 193],
  ["semctl", 66, 191],
  ["semtimedop", 220, 192],
  ["msgget", 68, 186],
  ["msgsnd", 69, 189],
  ["msgrcv", 70, 188],
  ["msgctl", 71, 187],
  ["mq_open", 240, 180],
  ["mq_unlink", 241, 181],
];

const numbersOf = (calls: typeof refused, architecture: Architecture): number[] =>
  calls.flatMap(([, x86, arm]) => (architecture === "x86_64" ? x86 : (arm ?? [])));

export const refusedNumbers = (architecture: Architecture): number[] => numbersOf(refused, architecture);
export const ipcNumbers = (architecture: Architecture): number[] => numbersOf(ipc, architecture);

/**
 * The numbers that may be called at all: up to the gap that each architecture has, and from 424 on, where both have the same,
 * up to removexattrat. What the others do, now or in a later kernel, is not known here. file_getattr and file_setattr are newer than
 * what libraries need.
 */
export const knownNumbers: Record<Architecture, { beforeGap: number; afterGap: number; last: number }> = {
  x86_64: { beforeGap: 336 /* uprobe */, afterGap: 424, last: 466 },
  aarch64: { beforeGap: 294 /* kexec_file_load */, afterGap: 424, last: 466 },
};

export interface ArgumentNumbers {
  clone: number;
  clone3: number;
  unshare: number;
  openat2: number;
  ioctl: number;
  socket: number;
  socketpair: number;
  prlimit: number;
  /** Calls that change how other processes are scheduled, and what their arguments are for the calling thread. */
  schedulingOf: { number: number; own: number[] }[];
  /** Calls that set a file mode, and which argument it is. */
  modeAt: { number: number; argument: number }[];
  /** Calls that may create a file, and which arguments are flags and mode. */
  createAt: { number: number; flags: number; mode: number }[];
}

const x86: ArgumentNumbers = {
  clone: 56,
  clone3: 435,
  unshare: 272,
  openat2: 437,
  ioctl: 16,
  socket: 41,
  socketpair: 53,
  prlimit: 302,
  schedulingOf: [
    { number: 141 /* setpriority */, own: [0, 0] },
    { number: 251 /* ioprio_set */, own: [1, 0] },
    { number: 142 /* sched_setparam */, own: [0] },
    { number: 144 /* sched_setscheduler */, own: [0] },
    { number: 203 /* sched_setaffinity */, own: [0] },
    { number: 314 /* sched_setattr */, own: [0] },
  ],
  modeAt: [
    { number: 90 /* chmod */, argument: 1 },
    { number: 91 /* fchmod */, argument: 1 },
    { number: 268 /* fchmodat */, argument: 2 },
    { number: 452 /* fchmodat2 */, argument: 2 },
    { number: 85 /* creat */, argument: 1 },
    { number: 133 /* mknod */, argument: 1 },
    { number: 259 /* mknodat */, argument: 2 },
  ],
  createAt: [
    { number: 2 /* open */, flags: 1, mode: 2 },
    { number: 257 /* openat */, flags: 2, mode: 3 },
  ],
};

const arm: ArgumentNumbers = {
  clone: 220,
  clone3: 435,
  unshare: 97,
  openat2: 437,
  ioctl: 29,
  socket: 198,
  socketpair: 199,
  prlimit: 261,
  schedulingOf: [
    { number: 140 /* setpriority */, own: [0, 0] },
    { number: 30 /* ioprio_set */, own: [1, 0] },
    { number: 118 /* sched_setparam */, own: [0] },
    { number: 119 /* sched_setscheduler */, own: [0] },
    { number: 122 /* sched_setaffinity */, own: [0] },
    { number: 274 /* sched_setattr */, own: [0] },
  ],
  modeAt: [
    { number: 52 /* fchmod */, argument: 1 },
    { number: 53 /* fchmodat */, argument: 2 },
    { number: 452 /* fchmodat2 */, argument: 2 },
    { number: 33 /* mknodat */, argument: 2 },
  ],
  createAt: [{ number: 56 /* openat */, flags: 2, mode: 3 }],
};

export const argumentNumbers = (architecture: Architecture): ArgumentNumbers => (architecture === "x86_64" ? x86 : arm);
