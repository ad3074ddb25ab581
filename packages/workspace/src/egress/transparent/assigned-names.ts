// Which address stands for which name inside a machine: the same for as long as it is remembered.
import { namesPrefix } from "../../wire/index.ts";

export interface AssignedNames {
  /** Undefined: connections to all remembered names are open. */
  assign(name: string): string | undefined;
  /** The address of a name that has one. */
  find(name: string): string | undefined;
  nameOf(address: string): string | undefined;
  /** The name stays until the returned function is called. */
  hold(name: string): () => void;
}

const firstNumber = 2;
const lastNumber = 65_534;

interface Assigned {
  address: string;
  connections: number;
}

/** Beyond `maxNames` the one that was looked up least recently is forgotten. Its address comes up again as late as it can. */
export function openAssignedNames(maxNames = 4096): AssignedNames {
  const names = new Map<string, Assigned>();
  const byAddress = new Map<string, string>();
  let last = firstNumber - 1;

  function forgetOldest(): boolean {
    for (const [name, { address, connections }] of names) {
      if (connections > 0) continue;
      names.delete(name);
      byAddress.delete(address);
      return true;
    }
    return false;
  }

  function freeAddress(): string {
    do last = last < lastNumber ? last + 1 : firstNumber;
    while (byAddress.has(addressOf(last)));
    return addressOf(last);
  }

  function find(name: string): string | undefined {
    const found = names.get(name);
    if (found === undefined) return undefined;
    names.delete(name);
    names.set(name, found);
    return found.address;
  }

  return {
    find,
    assign(name) {
      const known = find(name);
      if (known !== undefined) return known;
      if (names.size >= maxNames && !forgetOldest()) return undefined;
      const address = freeAddress();
      names.set(name, { address, connections: 0 });
      byAddress.set(address, name);
      return address;
    },
    nameOf: (address) => byAddress.get(address),
    hold(name) {
      const held = names.get(name);
      if (held) held.connections += 1;
      return () => {
        if (held) held.connections -= 1;
      };
    },
  };
}

const addressOf = (number: number): string => `${namesPrefix}.${number >> 8}.${number & 255}`;
