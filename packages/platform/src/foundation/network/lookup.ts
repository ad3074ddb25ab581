// Dials the addresses that were checked: no resolver is asked again.
import { isIPv6, type LookupFunction } from "node:net";

export const checkedAddresses =
  (addresses: string[]): LookupFunction =>
  (_name, options, answer) => {
    const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
    const [first] = found;
    if (first === undefined) return answer(new Error("there is no address"), "", 4);
    return options.all ? answer(null, found) : answer(null, first.address, first.family);
  };
