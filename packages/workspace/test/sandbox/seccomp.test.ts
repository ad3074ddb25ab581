// The system-call filter, run by a small interpreter of its instructions.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Architecture } from "../../src/sandbox/seccomp/architecture.ts";
import { seccompProgram } from "../../src/sandbox/seccomp/filter.ts";
import { argumentNumbers, ipcNumbers, refusedNumbers } from "../../src/sandbox/seccomp/system-calls.ts";

const [allowed, killed] = [0x7fff0000, 0x80000000];
const refusal = (errno: number) => 0x00050000 + errno;
const [EPERM, ENOSYS, EAFNOSUPPORT] = [refusal(1), refusal(38), refusal(97)];
const audit: Record<Architecture, number> = { x86_64: 0xc000003e, aarch64: 0xc00000b7 };
const fuzzRuns = Number(process.env.FUZZ_RUNS ?? 200);

describe.each<Architecture>(["x86_64", "aarch64"])("on %s", (architecture) => {
  const strict = {
    architecture,
    unixSockets: "refused",
    internetSockets: "allowed",
    nestedSandboxes: "refused",
  } as const;
  const program = seccompProgram(strict);
  const calls = argumentNumbers(architecture);
  const ask = (number: number, ...values: number[]) => run(program, audit[architecture], number, values);

  test("ordinary calls pass", () => {
    expect(ask(calls.socket, 2, 1, 0)).toBe(allowed);
    expect(ask(calls.clone, 0x1200011)).toBe(allowed);
    expect(ask(calls.ioctl, 0, 0x5401)).toBe(allowed);
    expect(ask(0, 1, 2, 3)).toBe(allowed);
  });

  test("listed calls are refused", () => {
    for (const number of refusedNumbers(architecture)) expect(ask(number)).toBe(EPERM);
  });

  test("only calls that the filter knows exist: not newer ones, and none in the gap of the architecture", () => {
    const gap = architecture === "x86_64" ? [337, 387, 400, 423] : [295, 335, 402, 423];
    const newer = [468 /* file_getattr */, 469 /* file_setattr */, 470 /* listns */, 471];
    for (const number of [...gap, ...newer, 511, 512, 547, 1_000, 0x3fffffff]) expect(ask(number)).toBe(ENOSYS);
    expect(ask(467 /* open_tree_attr */)).toBe(EPERM);
    for (const number of [architecture === "x86_64" ? 336 : 293, 424, 466]) expect(ask(number)).toBe(allowed);
    const nested = seccompProgram({ ...strict, unixSockets: "allowed", nestedSandboxes: "allowed" });
    expect(run(nested, audit[architecture], 468, [])).toBe(ENOSYS);
  });

  test("other calling conventions are killed", () => {
    expect(run(program, 0x40000003, 1, [])).toBe(killed);
    const x32 = run(program, audit.x86_64, 0x40000000 + 101, []);
    expect(x32).toBe(architecture === "x86_64" ? EPERM : killed);
  });

  test("user namespaces, typing into terminals and strange sockets are refused", () => {
    expect(ask(calls.clone, 0x10000011)).toBe(EPERM);
    expect(ask(calls.unshare, 0x10000000)).toBe(EPERM);
    expect(ask(calls.clone3)).toBe(ENOSYS);
    expect(ask(calls.openat2)).toBe(ENOSYS);
    expect(ask(calls.ioctl, 0, 0x5412)).toBe(EPERM);
    for (const family of [1, 17, 38, 40]) expect(ask(calls.socket, family)).toBe(EAFNOSUPPORT);
  });

  test("pairs of sockets that can send to others than each other are refused, unless unix sockets are allowed", () => {
    const open = seccompProgram({ ...strict, unixSockets: "allowed" });
    const [stream, datagram, raw, packets] = [1, 2, 3, 5];
    for (const flags of [0, 0o2000000 /* SOCK_CLOEXEC */, 0o2004000 /* and SOCK_NONBLOCK */]) {
      for (const type of [stream, packets]) expect(ask(calls.socketpair, 1, type | flags)).toBe(allowed);
      for (const type of [datagram, raw]) {
        expect(ask(calls.socketpair, 1, type | flags)).toBe(EPERM);
        expect(run(open, audit[architecture], calls.socketpair, [1, type | flags])).toBe(allowed);
      }
    }
  });

  test("a process may limit itself, but no other", () => {
    expect(ask(calls.prlimit, 0)).toBe(allowed);
    expect(ask(calls.prlimit, 1)).toBe(EPERM);
  });

  test("modes with set-id bits are refused where a file is made or changed", () => {
    const withMode = (at: number, mode: number) => Array.from({ length: 6 }, (_, index) => (index === at ? mode : 0));
    for (const { number, argument } of calls.modeAt) {
      expect(ask(number, ...withMode(argument, 0o4755))).toBe(EPERM);
      expect(ask(number, ...withMode(argument, 0o2755))).toBe(EPERM);
      expect(ask(number, ...withMode(argument, 0o1777))).toBe(allowed);
    }
    for (const { number, flags, mode } of calls.createAt) {
      const values = withMode(mode, 0o4755);
      expect(ask(number, ...values)).toBe(allowed);
      values[flags] = 0o101;
      expect(ask(number, ...values)).toBe(EPERM);
    }
  });

  test("a policy may allow unix sockets and nested sandboxes", () => {
    const open = seccompProgram({ ...strict, unixSockets: "allowed", nestedSandboxes: "allowed" });
    expect(run(open, audit[architecture], calls.socket, [1])).toBe(allowed);
    expect(run(open, audit[architecture], calls.clone, [0x10000000])).toBe(allowed);
    expect(run(open, audit[architecture], calls.openat2, [])).toBe(ENOSYS);
  });

  test("where nothing else keeps the network off, internet sockets are refused", () => {
    const alone = seccompProgram({ ...strict, internetSockets: "refused" });
    for (const family of [2, 10]) expect(run(alone, audit[architecture], calls.socket, [family])).toBe(EAFNOSUPPORT);
    expect(run(alone, audit[architecture], calls.socket, [16])).toBe(allowed);
  });

  test("without a namespace of its own for them, shared memory, semaphores and message queues are refused", () => {
    const shared = seccompProgram({ ...strict, ipc: "shared" });
    expect(ipcNumbers(architecture)).toHaveLength(13);
    for (const number of ipcNumbers(architecture)) {
      expect(run(shared, audit[architecture], number, [])).toBe(EPERM);
      expect(ask(number)).toBe(allowed);
    }
  });

  test("where processes of the user are visible, commands do not change how others are scheduled", () => {
    const shared = seccompProgram({ ...strict, ipc: "shared" });
    expect(calls.schedulingOf).toHaveLength(6);
    for (const { number, own } of calls.schedulingOf) {
      expect(run(shared, audit[architecture], number, own)).toBe(allowed);
      for (const index of own.keys()) {
        const others = own.map((value, at) => (at === index ? value + 2 : value));
        expect(run(shared, audit[architecture], number, others)).toBe(EPERM);
        expect(ask(number, ...others)).toBe(allowed);
      }
    }
  });

  test("every call ends in a verdict", () => {
    const word = fc.integer({ min: 0, max: 0xffffffff });
    const property = fc.property(word, fc.array(word, { maxLength: 6 }), (number, values) =>
      [allowed, EPERM, ENOSYS, EAFNOSUPPORT].includes(ask(number, ...values)),
    );
    fc.assert(property, { numRuns: fuzzRuns });
  });
});

/** Just the five instructions the generator uses. */
function run(program: Buffer, architecture: number, number: number, values: number[]): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number >>> 0, 0);
  data.writeUInt32LE(architecture >>> 0, 4);
  values.forEach((value, index) => void data.writeUInt32LE(value >>> 0, 16 + 8 * index));
  let accumulator = 0;
  for (let at = 0; at < program.length; at += 8) {
    const [code, yes, no] = [program.readUInt16LE(at), program.readUInt8(at + 2), program.readUInt8(at + 3)];
    const operand = program.readUInt32LE(at + 4);
    const jump = (isSo: boolean) => {
      at += 8 * (isSo ? yes : no);
    };
    if (code === 0x20) accumulator = data.readUInt32LE(operand);
    else if (code === 0x06) return operand;
    else if (code === 0x15) jump(accumulator === operand);
    else if (code === 0x35) jump(accumulator >= operand);
    else if (code === 0x45) jump((accumulator & operand) !== 0);
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error("the program ran past its end");
}
