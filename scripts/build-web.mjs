// Builds the web app into the platform's dist: hashed files, each also compressed, for the server to send as they are.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";
import { thirdParty } from "./third-party.mjs";

export async function buildWeb(root) {
  const outDir = join(root, "packages/platform/dist/web");
  await build({
    root: join(root, "packages/web"),
    configFile: false,
    logLevel: "error",
    base: "/assets/web/",
    plugins: [thirdParty(join(root, "packages/platform/dist"))],
    build: {
      outDir,
      emptyOutDir: true,
      assetsDir: "",
      target: "es2022",
      cssTarget: ["chrome125", "firefox125", "safari17.5"],
      assetsInlineLimit: 0,
      rollupOptions: {
        input: {
          index: join(root, "packages/web/index.html"),
          "push-worker": join(root, "packages/web/src/push/worker.ts"),
        },
        // The worker keeps its address: browsers look there for a newer one.
        output: { entryFileNames: ({ name }) => (name === "push-worker" ? "[name].js" : "[name]-[hash].js") },
      },
      reportCompressedSize: false,
    },
  });
  // Browsers run it as a classic script: what it shares with a page would be a chunk that it imports.
  if (/^import\b/.test(readFileSync(join(outDir, "push-worker.js"), "utf8")))
    throw new Error("push/worker.ts shares a module with a page. Let the page not import what the worker imports.");
  for (const name of readdirSync(outDir)) if (/\.(?:js|css|svg)$/.test(name)) compress(join(outDir, name));
}

function compress(path) {
  const bytes = readFileSync(path);
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
}
