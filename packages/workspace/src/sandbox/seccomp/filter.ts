// The system-call filter of the sandbox, as a classic BPF program for bubblewrap.
import type { Architecture } from "./architecture.ts";
import { argumentNumbers, ipcNumbers, knownNumbers, refusedNumbers } from "./system-calls.ts";

export interface FilterOptions {
  architecture: Architecture;
  unixSockets: "allowed" | "refused";
  /** Refused without a network namespace: nothing else restricts UDP and raw sockets. */
  internetSockets: "allowed" | "refused";
  /** Whether processes may create user namespaces, as nested sandboxes do. */
  nestedSandboxes: "allowed" | "refused";
  /**
   * Whether shared memory, semaphores and message queues are those of the machine: then they are refused. So are changes of
   * how other processes are scheduled, which are then those of the user.
   */
  ipc?: "own" | "shared";
  /** Whether files may get the set-id bits. Only where their owner has no rights outside. */
  setIdFiles?: "allowed" | "refused";
}

export function seccompProgram(options: FilterOptions): Buffer {
  const instructions = [
    ...onlyNative(options.architecture),
    ...[
      ...refusedNumbers(options.architecture),
      ...(options.ipc === "shared" ? ipcNumbers(options.architecture) : []),
    ].flatMap((number) => whenCall(number, [verdict(refuse(errno.EPERM))])),
    ...onlyKnown(options.architecture),
    ...argumentRules(options),
    verdict(allow),
  ];
  return Buffer.concat(instructions.map(encode));
}

interface Instruction {
  code: number;
  jumpIfTrue: number;
  jumpIfFalse: number;
  operand: number;
}

// Offsets in struct seccomp_data. Both architectures are little-endian: the low half of an argument comes first.
const numberOffset = 0;
const architectureOffset = 4;
const argumentOffset = (index: number) => 16 + 8 * index;

const errno = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 };
const allow = 0x7fff0000;
const killProcess = 0x80000000;
const refuse = (code: number) => 0x00050000 + code;

const load = (offset: number): Instruction => ({ code: 0x20, jumpIfTrue: 0, jumpIfFalse: 0, operand: offset });
const verdict = (action: number): Instruction => ({ code: 0x06, jumpIfTrue: 0, jumpIfFalse: 0, operand: action });
/** Runs the next instruction when equal, else skips `skip`. */
const ifEqual = (operand: number, skip: number): Instruction => ({
  code: 0x15,
  jumpIfTrue: 0,
  jumpIfFalse: skip,
  operand,
});
const ifAtLeast = (operand: number, skip: number): Instruction => ({
  code: 0x35,
  jumpIfTrue: 0,
  jumpIfFalse: skip,
  operand,
});
const ifAnyBit = (operand: number, skip: number): Instruction => ({
  code: 0x45,
  jumpIfTrue: 0,
  jumpIfFalse: skip,
  operand,
});

const auditArchitecture: Record<Architecture, number> = { x86_64: 0xc000003e, aarch64: 0xc00000b7 };
/** x32 system calls carry this bit and would bypass the numbers. */
const x32Bit = 0x40000000;

/** Other calling conventions have other numbers, so they are killed. Leaves the call number loaded. */
function onlyNative(architecture: Architecture): Instruction[] {
  const refuseX32 = architecture === "x86_64" ? [ifAtLeast(x32Bit, 1), verdict(refuse(errno.EPERM))] : [];
  return [
    load(architectureOffset),
    { ...ifEqual(auditArchitecture[architecture], 1), jumpIfTrue: 1, jumpIfFalse: 0 },
    verdict(killProcess),
    load(numberOffset),
    ...refuseX32,
  ];
}

/** The answer of an older kernel: libraries then use another call. */
function onlyKnown(architecture: Architecture): Instruction[] {
  const { beforeGap, afterGap, last } = knownNumbers[architecture];
  const missing = verdict(refuse(errno.ENOSYS));
  const unlessAtLeast = { ...ifAtLeast(afterGap, 0), jumpIfTrue: 1 };
  return [ifAtLeast(last + 1, 1), missing, ifAtLeast(beforeGap + 1, 2), unlessAtLeast, missing];
}

const whenCall = (number: number, body: Instruction[]): Instruction[] => [ifEqual(number, body.length), ...body];

const terminalInjection = [0x5412 /* TIOCSTI */, 0x541c /* TIOCLINUX */];
const newUserNamespace = 0x10000000;
const setIdBits = 0o6000;
const createFlags = 0x40 /* O_CREAT */ | 0x400000; /* O_TMPFILE without its O_DIRECTORY part */
/** Of the types SOCK_DGRAM and SOCK_RAW, which is the same here, and of no other. */
const datagramBit = 2;
const families = { unix: 1, inet: 2, inet6: 10, netlink: 16 };

/** Each body ends with a verdict, because it has overwritten the call number. */
function argumentRules(options: FilterOptions): Instruction[] {
  const { architecture, unixSockets, internetSockets, nestedSandboxes, setIdFiles = "refused" } = options;
  const calls = argumentNumbers(architecture);
  const allowed = [families.netlink];
  if (internetSockets === "allowed") allowed.push(families.inet, families.inet6);
  if (unixSockets === "allowed") allowed.push(families.unix);
  const namespaces = [
    // The flags of clone3 are in memory, which the filter cannot read; libraries fall back to clone.
    ...whenCall(calls.clone3, [verdict(refuse(errno.ENOSYS))]),
    ...whenCall(calls.clone, refuseBits(0, newUserNamespace)),
    ...whenCall(calls.unshare, refuseBits(0, newUserNamespace)),
  ];
  const setIdRules = [
    // Its mode is in memory too.
    ...whenCall(calls.openat2, [verdict(refuse(errno.ENOSYS))]),
    ...calls.modeAt.flatMap(({ number, argument }) => whenCall(number, refuseBits(argument, setIdBits))),
    ...calls.createAt.flatMap(({ number, flags, mode }) => whenCall(number, refuseBitsOnCreate(flags, mode))),
  ];
  return [
    ...(nestedSandboxes === "refused" ? namespaces : []),
    ...whenCall(calls.ioctl, refuseValues(1, terminalInjection)),
    ...whenCall(calls.socket, allowOnlyValues(0, allowed)),
    // One of a pair can send to any socket that has a name; those of the other types stay connected to each other.
    ...(unixSockets === "refused" ? whenCall(calls.socketpair, refuseBits(1, datagramBit)) : []),
    // With shared processes, a limit could end processes of others.
    ...whenCall(calls.prlimit, allowOnly([0])),
    ...(options.ipc === "shared"
      ? calls.schedulingOf.flatMap(({ number, own }) => whenCall(number, allowOnly(own)))
      : []),
    ...(setIdFiles === "refused" ? setIdRules : []),
  ];
}

const refuseBits = (argument: number, bits: number): Instruction[] => [
  load(argumentOffset(argument)),
  ifAnyBit(bits, 1),
  verdict(refuse(errno.EPERM)),
  verdict(allow),
];

const refuseValues = (argument: number, values: number[]): Instruction[] => [
  load(argumentOffset(argument)),
  ...values.flatMap((value) => [ifEqual(value, 1), verdict(refuse(errno.EPERM))]),
  verdict(allow),
];

const allowOnlyValues = (argument: number, values: number[]): Instruction[] => [
  load(argumentOffset(argument)),
  ...values.flatMap((value) => [ifEqual(value, 1), verdict(allow)]),
  verdict(refuse(errno.EAFNOSUPPORT)),
];

/** The first arguments must have these values. */
const allowOnly = (values: number[]): Instruction[] => [
  ...values.flatMap((value, argument) => [
    load(argumentOffset(argument)),
    { ...ifEqual(value, 0), jumpIfTrue: 1 },
    verdict(refuse(errno.EPERM)),
  ]),
  verdict(allow),
];

/** Without these flags the mode register is arbitrary. */
const refuseBitsOnCreate = (flags: number, mode: number): Instruction[] => [
  load(argumentOffset(flags)),
  ifAnyBit(createFlags, 3),
  load(argumentOffset(mode)),
  ifAnyBit(setIdBits, 1),
  verdict(refuse(errno.EPERM)),
  verdict(allow),
];

function encode({ code, jumpIfTrue, jumpIfFalse, operand }: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(jumpIfTrue, 2);
  bytes.writeUInt8(jumpIfFalse, 3);
  bytes.writeUInt32LE(operand >>> 0, 4);
  return bytes;
}
