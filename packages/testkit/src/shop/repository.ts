// The repository of the shop: a dev server that shows what its database answers.
export const shopPort = 3000;

const server = `
const { createServer } = require("node:http");
const { hostname } = require("node:os");
const { query } = require("shop-client");
createServer((request, response) => {
  query("select 6 * 7", (error, answer) => {
    response.end(JSON.stringify({ url: request.url, machine: hostname(), answer, error: error?.message }));
  });
}).listen(${shopPort}, "127.0.0.1", () => console.log("listening"));
`;

const dependencies = { "shop-client": "file:/srv/packages/shop-client.tgz" };

export const shopFiles: Record<string, string> = {
  "server.cjs": server,
  "package.json": JSON.stringify({ name: "shop", private: true, dependencies }),
  ".gitignore": "node_modules\npackage-lock.json\n",
};

export const shopConfig = {
  install: "apt-get update && apt-get install --yes shop-database && npm install --offline --no-audit --no-fund",
  start: "shop-database",
  terminals: [{ name: "dev", command: "node server.cjs" }],
  ports: [{ name: "Shop", port: shopPort }],
};
