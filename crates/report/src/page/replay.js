// Replays recorded queues. An event is an arrival, a departure, or a drop of a
// packet out of a bundle; the slider counts events.
(() => {
  "use strict";
  const root = document.querySelector("figure.replay");
  const runs = JSON.parse(document.querySelector("script.replay-data").textContent);
  const part = (name) => root.querySelector(name);
  const [select, slider, text, legend] = [".run", ".time", ".event", ".legend"].map(part);
  const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a7a7a"];
  const stem = (flow) => flow.replace(/\d+$/, "");
  let run, events, now = 0, timer = null;

  // Of events at one instant departures come first, then arrivals, then losses.
  const eventsOf = (run) => {
    const events = [];
    const lost = new Map(run.lost), drops = new Map(run.drops), marked = new Map(run.marked);
    run.at.forEach((at, packet) => {
      const why = lost.get(packet);
      events.push({ at, order: 1, kind: "arrival", packet, marked: marked.has(packet) });
      for (const [after, why] of drops.get(packet) ?? []) events.push({ at: at + after, order: 2, kind: "inner", packet, why });
      const left = run.left[packet];
      if (left === null) return;
      const order = why || left === 0 ? 3 : 0;
      events.push({ at: at + left, order, kind: why ? "loss" : "departure", packet, why });
    });
    events.sort((a, b) => a.at - b.at || a.order - b.order || a.packet - b.packet);
    return events;
  };

  const open = (number) => {
    run = runs[number];
    events = eventsOf(run);
    run.stems = [...new Set(run.flows.map(stem))];
    run.came = []; run.went = [];
    events.forEach((event, place) => {
      if (event.kind === "arrival") run.came[event.packet] = place;
      if (event.kind === "departure" || event.kind === "loss") run.went[event.packet] = place;
    });
    // Packets that came before the recording's part are not known: begin when they are gone.
    let first = events.findIndex((event, place) =>
      event.kind === "arrival" && waiting(place - 1).length === run.waiting[event.packet]);
    first = Math.max(first, 0);
    const loss = events.findIndex((event, place) =>
      place > first && event.packet === (run.decided ?? event.packet) && isDecision(event));
    Object.assign(slider, { min: first, max: events.length - 1 });
    legend.replaceChildren(...run.stems.flatMap((name, index) => {
      const box = document.createElement("span");
      box.style.cssText = `display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 .9em;background:${colours[index % colours.length]}`;
      return [box, name || "other"];
    }));
    go(loss < 0 ? first : loss);
  };

  const isDecision = (event) => event.kind === "loss" || event.kind === "inner" || event.marked;
  const colourOf = (packet) => colours[run.stems.indexOf(stem(run.flows[run.flow[packet]])) % colours.length];

  // The packets in the queue after an event, the oldest first.
  const waiting = (place) => {
    const found = [];
    const until = place < 0 ? -1 : events[place].packet;
    // No packet waits for longer than those that came 5000 later.
    for (let packet = Math.max(0, until - 5000); packet < run.at.length; packet++) {
      if (run.came[packet] > place) break;
      if (!(run.went[packet] <= place)) found.push(packet);
    }
    return found;
  };

  const style = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const canvas = (name, height) => {
    const element = part(name);
    const width = root.clientWidth, scale = devicePixelRatio || 1;
    Object.assign(element, { width: width * scale, height: height * scale });
    element.style.cssText = `display:block;width:${width}px;height:${height}px`;
    const pen = element.getContext("2d");
    pen.scale(scale, scale);
    pen.font = "12px system-ui, sans-serif";
    return [pen, width];
  };

  // Packets from the right, where the link is, to the left, where they come in.
  const drawQueue = (event, queue) => {
    const [pen, width] = canvas(".queue", 104);
    const most = Math.max(...run.size), room = Math.max(12, queue.length);
    const slot = Math.min(34, (width - 90) / room), top = 26, high = 34;
    pen.fillStyle = style("--muted");
    pen.fillText(`queue: ${queue.length} packets`, 4, 14);
    pen.fillText("link →", width - 44, top + 21);
    const box = (packet, x, y, alpha) => {
      const wide = Math.max(2, (slot - 2) * run.size[packet] / most), inner = run.inner[packet];
      pen.globalAlpha = alpha;
      pen.fillStyle = colourOf(packet);
      pen.fillRect(x, y, wide, high);
      pen.globalAlpha = 1;
      const gone = events.slice(run.came[packet], now + 1).filter((other) => other.packet === packet && other.kind === "inner").length;
      pen.fillStyle = style("--paper");
      for (let part = 1; part < inner; part++) pen.fillRect(x, y + part * high / inner - 0.5, wide, 1);
      pen.fillRect(x + 2, y + 1, Math.max(0, wide - 4), Math.max(0, gone * high / Math.max(inner, 1) - 2));
    };
    queue.forEach((packet, place) => {
      const x = width - 50 - (place + 1) * slot;
      box(packet, x, top, 1);
      if (packet === event.packet) {
        pen.strokeStyle = style("--ink"); pen.lineWidth = 2;
        pen.strokeRect(x - 1, top - 1, slot, high + 2);
      }
    });
    if (event.kind === "loss") {
      const x = Math.max(4, width - 50 - (queue.length + 1) * slot - 4);
      box(event.packet, x, top + high + 2, 0.6);
      pen.fillStyle = style("--bad");
      pen.fillText(`✗ ${event.why}`, Math.min(x + slot + 4, width - 190), 80);
    }
    part(".queue").setAttribute("aria-label", `The queue holds ${queue.length} packets`);
  };

  // Queue, average and thresholds over the part of the recording.
  const drawHistory = () => {
    const [pen, width] = canvas(".history", 150);
    const left = 30, bottom = 130, end = Math.max(1, events[events.length - 1].at);
    const known = run.average.filter((value) => value !== null);
    const most = Math.max(...run.waiting, ...known, run.max ?? 0, 1) * 1.08;
    const x = (at) => left + (width - left - 6) * at / end;
    const y = (value) => bottom - (bottom - 14) * value / most;
    const line = (values, colour, thick) => {
      pen.beginPath();
      values.forEach((value, packet) => { if (value !== null) pen.lineTo(x(run.at[packet]), y(value)); });
      Object.assign(pen, { strokeStyle: colour, lineWidth: thick });
      pen.stroke();
    };
    line(run.waiting, style("--muted"), 0.7);
    line(run.average, style("--link"), 2);
    pen.setLineDash([5, 4]);
    for (const [name, value] of [["min_th", run.min], ["max_th", run.max]]) {
      if (value === null) continue;
      pen.beginPath(); pen.moveTo(left, y(value)); pen.lineTo(width - 6, y(value));
      Object.assign(pen, { strokeStyle: style("--doubt"), lineWidth: 1, fillStyle: style("--doubt") });
      pen.stroke(); pen.fillText(`${name} ${value}`, left + 4, y(value) - 3);
    }
    pen.setLineDash([]);
    pen.fillStyle = style("--bad");
    for (const event of events) if (isDecision(event)) pen.fillRect(x(event.at), 2, 1, 8);
    pen.fillStyle = style("--muted");
    pen.fillText(Math.round(most / 1.08), 4, y(most / 1.08) + 4); pen.fillText("0", 14, bottom);
    pen.fillText(`${run.begin.toFixed(2)} s`, left, 146);
    const last = `${(run.begin + end / 1e9).toFixed(2)} s`;
    pen.fillText(last, width - 6 - pen.measureText(last).width, 146);
    pen.fillStyle = style("--ink");
    pen.fillRect(x(events[now].at) - 0.5, 0, 1.5, bottom);
    part(".history").setAttribute("aria-label",
      "Queue (thin), its average (thick), thresholds (dashed) and losses or marks (ticks above) over time");
  };

  const words = (event) => {
    const packet = event.packet, inner = run.inner[packet];
    const what = `${run.flows[run.flow[packet]] || "a packet"}, ${run.size[packet]} B${inner > 1 ? `, ${inner} packets in it` : ""}`;
    const average = run.average[packet] === null ? "" : `, average ${run.average[packet]}`;
    const happened = {
      arrival: `comes and finds ${run.waiting[packet]} packets${average}${event.marked ? "; the queue marks it" : ""}`,
      departure: "leaves to the link",
      loss: `is lost: ${event.why}${average}`,
      inner: `loses one of its packets: ${event.why}`,
    }[event.kind];
    return `${(run.begin + event.at / 1e9).toFixed(6)} s: ${what}, ${happened}.`;
  };

  const go = (place) => {
    now = Math.min(Math.max(place, Number(slider.min)), events.length - 1);
    slider.value = now;
    const event = events[now];
    slider.setAttribute("aria-valuetext", words(event));
    text.textContent = words(event);
    drawQueue(event, waiting(now));
    drawHistory();
  };

  const stop = () => {
    clearInterval(timer);
    timer = null;
    part(".play").textContent = "Play";
    text.setAttribute("aria-live", "polite");
  };
  const play = () => {
    if (timer) return stop();
    part(".play").textContent = "Pause";
    text.setAttribute("aria-live", "off");
    timer = setInterval(() => (now + 1 < events.length ? go(now + 1) : stop()), 1000 / Number(part(".speed").value));
  };
  const on = (name, kind, action) => part(name).addEventListener(kind, action);
  on(".back", "click", () => go(now - 1));
  on(".step", "click", () => go(now + 1));
  on(".next", "click", () => {
    const next = events.findIndex((event, place) => place > now && isDecision(event));
    if (next >= 0) go(next);
  });
  on(".play", "click", play);
  on(".speed", "change", () => { if (timer) { stop(); play(); } });
  on(".time", "input", () => go(Number(slider.value)));
  on(".run", "change", () => { stop(); open(Number(select.value)); });
  on(".history", "click", (click) => {
    const share = (click.offsetX - 30) / (root.clientWidth - 36);
    const at = share * events[events.length - 1].at;
    go(events.findIndex((event) => event.at >= at));
  });
  // Whoever asked for less motion steps by hand.
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    for (const name of [".play", ".speed"]) part(name).closest("label, button").hidden = true;
  }
  select.append(...runs.map((run, number) => new Option(run.name, number)));
  root.hidden = false;
  open(0);
  addEventListener("resize", () => go(now));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => go(now));
})();
