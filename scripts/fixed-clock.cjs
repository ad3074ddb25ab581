// Preloaded into programs whose output is on pictures, so that pictures are the same in every run: the clock stands still, and ids
// follow from the command line. PICTURE_MINUTE: minutes after the time at which the first command is run.
const { createHash } = require("node:crypto");
const fs = require("node:fs");

const now = Date.UTC(2026, 0, 5, 9, Number(process.env.PICTURE_MINUTE ?? 0));
const RealDate = Date;
globalThis.Date = class FixedDate extends RealDate {
  constructor(...values) {
    super(...(values.length === 0 ? [now] : values));
  }
  static now() {
    return now;
  }
};

// Ids are made of the time and of what is read here.
const { openSync, readSync } = fs;
const random = new Set();
let count = 0;
fs.openSync = (path, ...rest) => {
  const file = openSync(path, ...rest);
  if (path === "/dev/urandom") random.add(file);
  else random.delete(file);
  return file;
};
fs.readSync = (file, bytes, ...rest) => {
  if (!random.has(file)) return readSync(file, bytes, ...rest);
  count += 1;
  const digest = createHash("sha256")
    .update(`${process.argv.slice(2).join(" ")} ${count}`)
    .digest();
  return digest.copy(bytes);
};
