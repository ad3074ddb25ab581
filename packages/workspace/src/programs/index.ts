// Programs that run on the host, outside every sandbox: found where neither an agent nor another user can write.
export { keepLooks, type Looks } from "./looks.ts";
export { mountPoints, readMounts, readMountTable, readOtherNames } from "./mounts.ts";
export {
  findProgram,
  type HostPrograms,
  hostDirectory,
  openHostPrograms,
  ProgramNotFound,
  type ProgramSearch,
  systemPath,
  trustedPath,
} from "./programs.ts";
export { belongsToOther, onlyUserCanChange, othersCanReplace, othersCanWrite } from "./writers.ts";
