// A build step for chunks: they export values instead of getters, which are functions to load, compile and call.

const getter =
  /Object\.defineProperty\(exports, "(\w+)", \{\s*enumerable: true,\s*get: function ?\(\) \{\s*return ([\w$]+);\s*\}\s*\}\);\n?/g;

/** Only for what is never assigned again, since a value does not follow its variable. */
export const exportValues = {
  name: "export-values",
  renderChunk(code) {
    const values = [];
    const rest = code.replace(getter, (whole, name, variable) => {
      if (!isConstant(variable, code)) return whole;
      values.push(`${name}: ${variable}`);
      return "";
    });
    return values.length === 0 ? null : `${rest}\nObject.assign(exports, { ${values.join(", ")} });\n`;
  },
};

/** Declared in the chunk itself as a constant, function or class. */
function isConstant(variable, code) {
  const name = variable.replaceAll("$", "\\$");
  const declared = `const ${name} =|(?:async )?function\\*? ${name}\\(|(?:var|let) ${name} = class\\b`;
  return new RegExp(`^(?:${declared})`, "m").test(code);
}
