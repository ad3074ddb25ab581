// Landlock access rights, by ABI version. Pure.
import { scopingVersion } from "./versions.ts";

/** What is allowed at and below a path. */
export type Grant = "read" | "write" | "device";

const right = (bit: number) => 2 ** bit;
const execute = right(0);
const writeFile = right(1);
const readFile = right(2);
const readDirectory = right(3);
const remove = right(4) + right(5);
const makeDevices = right(6) + right(11);
/** Directories, files, sockets, named pipes, symbolic links. */
const make = right(7) + right(8) + right(9) + right(10) + right(12);
const moveBetween = right(13);
const truncate = right(14);
const deviceControl = right(15);

const toRead = execute + readFile + readDirectory;
const toWrite = toRead + writeFile + remove + make + moveBetween + truncate;
const toUseDevice = readFile + writeFile + truncate + deviceControl;
/** The rights that apply to files. */
const ofFiles = execute + writeFile + readFile + truncate + deviceControl;

const byGrant: Record<Grant, number> = { read: toRead, write: toWrite, device: toUseDevice };

/** Every right this version can restrict; those not granted are denied. */
export const handledRights = (version: number): number => toWrite + makeDevices + (version >= 5 ? deviceControl : 0);

export function rightsOf(grant: Grant, kind: "directory" | "file", version: number): number {
  const rights = byGrant[grant] & handledRights(version);
  return kind === "directory" ? rights : rights & ofFiles;
}

/** The ruleset attribute: rights on files, on TCP ports, and the scope of signals and sockets. */
export function rulesetAttribute(version: number, network: "on" | "off"): Buffer {
  const bindAndConnect = network === "off" ? 3 : 0;
  const abstractSocketsAndSignals = 3;
  const fields = [handledRights(version), bindAndConnect, abstractSocketsAndSignals];
  const fieldCount = version >= scopingVersion ? 3 : version >= 4 ? 2 : 1;
  return Buffer.concat(fields.slice(0, fieldCount).map(encode));
}

/** One rule: rights, and the descriptor of the path they apply to. */
export const ruleAttribute = (rights: number, descriptor: number): Buffer => {
  const bytes = Buffer.alloc(12);
  bytes.writeBigUInt64LE(BigInt(rights), 0);
  bytes.writeInt32LE(descriptor, 8);
  return bytes;
};

function encode(field: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(field), 0);
  return bytes;
}
