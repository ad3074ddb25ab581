// Preloaded with `node --require`: ends the process by SIGKILL at its n-th change below KILL_BELOW.
// KILL_AT is n; KILL_WHEN is before, or torn (half of the bytes are written).
const fs = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");

const { KILL_AT, KILL_WHEN, KILL_BELOW } = process.env;
const writeSync = fs.writeSync;
let steps = 0;

function step(path, tear) {
  if (!path.startsWith(KILL_BELOW) || ++steps !== Number(KILL_AT)) return;
  if (KILL_WHEN === "torn") tear();
  process.kill(process.pid, "SIGKILL");
}

for (const name of ["renameSync", "linkSync", "unlinkSync"]) {
  const act = fs[name];
  fs[name] = (...paths) => {
    step(String(paths.at(-1)), () => act(...paths));
    return act(...paths);
  };
}
fs.writeSync = (file, bytes, ...rest) => {
  step(fs.readlinkSync(`/proc/self/fd/${file}`), () => writeSync(file, bytes, 0, Math.ceil(bytes.length / 2)));
  return writeSync(file, bytes, ...rest);
};
syncBuiltinESMExports();
