// Draws each plot when it comes into view, and all of them before the page is
// printed.

// The text of the element `id`, which the program packed.
const unpacked = async (id) => {
  const packed = atob(document.getElementById(id).textContent);
  const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
};
const unpacks = typeof DecompressionStream === "function";

// The configuration of every plot, which Plotly calls `config`.
const configuration = (place, responsive) => ({
  displaylogo: false,
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
  toImageButtonOptions: { format: "svg", filename: place.id },
  responsive,
});

const places = [...document.querySelectorAll(".plot")];
const dark = matchMedia("(prefers-color-scheme: dark)");
const drawn = new Set();
let plots = {};
let printing = false;

const draw = (place, palette, extent) => {
  const plot = plots[place.id];
  const { data, layout } = painted(plot, palette, extent);
  // Names of what is hidden are there to be clicked, which paper cannot be.
  if (extent) {
    data.forEach((trace, index) => {
      const visible = place.data ? place.data[index].visible : trace.visible;
      if (visible === "legendonly") trace.showlegend = false;
    });
  }
  // With a fixed extent a window that changes its size must not change the plot's.
  Plotly.react(place, data, layout, configuration(place, !extent));
  drawn.add(place);
};

const drawForScreen = (place) => {
  // Paper is light: a browser tells it as a change when the handler below has drawn.
  if (!printing) draw(place, dark.matches ? palettes.dark : palettes.light);
};

// The plots in view are drawn one a task, so that the page can be moved meanwhile.
const waiting = new Set();
const drawWaiting = () => {
  const [place] = waiting;
  if (!place) return;
  waiting.delete(place);
  if (!drawn.has(place)) drawForScreen(place);
  setTimeout(drawWaiting);
};
const seen = new IntersectionObserver((entries) => {
  const idle = waiting.size === 0;
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting && !drawn.has(target)) waiting.add(target);
    else waiting.delete(target);
  }
  if (idle) setTimeout(drawWaiting);
}, { rootMargin: "400px 0px" });

// As a script of the page: its policy allows no other.
const run = (source) => {
  const script = document.createElement("script");
  script.textContent = source;
  document.head.append(script);
  script.remove();
};

const begin = async () => {
  const [library, data] = await Promise.all([unpacked("library"), unpacked("plots")]);
  plots = Object.fromEntries(JSON.parse(data));
  run(library);
  for (const place of places) seen.observe(place);
  dark.addEventListener("change", () => {
    for (const place of drawn) drawForScreen(place);
  });
  for (const caption of document.querySelectorAll("figure:has(.plot) figcaption")) {
    const made = button("SVG", () => {
      for (const place of caption.parentElement.querySelectorAll(".plot")) save(place);
    });
    made.className = "tool";
    made.title = "Download as SVG";
    caption.prepend(made);
  }
};

const save = async (place) => {
  if (!drawn.has(place)) drawForScreen(place);
  const image = await Plotly.toImage(place, { format: "svg", imageDataOnly: true });
  download(image, `${place.id}.svg`, "image/svg+xml");
};

if (places.length > 0 && unpacks) {
  // The text of the page is painted first.
  requestAnimationFrame(() => setTimeout(begin));
} else if (places.length > 0) {
  const note = document.createElement("p");
  note.className = "alarm";
  note.textContent = "This browser is too old for the plots, which need Chrome 80, Firefox 113, Safari 16.4 or later. The tables have the same values.";
  places[0].closest("section").querySelector("h2").after(note);
}

// The width of a plot on A4 paper between the margins of the page: all of it, or a
// half for one of several plots of values.
const paperWidth = (place) => {
  const values = place.parentElement.querySelectorAll(":scope > .plot:not(.change)");
  return place.matches(".change") || values.length === 1 ? 690 : 336;
};

// On paper: light, as wide as a page between its margins, nothing folded.
let folded = [];
addEventListener("beforeprint", () => {
  printing = true;
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const details of folded) details.open = true;
  if (typeof Plotly === "undefined") return;
  for (const place of places) {
    draw(place, palettes.light, { autosize: false, width: paperWidth(place) });
  }
});
addEventListener("afterprint", () => {
  printing = false;
  for (const details of folded) details.open = false;
  for (const place of drawn) drawForScreen(place);
});
