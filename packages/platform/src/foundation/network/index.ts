// Which addresses the platform itself may connect to.
export { checkedAddresses, checkedLookup } from "./lookup.ts";
export {
  BadAddressRange,
  type NetworkPolicy,
  openNetworkPolicy,
  privateAddressReason,
  type Resolved,
  readRanges,
} from "./policy.ts";
export { isForHttp } from "./ports.ts";
