// Pieces of scripts that attempts are written with: system calls from perl, connections from Node.

/** Number on x86-64 and on ARM64. */
export type CallNumber = { x64: number; arm64: number };

export const numberOf = ({ x64, arm64 }: CallNumber): number => (process.arch === "arm64" ? arm64 : x64);

/** Says that it succeeded when the kernel let the call in, whatever it then thought of its arguments. */
export const systemCall = (call: CallNumber, ...values: (number | string)[]): string =>
  perl(`$! = 0; my $r = syscall(${[numberOf(call), ...values].join(", ")}); print "SUCCEEDED\\n" unless $!{EPERM};`);

/** `%!` needs a module that small installations lack. */
export const perl = (program: string): string => `perl -e '${program.replaceAll("$!{EPERM}", "$! == 1")}'`;

/** Prints what comes from a socket: a path, a name, or a port. */
export const connectTo = (target: string | number): string =>
  node(
    `const s = require("net").connect(${JSON.stringify(target)}); s.on("data", (d) => process.stdout.write(d)); s.on("error", () => {}); s.setTimeout(30000, () => s.destroy())`,
  );

export const node = (program: string): string => `"${process.execPath}" -e ${quote(program)}`;

export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
