// Keys and host keys of ssh.
export { openSshAgent, type SshAgent } from "./agent.ts";
export {
  type HostKey,
  type HostName,
  knownHostsText,
  type ReadKnownHosts,
  readKnownHosts,
  selectHostKey,
} from "./known-hosts.ts";
export { readOpenSshKey } from "./openssh-key.ts";
export { fingerprintOf, readPrivateKey, type SshKey } from "./private-key.ts";
export { sshString } from "./ssh-strings.ts";
