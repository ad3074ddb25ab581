// Git on the host, kept from running anything but itself.
export { RepositoryFault, type RepositoryFaultCode } from "./fault.ts";
