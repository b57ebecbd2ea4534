// Gives a plot the colours of the page. Every trace says by its `meta` what it
// shows: a series, the band about one, a part of a whole, what was published, or
// the link's limit.

// Colours that colour-blind readers tell apart, after Okabe and Ito; on a
// dark ground the lighter ones.
const palettes = {
  light: {
    series: ["#0072b2", "#d55e00", "#009e73", "#aa4499", "#8a6d00", "#444444"],
    ink: "#1b2129", muted: "#57616d", grid: "#e4e9ee", paper: "#ffffff",
  },
  dark: {
    series: ["#56b4e9", "#f0913a", "#2fc79a", "#e29ac5", "#f0e442", "#c8ced6"],
    ink: "#e7ebf0", muted: "#9aa5b1", grid: "#2a323b", paper: "#11151a",
  },
};

// A part is stacked upon the others: the same part of both ways has one colour,
// and on the way back it is paler.
const areaOf = (trace) => /^part (\d+)(| back)$/.exec(trace.meta);
const parts = ["#0072b2", "#56b4e9", "#e69f00", "#f0e442", "#009e73", "#cc79a7", "#d55e00", "#7a7a7a", "#222222"];

const colourOf = (trace, palette) => {
  const area = areaOf(trace);
  if (area) return parts[Number(area[1]) % parts.length];
  const series = /^(?:series|band) (\d+)$/.exec(trace.meta);
  if (series) return palette.series[Number(series[1]) % palette.series.length];
  return trace.meta === "limit" ? palette.muted : palette.ink;
};

// The data and layout of `plot` in the colours of `palette`; `extent` is its size
// where that is fixed.
const painted = (plot, palette, extent) => {
  const { data, layout } = structuredClone({ data: plot.data, layout: plot.layout });
  for (const trace of data) {
    const colour = colourOf(trace, palette);
    if (trace.marker) trace.marker.color = colour;
    if (trace.line) trace.line.color = colour;
    const area = areaOf(trace);
    if (area) trace.fillcolor = `${colour}${area[2] ? "80" : "d0"}`;
    else if (trace.fill) trace.fillcolor = `${colour}2e`;
    for (const bars of [trace.error_x, trace.error_y]) {
      if (bars) Object.assign(bars, { color: colour, thickness: 2, width: 6 });
    }
  }
  Object.assign(layout, {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: palette.ink },
    hoverlabel: { bgcolor: palette.paper, bordercolor: palette.muted, font: { color: palette.ink }, align: "left" },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: palette.muted, activecolor: palette.ink },
    // What a reader hid or enlarged stays so when the colours change.
    uirevision: "kept",
  }, extent);
  // Labels of rows lie on the lines of the plot.
  for (const label of layout.annotations ?? []) label.bgcolor = palette.paper;
  // Below the axis, however many lines it takes, and out of the buttons' way.
  Object.assign(layout.legend, { x: 0, y: 0, yanchor: "bottom", yref: "container" });
  // On a touch screen a finger on a plot moves the page.
  if (matchMedia("(pointer: coarse)").matches) layout.dragmode = false;
  for (const [name, axis] of Object.entries(layout)) {
    if (/^[xy]axis\d*$/.test(name)) Object.assign(axis, { gridcolor: palette.grid, linecolor: palette.muted, zerolinecolor: palette.muted });
  }
  return { data, layout };
};

