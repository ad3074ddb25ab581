// Preloaded with `node --require`: ends the process by SIGKILL at the n-th write to a session file.
// KILL_AT is n, KILL_WHEN is before, torn (half of the bytes are written) or after. KILL_LOG gets the count at the end.
const fs = require("node:fs");

const killAt = Number(process.env.KILL_AT ?? 0);
const killWhen = process.env.KILL_WHEN ?? "before";
const writeSync = fs.writeSync;
let writes = 0;

fs.writeSync = (file, bytes, ...rest) => {
  if (!isSession(file)) return writeSync(file, bytes, ...rest);
  writes += 1;
  if (process.env.KILL_LOG) fs.writeFileSync(process.env.KILL_LOG, String(writes));
  if (writes !== killAt) return writeSync(file, bytes, ...rest);
  if (killWhen === "torn") writeSync(file, bytes, 0, Math.ceil(bytes.length / 2));
  if (killWhen === "after") writeSync(file, bytes, ...rest);
  process.kill(process.pid, "SIGKILL");
};

function isSession(file) {
  try {
    return /rollout-.*\.jsonl$/.test(fs.readlinkSync(`/proc/self/fd/${file}`));
  } catch {
    return false;
  }
}
