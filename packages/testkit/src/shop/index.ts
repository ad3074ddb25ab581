// A shop whose environment installs a Debian and an npm package and starts PostgreSQL and a dev server, with all that it needs
// on this machine: nothing comes from a registry.
export { makeDebianBase } from "./debian-base.ts";
export { shopConfig, shopFiles, shopPort } from "./repository.ts";
