// A plugin of the bundler for packages that a bundled one would load where they are installed. They never are beside our
// programs: Node would look in NODE_PATH and ~/.node_modules, where an agent may have written a package of that name.

const names = ["bufferutil", "utf-8-validate"];
const prefix = "\0absent:";

export const withoutOptionalPackages = {
  name: "without-optional-packages",
  resolveId: (id) => (names.includes(id) ? { id: `${prefix}${id}`, moduleSideEffects: true } : null),
  load: (id) => {
    if (!id.startsWith(prefix)) return null;
    const message = `${id.slice(prefix.length)} is not part of this program.`;
    return { code: `module.exports = {};\nthrow new Error(${JSON.stringify(message)});\n`, moduleSideEffects: true };
  },
};
