// The native part of the package koffi: functions of the C library that Node does not offer.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { findInstalled } from "./installed-package.ts";

/** As far as it is used here. */
export interface Koffi {
  load(library: null): { func(name: string, result: string, parameters: unknown[]): (...args: unknown[]) => number };
  struct(members: Record<string, string>): unknown;
  pointer(type: unknown): unknown;
  errno(): number;
}

/** Required directly: the package around it has an install script, of which npm warns and which builds nothing here. */
export function loadKoffi(): Koffi {
  const name = `@koromix/koffi-linux-${process.arch}`;
  const directory = findInstalled(name, fileURLToPath(import.meta.url));
  if (directory === undefined) throw new Error(`Cannot find module '${name}' beside this program.`);
  return createRequire(import.meta.url)(directory);
}
