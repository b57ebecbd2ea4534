// Offers each table as Markdown, LaTeX and CSV, and texts to be copied.

const button = (words, act) => {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = words;
  made.addEventListener("click", act);
  return made;
};

const download = (text, name, type) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};

// Copies text; a page from a file may have no clipboard, but can copy a selection.
const copy = async (text, from) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    getSelection().selectAllChildren(from);
    document.execCommand("copy");
  }
};

const copying = (text, from) => button("Copy", async (event) => {
  const own = event.currentTarget;
  await copy(text(), from);
  own.textContent = "Copied";
  setTimeout(() => { own.textContent = "Copy"; }, 1500);
});

const formats = [
  [markdown, "Markdown", "md", "text/markdown"],
  [latex, "LaTeX", "tex", "application/x-tex"],
  [csv, "CSV", "csv", "text/csv"],
];

// A dialog with one table in all formats.
const offer = (name, table) => {
  const dialog = document.createElement("dialog");
  const text = document.createElement("pre");
  text.tabIndex = 0;
  const own = readTable(table);
  let [written, , ending, type] = formats[0];
  const choose = (format) => {
    [written, , ending, type] = format;
    text.textContent = written(own);
    choices.forEach((choice, index) => choice.setAttribute("aria-pressed", formats[index] === format));
  };
  const choices = formats.map((format) => button(format[1], () => choose(format)));
  const acts = [
    copying(() => written(own), text),
    button("Download", () => download(written(own), `${name}.${ending}`, type)),
    button("Close", () => dialog.close()),
  ];
  const [row, end] = [choices, acts].map((buttons) => {
    const made = document.createElement("p");
    made.append(...buttons);
    return made;
  });
  dialog.setAttribute("aria-label", "Export of a table");
  dialog.append(row, text, end);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  choose(formats[0]);
  dialog.showModal();
};

for (const place of document.querySelectorAll("[data-export]")) {
  const made = button("Export", () => offer(place.dataset.export, place.querySelector("table")));
  made.className = "tool";
  made.title = "This table as Markdown, LaTeX or CSV";
  place.before(made);
}
for (const text of document.querySelectorAll("section#cite pre")) {
  const made = copying(() => text.textContent, text);
  made.className = "tool";
  text.before(made);
}

