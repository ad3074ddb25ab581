// The library for terminals: a package with a native part in another one.
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { findInstalled } from "./installed-package.ts";

export interface TerminalLibrary {
  /** The file to load. */
  module: string;
  directories: string[];
}

/** As installed for a program; undefined if it is not. */
export function findTerminals(program: string): TerminalLibrary | undefined {
  const directory = findInstalled("@lydell/node-pty", program);
  if (directory === undefined) return undefined;
  const module = realpathSync(createRequire(program).resolve(directory));
  const native = findInstalled(`@lydell/node-pty-${process.platform}-${process.arch}`, module);
  if (native === undefined) return undefined;
  return { module, directories: [dirname(module), realpathSync(native)] };
}
