// Which addresses the platform itself may dial.
export { BadAddressRange, type NetworkPolicy, openNetworkPolicy, type Resolved } from "./policy.ts";
