// Preloaded with `node --require`: ends the process by SIGKILL at its n-th external action. Actions are counted
// before, during and after each program it starts, and before and after each query and each request to a host. KILL_AT is n; KILL_LOG gets the list.
// KILL_SIGNAL=SIGSTOP stops it there instead.
const childProcess = require("node:child_process");
const fs = require("node:fs");
const { createRequire, syncBuiltinESMExports } = require("node:module");

const killAt = Number(process.env.KILL_AT ?? 0);
let count = 0;

function step(what) {
  count += 1;
  if (process.env.KILL_LOG) fs.appendFileSync(process.env.KILL_LOG, `${count} ${what}\n`);
  if (count === killAt) process.kill(process.pid, process.env.KILL_SIGNAL ?? "SIGKILL");
}

const { spawn } = childProcess;
childProcess.spawn = (program, args, options) => {
  step(`before ${args[0]}`);
  const child = spawn(program, args, options);
  // The started program outlives this process.
  step(`during ${args[0]}`);
  child.on("exit", () => step(`after ${args[0]}`));
  return child;
};

// Removals and moves of files too, where KILL_FILES is set.
if (process.env.KILL_FILES)
  for (const name of ["rename", "rmdir", "unlink"]) {
    const action = fs.promises[name];
    fs.promises[name] = async (...args) => {
      step(`before ${name}`);
      await action(...args);
      step(`after ${name}`);
    };
  }
syncBuiltinESMExports();

const { fetch } = globalThis;
globalThis.fetch = async (...args) => {
  const what = `${args[1]?.method ?? "GET"} ${new URL(args[0]).pathname.replace(/^.*\/repos\/[^/]+\/[^/]+/, "")}`;
  step(`before ${what}`);
  const answer = fetch(...args);
  answer.then(
    () => step(`after ${what}`),
    () => {},
  );
  return answer;
};

const { Client } = createRequire(process.argv[1])("pg");
const { query } = Client.prototype;
Client.prototype.query = function (...args) {
  const text = String(args[0]?.text ?? args[0]);
  step(`before ${text.slice(0, 30)}`);
  const answer = query.apply(this, args);
  if (typeof answer?.then !== "function") return answer;
  return answer.then((result) => {
    step(`after ${text.slice(0, 30)}`);
    return result;
  });
};
