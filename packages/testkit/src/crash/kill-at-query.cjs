// Preloaded with `node --require`: ends or stops the process at the n-th statement that changes a PostgreSQL database.
// SIGUSR2 reads KILL_PLAN, a file with `name n when signal`, and counts from there; `when` is before (the statement is not
// sent) or sent (it is executed, but the result is not read); `signal` is SIGKILL or SIGSTOP. KILL_COUNT gets the name and
// the count.
const fs = require("node:fs");
const net = require("node:net");

const { write } = net.Socket.prototype;
let plan = null;
let count = 0;

process.on("SIGUSR2", () => {
  const [name, at, when, signal] = fs.readFileSync(process.env.KILL_PLAN, "utf8").trim().split(" ");
  plan = { name, at: Number(at), when, signal };
  count = 0;
  writeCount();
});

// Replaced atomically: the test reads it while the server runs.
function writeCount() {
  const path = process.env.KILL_COUNT;
  fs.writeFileSync(`${path}.new`, `${plan.name} ${count}`);
  fs.renameSync(`${path}.new`, path);
}

net.Socket.prototype.write = function (data, ...rest) {
  if (!plan || !changesData(data)) return write.call(this, data, ...rest);
  count += 1;
  writeCount();
  if (count === plan.at && plan.when === "before") process.kill(process.pid, plan.signal);
  if (count === plan.at && plan.when === "sent") setImmediate(killUnlessReplaced, plan);
  return write.call(this, data, ...rest);
};

/** The test may have made another plan since: then it takes the server for alive. */
function killUnlessReplaced(current) {
  if (plan === current) process.kill(process.pid, plan.signal);
}

const [parse, query] = ["P", "Q"].map((letter) => letter.charCodeAt(0));
const lease = /set "lease_until" = now/;

/** A protocol message with a statement that changes data. Lease renewals do not count: they depend on the clock. */
function changesData(data) {
  if (!Buffer.isBuffer(data) || (data[0] !== parse && data[0] !== query)) return false;
  const text = data.toString("latin1", 5);
  return /\b(?:insert into|update|delete from)\b|^commit/i.test(text) && !lease.test(text);
}
