// The native part of the package koffi: functions of the C library that Node does not offer.
import { createRequire } from "node:module";

/** As far as it is used here. */
export interface Koffi {
  load(library: null): { func(name: string, result: string, parameters: unknown[]): (...args: unknown[]) => number };
  struct(members: Record<string, string>): unknown;
  pointer(type: unknown): unknown;
  errno(): number;
}

/** Required directly: the package around it has an install script, of which npm warns and which builds nothing here. */
export const loadKoffi = (): Koffi => createRequire(import.meta.url)(`@koromix/koffi-linux-${process.arch}`);
