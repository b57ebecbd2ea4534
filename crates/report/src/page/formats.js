// Tables of the page as text for other programs: Markdown, LaTeX and CSV.

// The text of an element in one line, without the spaces that align it.
const words = (element) => element.textContent.split(/\s+/).filter(Boolean).join(" ");

// The heading of a column, whose unit stands on a second line.
const heading = (cell) => {
  const unit = cell.querySelector(".note");
  const title = cell.firstChild === unit ? "" : words(cell.firstChild ?? cell);
  return unit ? `${title} (${words(unit)})` : title;
};

const readTable = (table) => ({
  heads: [...table.tHead.rows[0].cells].map(heading),
  isRight: [...table.tHead.rows[0].cells].map((cell) => cell.classList.contains("right")),
  rows: [...table.tBodies[0].rows].map((row) => [...row.cells].map(words)),
});

// A table of GitHub Flavored Markdown [GFM s4.10].
const markdown = ({ heads, isRight, rows }) => {
  const escaped = (text) => text.replace(/[\\|]/g, "\\$&").replaceAll("<", "&lt;");
  const line = (cells) => `| ${cells.join(" | ")} |\n`;
  const rule = isRight.map((right) => (right ? "---:" : "---"));
  return [heads.map(escaped), rule, ...rows.map((row) => row.map(escaped))].map(line).join("");
};

const commands = {
  "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}",
  "<": "$<$", ">": "$>$", "±": "$\\pm$", "×": "$\\times$", "µ": "$\\mu$", "†": "$\\dagger$",
};

// A tabular environment with the rules of booktabs.
const latex = ({ heads, isRight, rows }) => {
  const escaped = (text) => text.replace(/[&%$#_{}\\~^<>±×µ†]/g, (character) => commands[character] ?? `\\${character}`);
  const line = (cells) => `${cells.map(escaped).join(" & ")} \\\\\n`;
  const columns = isRight.map((right) => (right ? "r" : "l")).join("");
  return `\\begin{tabular}{${columns}}\n\\toprule\n${line(heads)}\\midrule\n${rows.map(line).join("")}\\bottomrule\n\\end{tabular}\n`;
};

// Comma-separated values with a line of names [RFC4180 s2].
const csv = ({ heads, rows }) => {
  // Spreadsheets run texts that begin so. Signed numbers call nothing.
  const isFormula = (text) => /^[=+\-@\t\r]/.test(text) && !/^[+-]\d[^=@|!(]*$/.test(text);
  const escaped = (text) => {
    const plain = isFormula(text) ? `'${text}` : text;
    return /[,"]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
  };
  return [heads, ...rows].map((cells) => `${cells.map(escaped).join(",")}\r\n`).join("");
};
