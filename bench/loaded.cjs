// Preloaded with `node --require`: at exit it writes to LOADED_FILE what the program has loaded.
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
  const modules = process.moduleLoadList.filter((name) => name.startsWith("NativeModule"));
  const report = { files: loaded.length, bytes, builtIn: modules.length, modules };
  fs.writeFileSync(process.env.LOADED_FILE, JSON.stringify(report));
});
