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
  if (!changesData(this, data) || !plan) return write.call(this, data, ...rest);
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

const [parse, bind, query] = ["P", "B", "Q"].map((letter) => letter.charCodeAt(0));
const lease = /set "lease_until" = now/;

/** Named statements of each connection, by name: their text is sent once, then only their name with the values. */
const named = new WeakMap();

/** A protocol message with a statement that changes data. Lease renewals do not count: they depend on the clock. */
function changesData(socket, data) {
  if (!Buffer.isBuffer(data) || ![parse, bind, query].includes(data[0])) return false;
  const text = textOf(socket, data);
  return /\b(?:insert into|update|delete from)\b|^commit/i.test(text) && !lease.test(text);
}

function textOf(socket, data) {
  const message = data.toString("latin1", 5);
  if (data[0] === query) return message;
  const statements = named.get(socket) ?? new Map();
  named.set(socket, statements);
  const [first, second = ""] = message.split("\0", 2);
  if (data[0] === bind) return statements.get(second) ?? "";
  // Counted each time that values are bound to it.
  if (first !== "") statements.set(first, second);
  return first === "" ? second : "";
}
