// A Rust crate with modules, unit tests and an integration test.
import { commonFiles, filesFor, type Project } from "./project.ts";

const parts = filesFor(20, (name) => [`src/${name}.rs`, `pub fn ${name}(value: u32) -> u32 {\n    value + 1\n}\n`]);

export const rust: Project = {
  files: {
    ...commonFiles,
    "README.md": "# split\n\n    cargo test\n",
    "Cargo.toml": '[package]\nname = "split"\nversion = "0.3.1"\nedition = "2021"\n\n[dependencies]\n',
    ".gitignore": "/target\n",
    ...parts,
    "src/lib.rs": `//! Splits text into words.
${Array.from({ length: 20 }, (_, index) => `pub mod part${index + 1};`).join("\n")}
pub mod words;
`,
    "src/words.rs": `pub fn longest(text: &str) -> &str {
    text.split_whitespace().min_by_key(|word| word.len()).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_longest_of_three() {
        assert_eq!(longest("a bcd ef"), "bcd");
    }
}
`,
    "src/main.rs": `fn main() {
    let text = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    println!("{}", split::words::longest(&text));
}
`,
    "tests/empty.rs": `#[test]
fn nothing_has_no_longest_word() {
    assert_eq!(split::words::longest(""), "");
}
`,
  },
  repair: {
    test: "cargo test",
    subject: "Find the longest word, not the shortest",
    reported: /test words::tests::finds_(longest)_of_three \.\.\. FAILED/,
    change: (path) => [
      `*** Update File: ${path}`,
      "@@ pub fn longest(text: &str) -> &str {",
      '-    text.split_whitespace().min_by_key(|word| word.len()).unwrap_or("")',
      '+    text.split_whitespace().max_by_key(|word| word.len()).unwrap_or("")',
    ],
  },
  extension: {
    test: "cargo build --quiet && cargo test --quiet",
    subject: "Count words, and print the count",
    branch: "count",
    mentioned: "pub fn longest",
    change: [
      "*** Update File: src/words.rs",
      "@@",
      "+pub fn count(text: &str) -> usize {",
      "+    text.split_whitespace().count() as u32",
      "+}",
      "+",
      " pub fn longest(text: &str) -> &str {",
      "*** Update File: src/main.rs",
      "@@ fn main() {",
      '     println!("{}", split::words::longest(&text));',
      '+    println!("{}", split::words::count(&text));',
      "*** Add File: tests/count.rs",
      "+#[test]",
      "+fn words_are_counted() {",
      '+    assert_eq!(split::words::count("a bcd ef"), 3);',
      "+}",
    ],
    mistake: /expected `usize`, found `u32`/,
    correction: [
      "*** Update File: src/words.rs",
      "@@ pub fn count(text: &str) -> usize {",
      "-    text.split_whitespace().count() as u32",
      "+    text.split_whitespace().count()",
    ],
  },
};
