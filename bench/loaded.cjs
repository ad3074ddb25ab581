// Preloaded with `node --require`: at exit it writes to BENCH_LOADED_FILE what the program has loaded.
const fs = require("node:fs");

const files = new Set();
const { readFileSync } = fs;
// Node's own loader and the loader of compiled chunks both read through this function.
fs.readFileSync = (path, ...rest) => {
  if (typeof path === "string" && /\.(?:[cm]?js|json|compiled)$/.test(path)) files.add(path);
  return readFileSync(path, ...rest);
};

process.on("exit", () => {
  for (const path of Object.keys(require.cache)) files.add(path);
  files.delete(__filename);
  const loaded = [...files].filter((path) => path.includes("/packages/") || path.includes("/node_modules/"));
  const bytes = loaded.reduce((sum, path) => sum + (fs.existsSync(path) ? fs.statSync(path).size : 0), 0);
  const builtIn = process.moduleLoadList.filter((name) => name.startsWith("NativeModule")).length;
  fs.writeFileSync(process.env.BENCH_LOADED_FILE, JSON.stringify({ files: loaded.length, bytes, builtIn }));
});
